"""Checkpoint the activations.

Keep only the activations at block borders and recompute the others in the backward pass
(torch.utils.checkpoint, gradient_checkpointing_enable). Before that, try shorter sequences, bfloat16, an
optimizer with smaller state, or evaluation in smaller batches.

Verify: compare the peak memory.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="recompute the activations of each block in the backward pass",
    applicability="patch",
    causes=("out-of-memory",),
    expected="activations need less than half the memory, for about a third more time",
    interventions=("checkpoint_activations=on",),
)

"""Checkpoint the activations.

Keep the activations of block borders only and compute the others again in the backward pass
(torch.utils.checkpoint, gradient_checkpointing_enable). Before it: shorter sequences, bfloat16, an optimizer with
smaller state, evaluation in smaller batches.

Verify: peak memory.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "recompute the activations of each block in the backward pass"


FIX = Fix(
    slug="checkpoint-activations",
    title="Checkpoint the activations",
    applicability="patch",
    causes=("out-of-memory",),
    expected="less than half the activation memory for about a third more time",
    page=page(__doc__),
    propose=propose,
    interventions=("checkpoint_activations=on",),
)

"""Feed logits to the loss.

Remove the softmax (or sigmoid) at the model's end, or use the loss that takes probabilities: NLLLoss after
log_softmax, from_logits=False in Keras. Apply softmax only where probabilities are shown.

Verify: the inputs of the loss have both signs.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "drop the final softmax or sigmoid and use the loss that takes logits"


FIX = Fix(
    slug="feed-logits-to-loss",
    title="Feed logits to the loss",
    applicability="patch",
    causes=("double-softmax", "unstable-numerics"),
    expected="the loss can go below ln(1 + (k-1)/e), and learning is faster",
    page=page(__doc__),
    propose=propose,
    interventions=("logits=on",),
)

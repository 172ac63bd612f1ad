"""Initialize the weights anew.

He (Kaiming) for the ReLU family, Xavier (Glorot) for tanh and sigmoid, orthogonal for recurrent matrices, biases at
zero, the output layer small. Framework defaults are too small for plain nets of ten and more layers. Never
constants: equal units stay equal.

Verify: activations keep their scale from layer to layer at step 0, and the first loss is about ln(classes).
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "initialize the weights anew: He for ReLU, Xavier for tanh and sigmoid, biases 0"


FIX = Fix(
    slug="reinitialize-weights",
    title="Initialize the weights anew",
    applicability="runtime",
    causes=("bad-initialization", "deep-without-skip-or-norm", "dead-relus", "saturating-activations"),
    expected="the first loss is near its theory (ln k) and falls at once",
    page=page(__doc__),
    propose=propose,
    interventions=("init=he",),
)

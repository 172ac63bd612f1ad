"""Replace saturating activations.

ReLU, LeakyReLU or GELU in place of sigmoid and tanh in hidden layers, with He initialization. Gates of recurrent
cells and the output layer keep theirs.

Verify: gradient norms of first and last layer are within a factor of a hundred.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "use ReLU or GELU instead of sigmoid and tanh in the hidden layers, with He initialization"


FIX = Fix(
    slug="replace-saturating-activations",
    title="Replace saturating activations",
    applicability="runtime",
    causes=("saturating-activations", "deep-without-skip-or-norm"),
    expected="gradients reach the first layers",
    page=page(__doc__),
    propose=propose,
    interventions=("activation=relu",),
)

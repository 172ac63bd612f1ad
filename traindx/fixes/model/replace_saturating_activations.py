"""Replace saturating activations.

Use ReLU, LeakyReLU or GELU in place of sigmoid and tanh in hidden layers, with He initialization. Keep
the gates of recurrent cells and the output layer as they are.

Verify: the gradient norms of first and last layer are within a factor of a hundred.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="use ReLU or GELU instead of sigmoid and tanh in the hidden layers, with He initialization",
    applicability="runtime",
    causes=("saturating-activations", "deep-without-skip-or-norm"),
    expected="gradients reach the first layers",
    interventions=("activation=relu",),
)

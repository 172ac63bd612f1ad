"""Add skip connections.

Add the input of every block to its output (x + f(norm(x))), with the last layer of each block
initialized near zero. From about ten layers on, plain nets hardly train without them
(https://arxiv.org/abs/1512.03385).

Verify: the gradients of the first and the last block have a similar norm.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="turn blocks of two or three layers into residual ones: x + f(norm(x))",
    applicability="advice",
    causes=("deep-without-skip-or-norm", "insufficient-capacity"),
    expected="gradients no longer shrink with depth",
)

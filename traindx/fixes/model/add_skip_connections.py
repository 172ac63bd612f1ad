"""Add skip connections.

Let every block add to its input (x + f(norm(x))), with the last layer of each block starting near zero. From about
ten layers on this is what makes nets trainable at all.

Verify: gradients of first and last block are of the same size.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "turn blocks of two or three layers into residual ones: x + f(norm(x))"


FIX = Fix(
    slug="add-skip-connections",
    title="Add skip connections",
    applicability="advice",
    causes=("deep-without-skip-or-norm", "insufficient-capacity"),
    expected="depth no longer costs gradient",
    page=page(__doc__),
    propose=propose,
)

"""Add dropout.

0.1 to 0.3 before fully connected layers and after attention. Not between a convolution and its batch norm. Mind
that evaluation has to switch it off.

Verify: lowest validation loss over at least three seeds.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    now = setup.number("dropout")
    return (
        f"raise the dropout from {now:g} to {min(0.5, now + 0.1):g}" if now else "add dropout of 0.1 to 0.3"
    )


FIX = Fix(
    slug="add-dropout",
    title="Add dropout",
    applicability="patch",
    causes=("insufficient-regularization", "too-little-data"),
    expected="training gets harder, validation improves",
    page=page(__doc__),
    propose=propose,
    interventions=("dropout=0.2",),
)

"""Lower the dropout.

0.1 to 0.3 is usual, 0.5 for wide fully connected layers. Convolution and attention blocks want less. Dropout is the
cure of overfitting; without a gap it costs.

Verify: training (measured in eval mode) and validation both improve.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    now = setup.number("dropout")
    if now is not None and now <= 0:
        return ""
    return (
        f"lower the dropout from {now:g} to {now / 3:.2g}"
        if now
        else "lower the dropout to 0.1, or to 0 as a test"
    )


FIX = Fix(
    slug="lower-dropout",
    title="Lower the dropout",
    applicability="runtime",
    causes=("dropout-too-high", "insufficient-capacity"),
    expected="training loss falls, validation follows",
    page=page(__doc__),
    propose=propose,
    interventions=("dropout=*0.33",),
)

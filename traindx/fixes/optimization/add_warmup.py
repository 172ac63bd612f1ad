"""Warm the learning rate up.

Let the rate rise in a straight line from almost zero to its peak over the first one to five percent of the run (200
to 2000 steps; for Adam at least 2 / (1 - beta2) steps). The second moments, norm layers and attention logits settle
meanwhile.

If the run still breaks after the warm-up, the peak itself is too high.

Verify: the early spike is gone with the same peak.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    steps = setup.number("planned_steps")
    rise = (
        f"{max(100.0, 0.02 * steps):,.0f} steps (2 % of the run)"
        if steps
        else "the first 2 % of the run (at least 100 steps)"
    )
    return f"let the learning rate rise from 0 to its peak over {rise}"


FIX = Fix(
    slug="add-warmup",
    title="Warm the learning rate up",
    applicability="runtime",
    causes=("missing-warmup", "learning-rate-too-high", "bad-initialization"),
    expected="no jump in the first percents; afterwards the same or a better curve",
    page=page(__doc__),
    propose=propose,
    touches=("warmup_steps",),
    interventions=("lr.warmup=0.02",),
)

"""Lower the learning rate.

A tenth of the rate is the first try, because the right one is usually known only to a factor of three; if that
trains but slowly, go back up in steps of three. A learning-rate range test finds the edge directly.

Look first whether the inputs are scaled and whether a warm-up is missing: both make a usual rate look too high, and
lowering it then only hides them. When the batch becomes larger or smaller, scale the rate with it.

Verify: same seed, a hundred steps; the loss must fall at once, and the gradient norm must stop growing.
"""

from traindx.fixes.api import Fix, Setup, page, scaled


def propose(setup: Setup) -> str:
    return scaled(setup, "lr", 0.1, "lower", "learning rate")


FIX = Fix(
    slug="lower-learning-rate",
    title="Lower the learning rate",
    applicability="runtime",
    causes=(
        "learning-rate-too-high",
        "unscaled-grad-accumulation",
        "momentum-too-high",
        "dead-relus",
        "half-precision-range",
        "quantized-layer-gradient-imbalance",
        "missing-warmup",
    ),
    expected="the loss falls within the first hundred steps and stops swinging",
    page=page(__doc__),
    propose=propose,
    touches=("lr",),
    interventions=("lr=*0.1",),
)

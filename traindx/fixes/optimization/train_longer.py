"""Train longer.

The loss was still falling. Plan for twice the steps and stretch the schedule with them; going on after a rate has
decayed to zero gains nothing, so restart it lower than its peak with a short warm-up.

Verify: compare with the forecast after a tenth of the added steps.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    planned = setup.number("planned_steps") or setup.number("planned_epochs")
    return (
        f"plan {2 * planned:g} instead of {planned:g}, and stretch the schedule"
        if planned
        else "train twice as long, and stretch the schedule"
    )


FIX = Fix(
    slug="train-longer",
    title="Train longer",
    applicability="runtime",
    causes=("undertrained", "batch-too-large", "learning-rate-too-low"),
    expected="it goes on improving, along the forecast",
    page=page(__doc__),
    propose=propose,
    touches=("planned_steps",),
    interventions=("steps=*2",),
)

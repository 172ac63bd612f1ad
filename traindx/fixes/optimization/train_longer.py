"""Train longer.

The loss was still falling. Plan for twice the steps and stretch the schedule with them. Training on
after the rate has decayed to zero gains nothing, so restart it below its peak with a short warm-up.

Verify: compare with the forecast after a tenth of the added steps.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    planned = setup.number("planned_steps") or setup.number("planned_epochs")
    if planned:
        return f"plan {2 * planned:,.0f} instead of {planned:,.0f}, and stretch the schedule"
    return "train twice as long, and stretch the schedule"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="runtime",
    causes=("undertrained", "batch-too-large", "learning-rate-too-low"),
    expected="the loss keeps falling along the forecast",
    touches=("planned_steps",),
    interventions=("steps=*2",),
)

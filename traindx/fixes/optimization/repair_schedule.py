"""Repair the learning-rate schedule.

Plot the rate over the steps and compare it with what was meant. The usual faults: the scheduler is stepped per
batch although its horizon counts epochs (or the other way round), its horizon is that of another run, it starts at
zero and is stepped only after an epoch, or a resume restarts it.

Tie the horizon to the planned number of optimizer steps (accumulation divides it), step the scheduler once after
each optimizer step, and save and load its state.

Verify: lr is at its peak after the warm-up and at its end value at the last step, not before.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    planned = setup.number("planned_steps")
    horizon = f"the {planned:g} planned steps" if planned else "the planned number of optimizer steps"
    return f"stretch the schedule over {horizon}, and step it once per optimizer step"


FIX = Fix(
    slug="repair-schedule",
    title="Repair the learning-rate schedule",
    applicability="patch",
    causes=("learning-rate-schedule-fault",),
    expected="training goes on where it had frozen",
    page=page(__doc__),
    propose=propose,
    touches=("schedule",),
    interventions=("lr=constant",),
)

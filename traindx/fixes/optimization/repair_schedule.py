"""Repair the learning-rate schedule.

Plot the rate over the steps and compare it with the intended schedule. The usual faults: the scheduler
is stepped per batch although its horizon counts epochs (or the other way round), its horizon belongs to
another run, it starts at zero and is stepped only after an epoch, or a resume restarts it.

Tie the horizon to the planned number of optimizer steps (accumulation divides it), step the scheduler
once after each optimizer step, and save and load its state.

Verify: the rate is at its peak after the warm-up and at its final value at the last step, not before.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "let the rate follow one schedule over the {planned_steps:,.0f} planned steps, stepped once per optimizer step",
        "let the rate follow one schedule over the planned optimizer steps, stepped once per optimizer step",
    ),
    applicability="patch",
    causes=("learning-rate-schedule-fault",),
    expected="the logged rate is the planned one, and the loss falls again",
    touches=("schedule",),
    interventions=("lr=constant",),
)

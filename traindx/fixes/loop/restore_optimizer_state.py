"""Restore the whole training state.

Save and load together: weights, optimizer, scheduler, gradient scaler, step and epoch counters, random states and
the position in the data. Load the optimizer after the model is on its device. Where the old state is lost, resume
with a short warm-up.

Verify: ten steps after a resume equal those of an uninterrupted run.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "save and load optimizer, scheduler, scaler, counters and random states with the weights"


FIX = Fix(
    slug="restore-optimizer-state",
    title="Restore the whole training state",
    applicability="patch",
    causes=("resume-without-state",),
    expected="no bump after a resume",
    page=page(__doc__),
    propose=propose,
)

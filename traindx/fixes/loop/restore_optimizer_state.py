"""Restore the whole training state.

Save and load together: weights, optimizer, scheduler, gradient scaler, step and epoch counters, random
states and the position in the data. Load the optimizer after the model is on its device. If the old
state is lost, resume with a short warm-up.

Verify: ten steps after a resume equal those of an uninterrupted run.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="save and load optimizer, scheduler, scaler, counters and random states with the weights",
    idioms={
        "keras": "model.save, not save_weights",
        "jax": "opt_state with params",
    },
    applicability="patch",
    causes=("resume-without-state",),
    expected="the loss does not jump after a resume",
)

"""Compile the model and keep work on the device.

Check that model, batch and loss are on the accelerator and in float32 or lower (nothing in float64).
Avoid .item() and prints in each step: each waits for the device. Then use torch.compile, channels-last
and fused optimizers. Dynamic shapes make the model recompile repeatedly.

Verify: compare utilization, and the time of a step after the first hundred.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    device = setup.word("device")
    where = "check that model and data are on the accelerator"
    if device.startswith("cpu"):
        where = f"move model and data from {device} to the accelerator"
    return f"{where}, log only every n-th step, and compile the model"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="runtime",
    causes=("device-fallback", "step-time-creep"),
    expected="steps are shorter and the accelerator is busier",
    touches=("device",),
    interventions=("compile=on",),
)

"""Compile the model and keep work on the device.

See that model, batch and loss are on the accelerator and in float32 or lower (nothing in float64). Avoid .item()
and prints in each step: each waits for the device. torch.compile, channels-last and fused optimizers follow;
dynamic shapes lead to recompiling again and again.

Verify: utilization, and the time of a step after the first hundred.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    device = setup.word("device")
    where = (
        f"move model and data from {device} to the accelerator"
        if device.startswith("cpu")
        else "see that model and data are on the accelerator"
    )
    return f"{where}, log only every n-th step, and compile the model"


FIX = Fix(
    slug="compile-model",
    title="Compile the model and keep work on the device",
    applicability="runtime",
    causes=("device-fallback", "step-time-creep"),
    expected="shorter steps and a busy accelerator",
    page=page(__doc__),
    propose=propose,
    touches=("device",),
    interventions=("compile=on",),
)

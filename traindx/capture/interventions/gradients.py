"""Gradients: how they add up, and what is done to them before the optimizer uses them."""

import math

from traindx.capture.interventions.kinds import Intervention
from traindx.capture.interventions.values import Change, change, positive, whole_number


def norm_limit(text: str, name: str) -> Change:
    """A new limit, or a factor of the script's own limits (infinity: `off`)."""
    return Change(math.inf, True) if text == "off" else change(text, name, strict=True)


ZERO_GRAD = Intervention(
    "zero_grad", "backward", ("each-step",),
    help="""Clears gradients that a step has used before the next backward pass. For a step with a closure, they are
    cleared before each call of it. So each step has the gradients of its own batches only. Several backward passes before one
    step still add up. Where the backward pass of one optimizer leaves gradients in the parameters of another, they are
    cleared, too. Does nothing where the script zeroes its gradients itself.""",
)  # fmt: skip

ACCUMULATE = Intervention(
    "accumulate", "backward", ("4",), order=2, read=whole_number,
    help="""One step for every four steps of the script, with the mean of their gradients: batches four times as large.
    They are kept apart from the script's gradients, however it zeroes those. The script's schedule advances with every
    step of the script. The record and `--steps` count the steps that are made. What is left over at the end is not
    used. Refused for LBFGS and for the script's own optimizers that take a closure.""",
)  # fmt: skip

SKIP_NONFINITE = Intervention(
    "skip_nonfinite", "gradients", ("on",),
    help="""A step whose gradients hold an infinity or a NaN changes neither parameters nor the optimizer's state. The
    script's loop and its scheduler continue. Refused for LBFGS.""",
)  # fmt: skip

CLIP_VALUE = Intervention(
    "clip.value", "gradients", ("0.5",), order=1, read=positive,
    help="""Clips every value of the gradients to `[-0.5, 0.5]`, as `clip_grad_value_` does, after the script's own
    clipping and after unscaling. NaN stays. Refused for LBFGS.""",
)  # fmt: skip

CLIP = Intervention(
    "clip", "gradients", ("1.0", "*10", "off"), order=2, read=norm_limit, part=lambda limit: not limit.relative,
    help="""Clips the gradients of each optimizer to a norm of at most `1.0`, as `clip_grad_norm_` does, after
    the script's own clipping and after unscaling. The recorded `grad_norm` is the norm before clipping.

    `*10` multiplies the limits of the script's own clipping (`clip_grad_norm_` and `clip_grad_value_`) and `off`
    removes them. Together, `clip=off` and `clip=1.0` replace the limit. Refused for LBFGS, which computes its
    gradients inside of its step.""",
)  # fmt: skip

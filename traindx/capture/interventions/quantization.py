"""Quantization-aware training."""

from traindx.capture.interventions.kinds import Intervention
from traindx.capture.interventions.values import Change, Span, change, span
from traindx.errors import ConfigError

LATER = 0.5  # of the steps


def quantization_start(text: str, name: str) -> Span:
    if text == "earlier":
        raise ConfigError(f"--with {name}=earlier: cannot be done from outside of a script: change it there")
    return span(str(LATER) if text == "later" else text, name)


def rate_factor(text: str, name: str) -> Change:
    factor = change(text, name)
    if not factor.relative:
        raise ConfigError(f"--with {name}={text}: a factor is needed: {name}=*0.1")
    return factor


QUANT = Intervention(
    "quant", "forward", ("off",),
    help="""`off`: weights that are used quantized are used at full precision, and `torch.ao`'s fake-quantize modules
    pass everything through. This works however quantization is written: the weights that `F.linear` and convolutions
    are called with are inspected. A weight whose values are on few levels is replaced by the parameter that it was
    computed from, if the parameter's values are not. Activations that the script rounds itself stay rounded. What
    improves then was lost by quantization.""",
)  # fmt: skip

QUANT_START = Intervention(
    "quant.start", "forward", ("later", "200"), read=quantization_start,
    help="""Quantization begins after so many steps (below 1: after that share of all steps, `later`: after half of
    them), and is the script's own from then on; see `quant`. A share needs the number of steps: from `--steps`, or from
    a schedule that is given its length. To begin earlier than the script does, change the script.""",
)  # fmt: skip

LR_QUANTIZED = Intervention(
    "lr.quantized", "settings", ("*0.1", "*10"), order=1, read=rate_factor,
    help="""Another learning rate for layers whose weights are used quantized, with all that they hold: the weights,
    biases, and learned scales. The forward passes show which layers these are, however quantization is written (see
    `quant`); before the first one is seen, nothing is changed. The rate is multiplied after `lr` has set it. During a
    step such parameters are in separate groups, and the script's groups are restored after it.""",
)  # fmt: skip

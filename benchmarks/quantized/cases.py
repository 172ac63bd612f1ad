"""The scripts' healthy texts, and the faults that are put into them."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks import PROGRAM_FILES

SCRIPTS = PROGRAM_FILES / "quantized"
GAP, COLLAPSE, IMBALANCE = "quantization-gap", "ternary-collapse", "quantized-layer-gradient-imbalance"


class Fault(NamedTuple):
    """`swaps` are (text, replacement), each text standing in the script exactly once; `causes` that name it."""

    script: str
    name: str
    causes: tuple[str, ...]
    swaps: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """The script with the fault.

        Raises ValueError where a text does not stand in the script exactly once."""
        made = (SCRIPTS / f"{self.script}.py").read_text(encoding="utf-8")
        for old, new in self.swaps:
            if made.count(old) != 1:
                raise ValueError(
                    f"{self.script}.{self.name}: {old!r} stands {made.count(old)} times in the script"
                )
            made = made.replace(old, new)
        return made


AO, BIT, DOREFA = "fake_quantize_cnn", "bit_transformer", "dorefa_mlp"
STEPS, BINARY, LATER, INPUTS = "learned_steps", "binary_weights", "float_then_four_bits", "eight_bit_inputs"
ONCE = "calibrated_once"
FAULTS = (
    Fault(AO, "observers-off", (GAP, COLLAPSE), (
        ("inplace=True)\n", "inplace=True)\nnet.apply(tq.disable_observer)\n"),
    )),
    Fault(AO, "two-bits", (GAP, COLLAPSE), (
        ("quant_min=-128, quant_max=127", "quant_min=-2, quant_max=1"),
        ("quant_min=0, quant_max=255", "quant_min=0, quant_max=3"),
    )),
    Fault(AO, "stale-statistics", ("stale-normalization-statistics",), (
        ("nn.BatchNorm2d(16)", "nn.BatchNorm2d(16, momentum=1e-4)"),
        ("nn.BatchNorm2d(32)", "nn.BatchNorm2d(32, momentum=1e-4)"),
    )),
    Fault(BIT, "not-straight-through", (IMBALANCE, "detached-graph"), (
        ("w = self.weight + (ternary(self.weight) - self.weight).detach()", "w = ternary(self.weight)"),
    )),
    Fault(BIT, "all-zero", (COLLAPSE,), (
        ("scale = w.abs().mean().clamp(min=1e-5)\n    return (w / scale)",
         "scale = w.abs().mean().clamp(min=1e-5)\n    return (w / (8 * scale))"),
    )),
    Fault(DOREFA, "gradient-of-the-grid", (IMBALANCE,), (("return grad", "return grad * LEVELS * 4"),)),
    Fault(DOREFA, "fixed-range", (GAP, COLLAPSE), (
        ("top = w.abs().amax(1, keepdim=True).detach()", "top = 6 * torch.ones(len(w), 1)"),
    )),
    Fault(STEPS, "steps-too-small", (GAP,), (
        ("2 * weight.detach().abs().mean() / HIGH**0.5", "0.02 * weight.detach().abs().mean() / HIGH**0.5"),
        ("factor = 1 / (w.numel() * HIGH) ** 0.5", "factor = 0.0"),
    )),
    Fault(STEPS, "steps-too-fast", (IMBALANCE,), (("factor = 1 / (w.numel() * HIGH) ** 0.5", "factor = 300.0"),)),
    Fault(BINARY, "back-and-forth", ("learning-rate-too-high", GAP, IMBALANCE), (
        ("lr=2e-3", "lr=0.1"), ("    schedule.step()\n", ""),
    )),
    Fault(LATER, "too-late", (GAP,), (("20, 8, 4, 16", "20, 18, 2, 16"),)),
    Fault(LATER, "one-outlier", (GAP, COLLAPSE), (
        ("4, 16\n", "4, 2048\n"),
        ("groups = w.reshape(-1, GROUP)", "groups = w.reshape(1, -1)"),
        ("Linear(64, 4))\n",
         "Linear(64, 4))\nwith torch.no_grad():\n    for layer in net[::2]:\n        layer.weight[0, 0] = 9.0\n"),
    )),
    Fault(INPUTS, "range-too-small", (GAP,), (
        ("self.top.copy_(0.9 * self.top + 0.1 * x.detach().abs().max())", "self.top.fill_(0.02)"),
    )),
    Fault(ONCE, "too-early", (GAP,), (("20, 9, 4", "20, 0, 4"),)),
)  # fmt: skip
TWINS = tuple(dict.fromkeys(fault.script for fault in FAULTS))

"""Faults of training with rounded weights."""

from __future__ import annotations

from benchmarks.gym.programs.program import edit

GAP, COLLAPSE, IMBALANCE = "quantization-gap", "ternary-collapse", "quantized-layer-gradient-imbalance"

EDITS = [
    edit("qat_8bit", "two-bits", GAP, "gross", "bits = 8", "bits = 2", also=(COLLAPSE,)),
    edit("qat_8bit", "three-bits", GAP, "mild", "bits = 8", "bits = 3", also=(COLLAPSE,)),
    edit("qat_8bit", "in-use-only", GAP, "clear", "FakeQuant.apply(self.weight, self.bits)",
         "self.weight if self.training else FakeQuant.apply(self.weight, 2)"),
    edit("qat_8bit", "not-straight-through", IMBALANCE, "gross", "return grad, None",
         "return torch.zeros_like(grad), None",
         also=("detached-graph",)),
    edit("qat_8bit", "scaled-gradient", IMBALANCE, "clear", "return grad, None", "return 30 * grad, None",
         also=("learning-rate-too-high",)),
    edit("qat_4bit_lsq", "not-straight-through", IMBALANCE, "gross", "return (x.round() - x).detach() + x",
         "return x.round()",
         also=("detached-graph",)),
    edit("qat_4bit_lsq", "wide-step", COLLAPSE, "gross", "2 * self.weight.detach().abs().mean() / QP ** 0.5",
         "8 * self.weight.detach().abs().max()", also=(GAP,)),
    edit("qat_4bit_lsq", "steps-too-fast", IMBALANCE, "clear", "1 / (self.weight.numel() * QP) ** 0.5", "100.0"),
    edit("qat_4bit_lsq", "in-use-only", GAP, "clear", "w = round_pass((self.weight / s).clamp(QN, QP)) * s",
         "w = self.weight if self.training else (self.weight / s / 4).round().clamp(-1, 1) * s * 4"),
    edit("qat_2bit", "wide-step", GAP, "clear", "step = w.detach().abs().mean(1, keepdim=True)",
         "step = 12 * w.detach().abs().mean(1, keepdim=True)"),
    edit("qat_2bit", "not-straight-through", IMBALANCE, "gross", "return w + (q - w).detach()", "return q",
         also=("detached-graph",)),
    edit("ternary_weights", "high-threshold", COLLAPSE, "clear", "0.7 * w.abs().mean()", "3.2 * w.abs().mean()"),
    edit("ternary_weights", "higher-threshold", COLLAPSE, "gross", "delta = 0.7 * w.abs().mean()", "delta = 0.4",
         "alpha = w.abs()[mask].mean()", "alpha = w.abs().mean()"),
    edit("ternary_weights", "not-straight-through", IMBALANCE, "gross", "        return g\n",
         "        return torch.zeros_like(g)\n",
         also=("detached-graph",)),
    edit("binary_ste", "not-straight-through", IMBALANCE, "gross", "return soft + (hard - soft).detach()",
         "return hard",
         also=("detached-graph",)),
    edit("binary_ste", "saturated", IMBALANCE, "clear", "sign_ste(self.w1(x))", "sign_ste(40 * self.w1(x))",
         also=("saturating-activations",)),
]  # fmt: skip

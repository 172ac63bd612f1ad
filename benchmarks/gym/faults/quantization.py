"""Faults of quantization-aware training."""

from __future__ import annotations

from benchmarks.gym import quantized as q
from benchmarks.gym.faults.fault import Fault
from benchmarks.gym.recipe import Recipe

IN_USE = "self.weight if self.training else Quantize.apply(self.weight)"


def only_in_use(recipe: Recipe, bits: float) -> Recipe | None:
    """Trained in floating point; rounded to few bits when it is evaluated."""
    return q.own_layers(recipe, q.EVEN.replace("BITS", str(int(bits))), used=IN_USE)


def late(recipe: Recipe, share: float) -> Recipe | None:
    """Rounded to two bits from late on, when the rate is small: `share` of the run is left."""
    body = f"""
{q.EVEN.strip().replace("BITS", "2")}
if "epoch" in globals() and epoch <= (1 - {share:g}) * EPOCHS:
    q = w
"""
    return q.parametrized(recipe, body)


def few_inputs(recipe: Recipe) -> bool:
    """Whether the weights of the first layer are few and large from the start: then they do not collapse."""
    return recipe.net.kind == "mlp" and recipe.net.inputs < 10


def wide_range(recipe: Recipe, times: float) -> Recipe | None:
    """The range of two bits is so many times the largest weight: hardly any weight reaches half a level."""
    if few_inputs(recipe):
        return None
    return q.parametrized(
        recipe, q.EVEN.replace("w.abs().max()", f"{times:g} * w.abs().max()").replace("BITS", "2")
    )


def threshold(recipe: Recipe, times: float) -> Recipe | None:
    """Weights below so many times their mean size become zero."""
    return q.own_layers(recipe, q.TERNARY.replace("THRESHOLD", f"{times:g}"))


def fixed_threshold(recipe: Recipe, size: float) -> Recipe | None:
    """Weights below a threshold that is the same for all layers become zero."""
    if few_inputs(recipe):
        return None
    body = f"size = w.abs().mean()\nq = size * torch.where(w.abs() > {size:g}, w.sign(), 0.0)"
    return q.parametrized(recipe, body)


def scaled_gradient(recipe: Recipe, times: float) -> Recipe | None:
    """The gradient that is passed straight through has another scale. Adaptive optimizers and normalized
    layers would not mind."""
    if recipe.optimizer != "SGD" or recipe.net.norm:
        return None
    return q.own_layers(recipe, q.TERNARY.replace("THRESHOLD", "0.5"), backward=f"{times:g} * grad")


def forgotten_scale(recipe: Recipe, power: float) -> Recipe | None:
    """The derivative by w / size instead of w, once for each power of the scale."""
    if recipe.optimizer != "SGD" or recipe.net.norm:
        return None
    return q.own_layers(
        recipe,
        q.TERNARY.replace("THRESHOLD", "0.5") + "ctx.size = size\n",
        backward=f"grad / ctx.size ** {power:g}",
    )


FAULTS = (
    Fault("quantized-in-use-only", "quantization-gap", only_in_use, (2, 3), sees=("val",)),
    Fault("quantized-late", "quantization-gap", late, (0.1, 0.25), ("ternary-collapse",), onset=0.75),
    Fault("wide-range", "quantization-gap", wide_range, (1, 2), ("ternary-collapse",)),
    Fault("ternary-threshold", "ternary-collapse", threshold, (2.5, 4)),
    Fault("threshold-fixed", "ternary-collapse", fixed_threshold, (0.2, 0.4)),
    Fault(
        "straight-through-scaled", "quantized-layer-gradient-imbalance", scaled_gradient, (1e-3, 300, 3000)
    ),
    Fault("scale-forgotten", "quantized-layer-gradient-imbalance", forgotten_scale, (2, 3)),
)

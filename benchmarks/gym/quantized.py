"""Quantization-aware training as source text, in the manners that it is written: `q` is made of a weight `w`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace

from benchmarks.gym.recipe import Recipe

KINDS = ("mlp", "cnn")  # nets whose layers are quantized, all but the last one

# By how many times the mean size of a weight it must surpass half a level.
TERNARY = """
size = w.abs().mean()
q = size * torch.where(w.abs() > THRESHOLD * size, w.sign(), 0.0)
"""
EVEN = """
scale = w.abs().max() / (2 ** (BITS - 1) - 1)
q = scale * torch.round(w / scale)
"""
BY_ROW = EVEN.replace("w.abs().max()", "w.abs().flatten(1).amax(1).reshape(-1, *[1] * (w.dim() - 1))")

PARAMETRIZED = """
from torch.nn.utils import parametrize


class Quantizer(nn.Module):
    def forward(self, w):
        @body
        return w + (q - w).detach()


for layer in list(model.modules()):
    if isinstance(layer, (nn.Linear, nn.Conv2d)) and layer is not model.head:
        parametrize.register_parametrization(layer, "weight", Quantizer())
"""
OWN_LAYERS = """
class Quantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        @body
        return q

    @staticmethod
    def backward(ctx, grad):
        return BACKWARD


class BitLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x, USED, self.bias)


class BitConv2d(nn.Conv2d):
    def forward(self, x):
        return F.conv2d(x, USED, self.bias, self.stride, self.padding)


for layer in model.modules():
    if layer is not model.head and type(layer) in (nn.Linear, nn.Conv2d):
        layer.__class__ = BitLinear if type(layer) is nn.Linear else BitConv2d
"""


def parametrized(recipe: Recipe, body: str) -> Recipe | None:
    """With a parametrization of every layer but the last."""
    return with_layers(recipe, PARAMETRIZED, body)


def own_layers(recipe: Recipe, body: str, backward: str = "grad", used: str = "") -> Recipe | None:
    """With layers of one's own; `backward`: what the gradient `grad` becomes; `used`: the weight that is used."""
    code = OWN_LAYERS.replace("BACKWARD", backward).replace("USED", used or "Quantize.apply(self.weight)")
    return with_layers(recipe, code, body)


def with_layers(recipe: Recipe, code: str, body: str) -> Recipe | None:
    if recipe.net.kind not in KINDS:
        return None
    at = next(line for line in code.splitlines() if line.strip() == "@body")
    indent = at[: len(at) - len(at.lstrip())]
    made = code.strip("\n").replace(at, textwrap.indent(body.strip("\n"), indent))
    return replace(recipe, init="\n".join(filter(None, (recipe.init, made))))


def healthy(recipe: Recipe, name: str, changed: Recipe | None) -> Recipe:
    """A quantized version of a setting, by another name."""
    if changed is None:
        raise ValueError(f"{recipe.setting} has no layers to quantize")
    return replace(changed, setting=name)


def ternary(recipe: Recipe, name: str) -> Recipe:
    """As BitNet: -1, 0 and 1 times the mean size of the weights."""
    return healthy(recipe, name, own_layers(recipe, TERNARY.replace("THRESHOLD", "0.5")))


def bits(count: int, body: str = BY_ROW) -> Callable[[Recipe, str], Recipe]:
    return lambda recipe, name: healthy(recipe, name, parametrized(recipe, body.replace("BITS", str(count))))


def bits_later(recipe: Recipe, name: str) -> Recipe:
    """Eight bits, from the middle of the run on."""
    later = BY_ROW.replace("BITS", "8") + 'if "epoch" in globals() and epoch <= EPOCHS // 2:\n    q = w\n'
    return healthy(recipe, name, parametrized(recipe, later))


# Healthy quantization-aware training: its name, the setting, and what is made of that.
LOOK_ALIKES: tuple[tuple[str, str, Callable[[Recipe, str], Recipe]], ...] = (
    ("ternary-bn-mlp", "digits-bn-mlp-sgd", ternary),
    ("eight-bit-mlp", "digits-mlp-sgd", bits(8)),
    ("ternary-clusters", "clusters-mlp-onecycle", ternary),
    ("four-bit-cnn", "textures-cnn-sgd", bits(4)),
    ("eight-bit-regression", "friedman-mlp-adam", bits(8, EVEN)),
    ("ternary-cnn", "textures-cnn-sgd", ternary),
    ("four-bit-mlp", "digits-deep-mlp-adam", bits(4)),
    ("eight-bit-later", "digits-bn-mlp-sgd", bits_later),
    ("ternary-regression", "friedman-mlp-adam", ternary),
)

"""Columns that hold one number of every layer: `layer1/grad_norm`, `grad_norm_conv1`, `dead_relu/fc2`.

One such name alone says little (`actor_grad_norm` is a network, `grad_norm_ema` another mean of the whole);
several that differ only in a layer say what they are. A share of dead or saturated units is plain by itself.
"""

import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from traindx.readers.names.aliases import word_set, words_of
from traindx.readers.raw import RawColumn

SEPARATED = r"[\s/_.:-]+"
GRADIENT = r"grad(?:ient)?s?"
FIRED = r"(?:relu|neuron|unit)s?"
SHARE = r"(?:frac(?:tion)?|ratio|share|rate|pct|percent(?:age)?)"
# Canonical signal -> how its quantity is written, the clearest form first. The layer's name comes before or after
# it, or in the place of `LAYER`.
WRITTEN: Mapping[str, tuple[str, ...]] = {
    "grad_norm": (
        rf"{GRADIENT}[\s/_.]*(?:l?2(?:\.0)?[\s/_]*)?(?:l2[\s/_]?)?norms?", "gnorm", rf"{GRADIENT}LAYERnorms?", GRADIENT,
    ),
    "weight_norm": (r"(?:weight|param(?:eter)?)s?[\s/_.]*(?:l2[\s/_.]?)?norms?", "(?:weight|param)s?LAYERnorms?"),
    "update_ratio": (r"updates?(?:[\s/_.]*(?:to|over))?(?:[\s/_.]*(?:weight|param|data)s?)?[\s/_.]*ratio",),
    "act_zero_fraction": (
        rf"(?:dead|silent|inactive)[\s/_.]*{FIRED}?(?:[\s/_.]*{SHARE})?", rf"act_zero_{SHARE}",
    ),
    "act_saturated_fraction": (
        rf"(?:act(?:ivation)?s?[\s/_.]*)?saturat(?:ed|ion)(?:[\s/_.]*{FIRED})?(?:[\s/_.]*{SHARE})?",
        rf"sat[\s/_.]*{SHARE}",
    ),
    "act_mean": (r"act(?:ivation)?s?[\s/_.]*mean", "act(?:ivation)?s?LAYERmean"),
    "act_std": (r"act(?:ivation)?s?[\s/_.]*std", "act(?:ivation)?s?LAYERstd"),
}  # fmt: skip
ANY = re.compile("grad|norm|update|dead|silent|inactive|act|sat", re.IGNORECASE)
SHARES = ("act_zero_fraction", "act_saturated_fraction")
# A share that no layer's name goes with, so it is that of the whole net.
WHOLE = re.compile(
    rf"(?:(?:train|debug|stats|metrics)/)?(dead|inactive|saturated)[\s/_.]*(?:{FIRED}(?:[\s/_.]*{SHARE})?|{SHARE})",
    re.IGNORECASE,
)
ALL = "all layers"
PERCENT = re.compile("pct|percent|%", re.IGNORECASE)
LEAST = 3  # layers: the networks of a game are two, and so are a norm and its mean
# Words that say which number of a layer it is; what ends in one is another quantity than the norm.
STATISTICS = word_set("max min mean avg std var abs sum median p50 p90 p95 p99 hist histogram")
# Words that say of which network or when, not of which layer.
NO_LAYER = STATISTICS | word_set("""total global all overall before after clip clipped clipping unclipped raw ema step
    epoch iter train training val eval threshold limit coef weight actor critic policy value generator discriminator
    g d scale noise cosine encoder decoder model net network percent ratio norm norms optimizer""")


def by_layer(columns: Mapping[str, RawColumn], units: Mapping[str, str] | None = None) -> dict[str, str]:
    """column -> `signal/layer` of the columns that hold one number of every layer, in their order; nothing where
    fewer than three layers share a quantity that is no share."""
    found: dict[str, dict[str, str]] = {}
    for name in (name for name in columns if ANY.search(name)):
        signal, layer = named_layer(name)
        percent = (units or {}).get(name) == "%" or bool(PERCENT.search(name))
        if layer and is_possible(signal, columns[name], percent=percent):
            found.setdefault(signal, {}).setdefault(layer, name)
    return {
        name: f"{signal}/{layer}"
        for signal, layers in found.items()
        if signal in SHARES or (len(layers) >= LEAST and are_layers(layers))
        for layer, name in weights_alone(layers).items()
    }


def named_layer(name: str) -> tuple[str, str]:
    """The signal and the layer that a name means; an empty layer where none is left without the quantity."""
    whole = WHOLE.fullmatch(name[:200])
    if whole is not None:
        return SHARES[whole[1].lower() == "saturated"], ALL
    for signal, pattern in patterns():
        match = pattern.fullmatch(name[:200])
        if match is not None:
            layer = next(part for part in match.groups() if part).strip(" /_.:-")
            words = words_of(layer)
            return signal, "" if NO_LAYER.issuperset(words) or words[-1] in STATISTICS else layer
    return "", ""


@cache
def patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """(signal, pattern of whole names); the layer is the group that matched."""
    listed = []
    for signal, forms in WRITTEN.items():
        for form in forms:
            around = rf"{form}{SEPARATED}(.+)|(.+?){SEPARATED}{form}"
            between = form.replace("LAYER", f"{SEPARATED}(.+?){SEPARATED}")
            whole = between if "LAYER" in form else around
            listed.append((signal, re.compile(rf"(?:.*/)?(?:{whole})", re.IGNORECASE)))
    return tuple(listed)


def is_possible(signal: str, column: RawColumn, *, percent: bool) -> bool:
    """Whether the values can be a norm, a share (perhaps in percent) or a mean, as the signal says."""
    known = column.values[np.isfinite(column.values)]
    if not len(known) or (signal in SHARES and known.max() > (100 if percent else 1)):
        return False
    return signal == "act_mean" or bool(known.min() >= 0)


def are_layers(layers: Mapping[str, str]) -> bool:
    """Whether these are the parts of one network: numbered, or named by their place in it (`block.mlp`)."""
    return any("." in layer or any(c.isdigit() for c in layer) for layer in layers)


def weights_alone(layers: Mapping[str, str]) -> dict[str, str]:
    """The layers without the biases whose weights are there too: a layer counts once."""
    stems = {layer.removesuffix(".weight") for layer in layers if layer.endswith(".weight")}
    return {
        layer.removesuffix(".weight"): name
        for layer, name in layers.items()
        if not (layer.endswith(".bias") and layer.removesuffix(".bias") in stems)
    }

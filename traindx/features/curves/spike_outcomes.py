"""Spikes of a run's curves, sorted by what became of them; shared by the rules on spikes."""

import re

import numpy as np

from traindx.features.curve import Curve
from traindx.features.curves.spikes import Spike, spikes, tail_threshold
from traindx.features.shared import Features
from traindx.features.statistics import autocorrelation, difference_noise, median
from traindx.vocabulary import direction_of


def curve_spikes(curve: Curve, *, multiple: float, visible: float, tall: float = 0.15) -> list[Spike]:
    """Spikes of a curve that are `multiple` robust sigmas high, at least `visible` of the range of its
    trend after the first tenth of the run (where the first descent is over), and `tall` of the level
    before them."""
    later = curve.trend[curve.n // 10 :]
    least = visible * float(np.ptp(later)) if len(later) else 0.0
    usual = curve.derived(
        ("tail", multiple), lambda: tail_threshold(curve.as_loss, multiple=multiple, margin=1.0)
    )
    found = curve.derived(
        ("spikes", multiple, least), lambda: spikes(curve.as_loss, least=least, usual=usual)
    )
    found = [s for s in found if s.height >= tall * abs(s.before)]
    return (
        [s for s in found if above_scatter(curve, s, visible)]
        if found and falls_by_decades(curve)
        else found
    )


def falls_by_decades(curve: Curve, *, factor: float = 10.0) -> bool:
    """Whether a positive curve comes down to a tenth and less: its noise is then a share of its level."""
    return bool(curve.n and curve.as_loss.min() > 0 and curve.start > factor * curve.best > 0)


def above_scatter(curve: Curve, spike: Spike, visible: float, *, multiple: float = 6.0) -> bool:
    """Whether a spike exceeds the scatter of the logarithm, too, and is a visible part of its range."""
    scatter = curve.derived("log scatter", lambda: difference_noise(np.log(curve.as_loss)))
    bar = max(multiple * scatter, visible * float(np.log(curve.start / curve.best)))
    return spike.before > 0 and float(np.log1p(spike.height / spike.before)) > bar


def fails_after(curve: Curve, spike: Spike, *, points: int = 3) -> bool:
    """Whether a value that is not finite comes within `points` logged points after a spike."""
    following = curve.raw.values[curve.raw.steps > curve.step_at(spike.last)]
    return not bool(np.isfinite(following[:points]).all())


def regular_interval(found: list[Spike]) -> float | None:
    """The interval (points) of spikes that come regularly: at least four whose gaps scatter by less
    than a fifth of their median; None otherwise."""
    if len(found) < 4:
        return None
    gaps = np.diff([s.first for s in found])
    middle = float(median(gaps))
    return (
        middle
        if middle > 0
        and float(median(np.abs(gaps - middle))) < 0.1 * middle
        and float(np.std(gaps)) < 0.2 * middle
        else None
    )


def is_rough(curve: Curve, judged: list[Spike] | None = None) -> bool:
    """Whether a curve wanders from point to point so much that single peaks mean nothing (rewards,
    losses of adversarial players): its differences scatter as widely as the curve itself, without the
    spikes that are `judged` (as long as these are few)."""
    calm = np.ones(curve.n, dtype=bool)
    for spike in judged or ():
        calm[spike.first : spike.last + 1] = False
    y = curve.as_loss[curve.n // 4 :]
    y = y[calm[curve.n // 4 :]] if np.mean(calm) > 3 / 4 else y
    return len(y) > 8 and autocorrelation(y, 1) < 0.1 and float(np.std(y)) > 0.5 * curve.span


PLAYERS = frozenset({"d", "g", "gan", "disc", "gen", "critic", "discriminator", "generator"})
APART = frozenset({"time", "mem", "util", "x", "lr", "grad_norm", "loss_scale"})


def companion_curves(features: Features, least: int) -> list[Curve]:
    """Other curves on which a spike means something: the held-out loss, rewards and scores, the parts of a
    loss and the players of a game; those with at least `least` points. None where an agent learns: its
    losses follow what it meets next."""
    found: list[Curve] = []
    if features.is_reinforcement:
        return found
    for name in features.run.series:
        words = set(re.split(r"[^a-z]+", name.lower()))
        directed = direction_of(name) != "none" and name.startswith(("train/", "val/"))
        if (
            name == features.objective_name
            or not (directed or words & PLAYERS)
            or name.split("/")[0] in APART
        ):
            continue
        curve = features.curve(name)
        if curve is not None and curve.n >= least:
            found.append(curve)
    return sorted(found, key=lambda c: (c.name != "val/loss", c.name))


def towers(curve: Curve, found: list[Spike], *, times: float = 10.0) -> list[Spike]:
    """Spikes to ten times the usual level and more: they mean something on however rough a curve."""
    usual = float(median(np.abs(curve.values)))
    return [s for s in found if s.before + s.height > times * usual]

"""What could improve a run that is healthy, or was fixed: each piece of advice with its reason from this
run.

None of it was tried. It is advice, and never counts as a fix."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from traindx.features.curve import Curve
from traindx.features.curves.forecast import QUANTILES, forecast_curve, has_failed
from traindx.features.shared import Features
from traindx.features.statistics import slope
from traindx.reports.labels import number, percent
from traindx.vocabulary import Recommendation, Run, Setup, format_step, threshold
from traindx.vocabulary.trial import Answering

MOST = 6
LAST, FIRST = 0.25, 0.02  # shares of a run: what its end is judged by, and its warm-up
SURELY, LEAST = 3.0, 0.02  # standard errors, and share of the loss, by which one that still falls is lower
LARGER = 4  # times the batch that is spoken of


class Scene(NamedTuple):
    """What the advice is based on: the run at full length, and how fast its model answers (None: not
    measured)."""

    run: Run
    features: Features
    answering: Answering | None

    @property
    def setup(self) -> Setup:
        return self.run.setup

    @property
    def judged(self) -> Curve | None:
        """The loss on held-out data, else the training loss."""
        return self.features.curve("val/loss") or self.features.curve("train/loss")

    def settled(self, name: str) -> bool:
        """Whether a loss no longer falls over the last quarter of the run, by more than its noise and a
        fiftieth."""
        curve = self.features.curve(name)
        if curve is None or curve.n < 12:
            return False
        late = slope(curve.as_loss[int(curve.n * (1 - LAST)) :])
        return late.z > -SURELY or -late.change < LEAST * abs(curve.end)


Advice = tuple[Recommendation, ...]


def further_advice(run: Run, answering: Answering | None, known: Advice = ()) -> Advice:
    """At most six pieces of advice for a healthy run, of kinds that are not `known` already."""
    scene = Scene(run, Features(run), answering)
    kinds = {one.kind for one in known}
    found = [r for advice in ADVICE if (r := advice(scene)) is not None and r.kind not in kinds]
    return tuple(found[:MOST])


def train_longer(
    scene: Scene,
    *,
    least: float = threshold(0.05, "of the loss", basis="convention", source="less is not worth a run"),
) -> Recommendation | None:
    curve = scene.judged
    if curve is None or curve.n < 2 or has_failed(curve) or scene.settled(curve.name):
        return None
    target = float(2 * curve.steps[-1] - curve.steps[0])
    ahead = forecast_curve(curve, target)
    if ahead is None or curve.end <= 0 or ahead[0] + QUANTILES[0.8] * ahead[1] > (1 - least) * curve.end:
        return None
    low, high = (max(ahead[0] + side * QUANTILES[0.8] * ahead[1], 0.0) for side in (-1, 1))
    return Recommendation(
        "train longer",
        f"Train up to {scene.run.axis} {format_step(target)}, twice as far, and stretch the schedule with it.",
        f"{curve.name} is still falling: {number(curve.end)} at the end, and {number(ahead[0])} is forecast "
        f"(80 % interval {number(low)} to {number(high)})",
    )


def schedule(
    scene: Scene,
    *,
    constant: float = threshold(
        0.01, "relative range", basis="convention", source="a rate that hardly changes"
    ),
    swings: float = threshold(
        0.05, "of the loss", basis="convention", source="what a lower rate would remove"
    ),
) -> Recommendation | None:
    rate, loss = scene.features.curve("lr"), scene.features.curve("train/loss")
    if rate is None or loss is None or rate.n < 10 or loss.n < 40 or not scene.settled("train/loss"):
        return None
    late = loss.values[int(loss.n * (1 - LAST)) :]
    level, swing = float(np.mean(late)), float(np.std(late))
    if (
        rate.values.max() <= 0
        or np.ptp(rate.values) > constant * rate.values.max()
        or swing < swings * abs(level)
    ):
        return None
    return Recommendation(
        "schedule",
        f"Let the rate fall from {number(float(rate.values[-1]))} towards 0 over the last half (cosine or "
        "linear).",
        f"it is constant, and the training loss has stopped falling: it varies by {number(swing)} around "
        f"{number(level)}",
    )


def regularize(
    scene: Scene,
    *,
    apart: float = threshold(
        0.25, "of the training loss", basis="convention", source="a gap that is worth a change"
    ),
) -> Recommendation | None:
    """Against a gap between training and held-out data: regularization, and where there is some, data."""
    train, held = scene.features.curve("train/loss"), scene.features.curve("val/loss")
    if train is None or held is None or train.n < 3 or held.n < 3:
        return None
    gap = held.end - train.end
    if train.end <= 0 or gap < apart * train.end or gap < 3 * (train.noise + held.noise):
        return None
    why = f"val/loss ends at {number(held.end)}, train/loss at {number(train.end)}"
    decay, dropout = scene.setup.number("weight_decay"), scene.setup.number("dropout")
    if decay and dropout:
        return Recommendation(
            "data",
            "Add samples, or augment them, before more regularization.",
            f"{why}, with a weight decay of {number(decay)} and a dropout of {number(dropout)} in place",
        )
    what = (
        "a weight decay (0.01 with AdamW, 0.0005 with SGD)"
        if not decay
        else "dropout (0.1) before the last layers"
    )
    return Recommendation("regularization", f"Try {what}.", f"{why}, and none is used")


def capacity(
    scene: Scene,
    *,
    left: float = threshold(
        0.3, "of the first loss", basis="convention", source="most of the task is not learned"
    ),
    alike: float = threshold(0.1, "of the training loss", basis="convention", source="no relevant gap"),
) -> Recommendation | None:
    train, held = scene.features.curve("train/loss"), scene.features.curve("val/loss")
    if train is None or held is None or train.n < 12 or held.n < 3 or not scene.settled("train/loss"):
        return None
    if train.start <= 0 or train.end < left * train.start or held.end - train.end > alike * train.end:
        return None
    size = scene.setup.number("parameters")
    now = f" ({size:,.0f} parameters now)" if size else ""
    return Recommendation(
        "capacity",
        f"Try a model with twice the width{now}.",
        f"the training loss has stalled at {percent(train.end / train.start)} of its first value, and the "
        "validation loss "
        "is no worse, so nothing is memorized",
    )


def warm_up(
    scene: Scene,
    *,
    above: float = threshold(5.0, "times the median", basis="convention", source="far beyond what follows"),
    few: int = threshold(100, "points", basis="convention", source="a fiftieth of fewer is one point"),
) -> Recommendation | None:
    norms, rate = scene.features.curve("grad_norm"), scene.features.curve("lr")
    if norms is None or norms.n < few or scene.setup.number("warmup_steps"):
        return None
    first = max(1, int(FIRST * norms.n))
    usual, most = float(np.median(norms.values[first:])), float(norms.values[:first].max())
    if (
        usual <= 0
        or most < above * usual
        or (rate is not None and rate.n and rate.values[0] < 0.5 * rate.values.max())
    ):
        return None
    return Recommendation(
        "warm-up",
        f"Let the rate rise over the first {max(1, int(norms.steps[first] - norms.steps[0]))} steps.",
        f"gradient norms reach {number(most)} at the start, {most / usual:.0f} times the later median, at "
        "the full rate",
    )


def loader(
    scene: Scene,
    *,
    waits: float = threshold(
        0.15, "of a step", basis="convention", source="what parallel workers would recover"
    ),
) -> Recommendation | None:
    data, step = scene.features.curve("time/data"), scene.features.curve("time/step")
    if data is None or step is None or data.n < 5 or step.n < 5:
        return None
    share = float(np.median(data.values)) / max(float(np.median(step.values)), 1e-12)
    if share < waits:
        return None
    workers = scene.setup.workers or 0
    return Recommendation(
        "loader",
        f"Load with {2 * workers or 2} workers (now {workers}), or keep prepared samples in memory.",
        f"each step waits for its data {percent(min(share, 1.0))} of the time",
    )


def batch(
    scene: Scene,
    *,
    cheap: float = threshold(
        2.0, "times one sample", basis="convention", source="most of a call is overhead"
    ),
    least: int = threshold(
        4, "samples", basis="convention", source="batches of one say nothing about overhead"
    ),
) -> Recommendation | None:
    """A larger batch, with the rate that goes with it: linear for SGD (Goyal et al. 2017), by the square
    root for Adam (Malladi et al. 2022)."""
    fast, rate, size = scene.answering, scene.setup.number("lr"), scene.setup.number("batch_size")
    if fast is None or not (fast.p50 and fast.batch_p50 and rate and size) or (fast.batch or 0) < least:
        return None
    times = fast.batch_p50 / fast.p50
    if times > cheap:
        return None
    adaptive = "ada" in scene.setup.word("optimizer")
    scaled, rule = (
        (rate * LARGER**0.5, "by the square root, as for Adam") if adaptive else (rate * LARGER, "linearly")
    )
    return Recommendation(
        "batch size",
        f"Try batches of {LARGER * size:.0f} with a rate of {number(scaled)} (scaled {rule}).",
        f"a call with {fast.batch} samples takes only {times:.1f} times as long as with one, so most of "
        "it is overhead",
    )


def advise_compiling(
    scene: Scene,
    *,
    longest: float = threshold(
        600.0, "s of training", basis="convention", source="shorter is done before it pays"
    ),
    computing: float = threshold(
        0.7, "of a step", basis="convention", source="the passes take most of the time"
    ),
) -> Recommendation | None:
    step, last = scene.features.curve("time/step"), scene.run.last_step
    passes = [scene.features.curve(f"time/{name}") for name in ("forward", "backward", "optimizer")]
    if step is None or step.n < 5 or last is None or scene.run.framework != "torch":
        return None
    usual = float(np.median(step.values))
    share = sum(float(np.median(c.values)) for c in passes if c is not None and c.n) / max(usual, 1e-12)
    if usual * last < longest or share < computing or scene.setup.flag("compiled"):
        return None
    return Recommendation(
        "compile",
        "Try torch.compile(model).",
        f"the passes take {percent(min(share, 1.0))} of a step, and all steps together "
        f"{usual * last / 60:.0f} min",
    )


ADVICE: tuple[Callable[[Scene], Recommendation | None], ...] = (
    train_longer, schedule, regularize, capacity, warm_up, loader, batch, advise_compiling,
)  # fmt: skip

"""What is drawn of a run, computed once for every medium: HTML pages and PNG figures."""

from typing import Literal, NamedTuple

import msgspec
import numpy as np

from traindx.features.curve import Curve
from traindx.features.shared import Features
from traindx.reports.digest import Seen
from traindx.reports.plots.sketch import value_range
from traindx.vocabulary import SIGNALS, Floats, Run, direction_of

POINTS = 2000
SMOOTH_POINTS = 1000
SPARSE = 60  # a line of at most this many points is drawn with dots on them
MOST_METRICS = 6
UNITS = {k.name: k.unit for k in SIGNALS}
SYSTEM = (
    (
        "time",
        "Seconds a step",
        ("time/step", "time/data", "time/forward", "time/backward", "time/optimizer"),
    ),
    ("throughput", "Throughput", ("throughput",)),
    ("memory", "Memory", ("mem/device", "mem/host")),
    ("utilization", "Utilization", ("util/device", "util/cpu")),
)

Role = Literal["raw", "smooth", "validation", "rate", "plain"]


class Line(msgspec.Struct, frozen=True):
    """`x[n]`, `y[n]` (NaN: a gap). `right`: measured on the right-hand axis; `order`: its place among
    plain lines, which decides its colour (a run has the same one in every chart)."""

    label: str
    role: Role
    x: Floats
    y: Floats
    right: bool = False
    order: int = 0


class Mark(msgspec.Struct, frozen=True):
    """A finding's onset; `number` as in the report's list."""

    number: int
    step: float
    slug: str
    severity: str


class Gap(msgspec.Struct, frozen=True):
    """The surface between two curves: `x[n]`, `lower[n]`, `upper[n]`."""

    x: Floats
    lower: Floats
    upper: Floats


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """One picture. `limits` of the left axis leave out lone extremes; `log`: a logarithmic axis
    shows it better, `positive`: it is possible; `nonfinite[k]`: steps of NaN or infinite values."""

    slug: str
    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    right_label: str = ""
    log: bool = False
    positive: bool = False
    limits: tuple[float, float] = (0.0, 1.0)
    nonfinite: Floats = np.empty(0)
    gap: Gap | None = None


def run_charts(run: Run, findings: tuple[Seen, ...] = ()) -> tuple[Chart, ...]:
    """The charts of one run, the objective first; only of signals that were recorded."""
    features = Features(run)
    marks = onset_marks(findings)
    made = [
        objective_chart(run, features, marks),
        train_val_chart(run, features, marks),
        lr_chart(run, features, marks),
        gradient_chart(run, features, marks),
        *metric_charts(run, features, marks),
        *system_charts(run, features, marks),
    ]
    return tuple(chart for chart in made if chart is not None)


def onset_marks(findings: tuple[Seen, ...]) -> tuple[Mark, ...]:
    """A mark for each numbered finding whose onset is known."""
    found = [s for s in findings if s.finding.onset_step is not None]
    return tuple(
        Mark(s.number, s.finding.onset_step or 0.0, s.finding.slug, s.finding.severity) for s in found
    )


def chart(
    run: Run, slug: str, title: str, lines: list[Line], marks: tuple[Mark, ...], **more: object
) -> Chart | None:
    """A chart over `lines`, or None when nothing finite is on the left axis."""
    left = [line for line in lines if not line.right]
    values = np.concatenate([line.y[np.isfinite(line.y)] for line in left]) if left else np.empty(0)
    if len(values) == 0:
        return None
    low, high, log = value_range(values)
    made = Chart(
        slug=slug,
        title=title,
        x_label=run.axis,
        y_label="",
        lines=tuple(lines),
        marks=marks,
        log=log,
        positive=float(values.min()) > 0,
        limits=(low, high),
    )
    return msgspec.structs.replace(made, **more)


def raw_line(curve: Curve, role: Role = "raw", label: str | None = None) -> tuple[Line, Floats]:
    """A signal as it was logged, at most `POINTS` points, and where it was not finite."""
    x, y, nonfinite = sample(curve.raw.steps, curve.raw.values, POINTS)
    shown: Role = "smooth" if role == "raw" and curve.n <= SPARSE else role  # nothing is drawn over it
    return Line(curve.name if label is None else label, shown, x, y), nonfinite


def smooth_line(curve: Curve, label: str) -> Line:
    """A signal without its noise."""
    x, y, _ = sample(curve.steps, curve.trend * curve.sign, SMOOTH_POINTS)
    return Line(label, "smooth", x, y)


def smoothed_lines(curve: Curve) -> list[Line]:
    """The smoothed line, for signals that are long enough to be worth it."""
    return [smooth_line(curve, "smoothed")] if curve.n > SPARSE else []


def objective_chart(run: Run, features: Features, marks: tuple[Mark, ...]) -> Chart | None:
    """The signal that shows best whether the run learns, raw and smoothed."""
    curve = features.objective
    if curve is None:
        return None
    raw, nonfinite = raw_line(curve)
    return chart(run, "loss", curve.name, [raw, *smoothed_lines(curve)], marks, nonfinite=nonfinite)


def train_val_chart(run: Run, features: Features, marks: tuple[Mark, ...]) -> Chart | None:
    """Training against validation loss with the gap between them."""
    train, val = features.curve("train/loss"), features.curve("val/loss")
    if train is None or val is None or not train.n or not val.n:
        return None
    return pair_chart(run, "train_val", "Training against validation loss", train, val, marks)


def pair_chart(
    run: Run, slug: str, title: str, train: Curve, val: Curve, marks: tuple[Mark, ...]
) -> Chart | None:
    held, nonfinite = raw_line(val, "validation", "validation")
    line = (
        smooth_line(train, "training, smoothed")
        if train.n > SPARSE
        else raw_line(train, "smooth", "training")[0]
    )
    return chart(run, slug, title, [line, held], marks, nonfinite=nonfinite, gap=gap_between(train, val))


def gap_between(train: Curve, val: Curve) -> Gap | None:
    """The surface between the training trend and validation, where both are known."""
    inside = (train.steps >= val.steps[0]) & (train.steps <= val.steps[-1])
    if val.n < 2 or inside.sum() < 2:
        return None
    x, level, _ = sample(train.steps[inside], (train.trend * train.sign)[inside], SMOOTH_POINTS)
    return Gap(x, level, np.interp(x, val.steps, val.values))


def lr_chart(run: Run, features: Features, marks: tuple[Mark, ...]) -> Chart | None:
    """The learning rate next to the objective."""
    rate, curve = features.curve("lr"), features.objective
    if rate is None or curve is None or not rate.n or curve.n < 2:
        return None
    line = smooth_line(curve, curve.name) if curve.n > SPARSE else raw_line(curve)[0]
    x, y, _ = sample(rate.raw.steps, rate.raw.values, POINTS)
    lines = [line, Line("learning rate", "rate", x, y, right=True)]
    return chart(run, "lr_loss", "Learning rate and loss", lines, marks, right_label="learning rate")


def gradient_chart(run: Run, features: Features, marks: tuple[Mark, ...]) -> Chart | None:
    curve = features.curve("grad_norm")
    if curve is None:
        return None
    raw, nonfinite = raw_line(curve)
    lines = [raw, *smoothed_lines(curve)]
    return chart(run, "gradient_norm", "Gradient norm", lines, marks, y_label="L2", nonfinite=nonfinite)


def metric_charts(run: Run, features: Features, marks: tuple[Mark, ...]) -> list[Chart | None]:
    """Other measures of success, training and validation of the same one together."""
    parts = [
        n.partition("/")
        for n in run.series
        if n.startswith(("train/", "val/")) and direction_of(n) != "none"
    ]
    names = [m for m in dict.fromkeys(metric for _, _, metric in parts) if m != "loss"]
    names = [
        m
        for m in names
        if features.objective_name not in (f"train/{m}", f"val/{m}") or f"val/{m}" in run.series
    ]
    made = []
    for i, metric in enumerate(names[:MOST_METRICS]):
        train, val = features.curve(f"train/{metric}"), features.curve(f"val/{metric}")
        if train is not None and val is not None and train.n and val.n:
            made.append(pair_chart(run, f"metric_{i}", metric, train, val, marks))
        elif (only := val or train) is not None:
            role: Role = "validation" if only is val else "raw"
            line, nonfinite = raw_line(only, role)
            made.append(chart(run, f"metric_{i}", metric, [line], marks, nonfinite=nonfinite))
    return made


def system_charts(run: Run, features: Features, marks: tuple[Mark, ...]) -> list[Chart | None]:
    """Times, throughput, memory and utilization, where they were recorded."""
    made = []
    for slug, title, names in SYSTEM:
        curves = [c for c in map(features.curve, names) if c is not None]
        lines = [msgspec.structs.replace(raw_line(c, "plain")[0], order=k) for k, c in enumerate(curves)]
        if len(curves) == 1:
            lines = [raw_line(curves[0])[0], *smoothed_lines(curves[0])]
        unit = UNITS[names[0]]
        if slug == "memory":
            lines = [msgspec.structs.replace(line, y=line.y / 2**30) for line in lines]
            unit = "GiB"
        made.append(chart(run, slug, title, lines, marks, y_label=unit))
    return made


def overlay_charts(
    runs: tuple[Run, ...], names: tuple[str, ...], labels: tuple[str, ...]
) -> tuple[Chart, ...]:
    """For each signal of `names` one chart with a line per run that has it (smoothed where long)."""
    prepared = [Features(run) for run in runs]
    made = []
    for i, signal in enumerate(names):
        lines = []
        for order, (features, label) in enumerate(zip(prepared, labels, strict=True)):
            curve = features.curve(signal)
            if curve is not None and curve.n:
                line = smooth_line(curve, label) if curve.n > SPARSE else raw_line(curve, "plain", label)[0]
                lines.append(msgspec.structs.replace(line, role="plain", order=order))
        drawn = chart(runs[0], f"overlay_{i}", signal, lines, ()) if lines else None
        if drawn is not None:
            made.append(drawn)
    return tuple(made)


class Sampled(NamedTuple):
    """`x[k]`, `y[k]` in ascending x; y is NaN where a gap is to be shown. `nonfinite[j]`: places
    of NaN or infinite values, one for each bucket that has any."""

    x: Floats
    y: Floats
    nonfinite: Floats


def sample(x: Floats, y: Floats, limit: int = 2000) -> Sampled:
    """At most `limit` points of `y[n]` over ascending `x[n]`: the smallest and largest value of each
    of equally wide buckets of x (one bucket is about one pixel), and one NaN for each bucket that
    holds values that are not finite. Shorter inputs are returned whole (infinities as NaN)."""
    finite = np.isfinite(y)
    if len(y) <= limit:
        return Sampled(x, np.where(finite, y, np.nan), x[~finite])
    bad = not finite.all()
    starts = bucket_starts(x, limit // 3 if bad else limit // 2)
    chosen = [extreme_indices(np.where(finite, y, np.inf), starts, np.minimum)]
    chosen.append(extreme_indices(np.where(finite, y, -np.inf), starts, np.maximum))
    if bad:
        gaps = np.flatnonzero(~finite)
        bucket = np.searchsorted(starts, gaps, side="right")
        chosen.append(gaps[np.concatenate([[True], np.diff(bucket) > 0])])
    index = np.unique(np.concatenate(chosen))
    y = np.where(finite[index], y[index], np.nan)
    return Sampled(x[index], y, x[index[np.isnan(y)]])


def bucket_starts(x: Floats, buckets: int) -> np.ndarray:
    """First index of each non-empty one of `buckets` equally wide buckets over ascending `x[n]`."""
    low, high = float(x[0]), float(x[-1])
    if not high > low:
        return np.unique(np.linspace(0, len(x), buckets, endpoint=False).astype(np.int64))
    place = np.minimum(((x - low) * (buckets / (high - low))).astype(np.int64), buckets - 1)
    return np.concatenate([[0], np.flatnonzero(np.diff(place)) + 1])


def extreme_indices(y: Floats, starts: np.ndarray, extreme: np.ufunc) -> np.ndarray:
    """Index of the first extreme value (`np.minimum` or `np.maximum`) of each bucket of `y[n]`."""
    best = extreme.reduceat(y, starts)
    hits = np.flatnonzero(y == np.repeat(best, np.diff(np.append(starts, len(y)))))
    bucket = np.searchsorted(starts, hits, side="right")
    return hits[np.concatenate([[True], np.diff(bucket) > 0])] if len(hits) else hits

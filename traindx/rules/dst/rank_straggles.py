"""DST001 rank-straggles."""

from itertools import pairwise

import msgspec

from traindx.features.performance.level_shifts import start_up
from traindx.features.performance.processes import (
    ByRank,
    above_others,
    lagging_count,
    longest_stretch,
    series_by_rank,
)
from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold

PARTS = 8  # the run is judged in eighths
WORDS = {
    "time/data": "waits for its data",
    "time/forward": "takes in the forward pass",
    "time/step": "takes for a step",
    "time/step less time/backward": "works before the exchange",
}


@rule(
    code="DST001",
    needs=("rank/*",),
    min_points=1,
    severity="medium",
    message="rank {rank} {works} {seconds:.2g} s longer than the others, {share:.0%} of a step, at "
    "most steps",
)
def rank_straggles(
    run: Run,
    features: Features,
    *,
    some: float = threshold(0.2, "of a step", "convention", "a fifth of all processes' time is lost"),
    much: float = threshold(0.5, "of a step", "convention", "half of all processes' time is lost"),
    often: float = threshold(0.75, "of the steps", "convention", "by chance the ranks would take turns"),
    lasting: float = threshold(3, "eighths in a row", "convention", "temporary load ends sooner"),
    brief: float = threshold(0.005, "s", "convention", "logging and printing on one rank take this long"),
    least: float = threshold(16, "steps", "convention", "two in each eighth"),
    start: float = threshold(0.05, "of the run", "convention", "caches and loaders fill first"),
) -> Iterator[Evidence]:
    """One process takes longer for each step than the others, which wait for it.

    ## What it sees
    The time of a step before gradients are exchanged is compared between ranks. It is the wait for data, the
    step without its backward pass (which contains the exchange), the forward pass, or the step if ranks log
    it without waiting. In three of four steps one rank is above the median of the others by a fifth of a
    step, over three eighths of the run. Severity is medium, high from half a step on, and low below 5 ms.

    ## Why it matters
    In synchronous training all processes wait for the slowest.

    ## When it is wrong
    Step times that include the waiting are the same on all ranks, so nothing is reported. A slow
    backward pass, or work that the host does not wait for, is not seen either. Stages of a pipeline
    differ on purpose.

    ## What to try
    Check the host and the device of that rank: clocks, temperature, other processes, its disk and its
    share of the data.

    ## Sources
    Jiang et al. (2024), MegaScale, https://arxiv.org/abs/2402.15627; Wu et al. (2024), FALCON,
    https://arxiv.org/abs/2410.12588.
    """
    if lagging_count(run, start) is not None:
        raise api.CannotJudge("the ranks count different steps")
    length = step_seconds(features)
    judged = [
        lag_of(t, length, some, often, start)
        for t in phases(features)
        if len(t.steps) >= least and length > 0
    ]
    if not judged:
        raise api.CannotJudge(
            "needs times of a step of two ranks at the same steps, which were not recorded"
        )
    lag = next((lag for lag in judged if lag.parts >= lasting), None)
    if lag is None:
        return
    slight = lag.seconds < brief
    yield Evidence(
        onset=lag.first,
        last=lag.last,
        where=f"rank {lag.rank}",
        severity="low" if slight else "high" if lag.share >= much else "medium",
        strength=0.5 if slight else 1.0,
        aspects=("slight",) if slight else (),
        values={"rank": lag.rank, "works": WORDS[lag.signal], "seconds": lag.seconds, "share": lag.share},
        points=(api.EvidencePoint(lag.signal, lag.last, lag.seconds + lag.others, lag.others, "s"),),
    )


def step_seconds(features: Features) -> float:
    """The typical time of a step; 0 where it is not known."""
    step = series_by_rank(features, "time/step")
    if step is not None and len(step.steps):
        return float(median(step.values))
    alone = features.curve("time/step")
    return float(median(alone.values)) if alone is not None and alone.n else 0.0


class Lag(msgspec.Struct, frozen=True):
    """The rank that is slowest for the longest: for `parts` eighths of the run in a row, between the steps
    `first` and `last`, typically by `seconds`, a `share` of a step; `others` is the time of the others."""

    signal: str
    parts: int
    share: float
    rank: int
    seconds: float
    others: float
    first: float
    last: float


def phases(features: Features) -> list[ByRank]:
    """The times before the exchange at each step, where two or more ranks recorded them."""
    data, step, forward = (series_by_rank(features, f"time/{name}") for name in ("data", "step", "forward"))
    backward, own = series_by_rank(features, "time/backward"), None
    if step is not None and backward is not None and step.ranks == backward.ranks:
        steps, i, j = np.intersect1d(step.steps, backward.steps, return_indices=True)
        own = ByRank(
            "time/step less time/backward", step.ranks, steps, step.values[:, i] - backward.values[:, j]
        )
    return [found for found in (data, own, forward, step) if found is not None]


def lag_of(times: ByRank, step: float, some: float, often: float, start: float) -> Lag:
    """The rank that is slower than the others for the longest: by a share `some` of a step (of `step`
    seconds), at a share `often` of the steps."""
    skip = start_up(len(times.steps), start)
    steps, values = times.steps[skip:], times.values[:, skip:]
    excess = above_others(values)
    bounds = np.linspace(0, len(steps), PARTS + 1).astype(int)
    lags: list[Lag] = []
    for row, rank in enumerate(times.ranks):
        far = excess[row] > some * step
        first, last = longest_stretch(np.array([far[a:b].mean() >= often for a, b in pairwise(bounds)]))
        a, b = int(bounds[first]), int(bounds[last])
        if b > a:
            seconds = float(median(excess[row, a:b]))
            others = float(median(np.delete(values[:, a:b], row, axis=0)))
            stretch = float(steps[a]), float(steps[b - 1])
            lags.append(Lag(times.signal, last - first, seconds / step, rank, seconds, others, *stretch))
    none = Lag(times.signal, 0, 0.0, 0, 0.0, 0.0, 0.0, 0.0)
    return max(lags, key=lambda lag: (lag.parts, lag.share), default=none)

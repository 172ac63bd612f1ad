"""DST001 rank-straggles."""

from itertools import pairwise
from typing import NamedTuple

from traindx.features.performance.level_shifts import start_up
from traindx.features.performance.processes import (
    ByRank,
    above_others,
    by_rank,
    count_apart,
    longest_stretch,
)
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    median,
    np,
    rule,
    threshold,
)

PARTS = 8  # of the run; each is judged by itself
WORDS = {"time/data": "waits for its data", "time/forward": "computes forward", "time/step": "works at a step",
         "time/step less time/backward": "works before the exchange"}  # fmt: skip


@rule(
    code="DST001",
    needs=("rank/*",),
    min_points=1,
    severity="medium",
    message="rank {rank} {works} {seconds:.2g} s longer than the others, {share:.0%} of a step, at most steps",
)
def rank_straggles(
    run: Run,
    features: Features,
    *,
    some: float = threshold(0.2, "of a step", "convention", "a fifth of all processes' time is lost"),
    much: float = threshold(0.5, "of a step", "convention", "half of all processes' time is lost"),
    often: float = threshold(0.75, "of the steps", "convention", "chance would take turns among ranks"),
    lasting: float = threshold(3, "eighths in a row", "convention", "passing load is over sooner"),
    brief: float = threshold(0.005, "s", "convention", "logging and printing by one rank take so long"),
    least: float = threshold(16, "steps", "convention", "two in each eighth"),
    start: float = threshold(0.05, "of the run", "convention", "caches and loaders fill first"),
) -> Iterator[Evidence]:
    """One process works longer at each step than the others, which wait for it.

    ## What it sees
    The time of a step before gradients are exchanged (waiting for data; the whole step less its backward
    pass, in which the exchange takes place; the forward pass; the step, where ranks log it without waiting).
    At three of four steps one rank is above the median of the others by a fifth of a step, over three
    eighths of the run. High from half a step; low below 5 ms.

    ## Why it matters
    In synchronous training all wait for the slowest.

    ## When it is wrong
    Step times that hold the waiting are alike on all ranks; then nothing is seen. Nor is a slow backward
    pass or, on accelerators, what the host does not wait for. Stages of a pipeline differ on purpose.

    ## What to try
    Look at the host and the device of that rank: clocks, temperature, other processes, its disk and its
    share of the data.

    ## Sources
    Jiang et al. (2024), MegaScale: scaling large language model training; Wu et al. (2024), FALCON.
    """
    if count_apart(run, start) is not None:
        raise CannotJudge("the ranks count different steps")
    length = step_seconds(features)
    judged = [
        lag_of(t, length, some, often, start)
        for t in phases(features)
        if len(t.steps) >= least and length > 0
    ]
    if not judged:
        raise CannotJudge("needs times of a step of two ranks at the same steps, which were not recorded")
    for lag in judged:
        if lag.parts < lasting:
            continue
        slight = lag.seconds < brief
        yield Evidence(
            onset=lag.first,
            last=lag.last,
            where=f"rank {lag.rank}",
            severity="low" if slight else "high" if lag.share >= much else "medium",
            strength=0.5 if slight else 1.0,
            aspects=("slight",) if slight else (),
            values={
                "rank": lag.rank,
                "works": WORDS[lag.signal],
                "seconds": lag.seconds,
                "share": lag.share,
            },
            points=(EvidencePoint(lag.signal, lag.last, lag.seconds + lag.others, lag.others, "s"),),
        )
        return


def step_seconds(features: Features) -> float:
    """How long a step typically takes; 0 where that is not known."""
    step = by_rank(features, "time/step")
    if step is not None and len(step.steps):
        return float(median(step.values))
    alone = features.curve("time/step")
    return float(median(alone.values)) if alone is not None and alone.n else 0.0


class Lag(NamedTuple):
    """The rank that is longest above the others: for so many parts of the run in a row, between the steps
    `first` and `last`, typically by `seconds`, a `share` of a step; `others` take so long."""

    signal: str
    parts: int
    share: float
    rank: int
    seconds: float
    others: float
    first: float
    last: float


def phases(features: Features) -> list[ByRank]:
    """What the ranks did by themselves at each step: those times that two or more recorded."""
    data, step, forward = (by_rank(features, f"time/{name}") for name in ("data", "step", "forward"))
    backward, own = by_rank(features, "time/backward"), None
    if step is not None and backward is not None and step.ranks == backward.ranks:
        steps, i, j = np.intersect1d(step.steps, backward.steps, return_indices=True)
        own = ByRank(
            "time/step less time/backward", step.ranks, steps, step.values[:, i] - backward.values[:, j]
        )
    return [found for found in (data, own, forward, step) if found is not None]


def lag_of(times: ByRank, step: float, some: float, often: float, start: float) -> Lag:
    """The rank whose time is a share `some` of a step (of `step` seconds) above the others' at a share `often` of the
    steps for the longest."""
    skip = start_up(len(times.steps), start, 1)
    steps, values = times.steps[skip:], times.values[:, skip:]
    excess = above_others(values)
    bounds = np.linspace(0, len(steps), PARTS + 1).astype(int)
    found: list[Lag] = []
    for row, rank in enumerate(times.ranks):
        far = excess[row] > some * step
        first, last = longest_stretch(np.array([far[a:b].mean() >= often for a, b in pairwise(bounds)]))
        a, b = int(bounds[first]), int(bounds[last])
        if b > a:
            seconds = float(median(excess[row, a:b]))
            others = float(median(np.delete(values[:, a:b], row, axis=0)))
            found.append(
                Lag(
                    times.signal,
                    last - first,
                    seconds / step,
                    rank,
                    seconds,
                    others,
                    float(steps[a]),
                    float(steps[b - 1]),
                )
            )
    return max(
        found,
        key=lambda lag: (lag.parts, lag.share),
        default=Lag(times.signal, 0, 0.0, 0, 0.0, 0.0, 0.0, 0.0),
    )

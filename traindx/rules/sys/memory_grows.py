"""SYS005 memory-grows."""

from traindx.features.performance.level_shifts import growth, never_falls, start_up
from traindx.rules.api import (
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
    np,
    rule,
    threshold,
)

MIB = 2**20  # bytes


@rule(
    code="SYS005",
    needs=("mem/host|mem/device",),
    min_points=2,
    severity="medium",
    message="{signal} has grown from {first:,.0f} to {last:,.0f} MiB and is still growing",
)
def memory_grows(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(1.1, "x the first level", "measured", "74 programs: at most 1.05, late 1.01"),
    recorded: float = threshold(1.2, "x the first level", "measured", "1.12 in 14 s: a fragmented heap"),
    doubled: float = threshold(1.5, "x the first level", "convention", "for maxima and for two readings"),
    steady: float = threshold(0.95, "rank correlation", "convention", "of block medians with time"),
    late: float = threshold(0.2, "of the growth", "theory", "1/3 for a line; caches saturate"),
    line: float = threshold(0.28, "of the growth", "theory", "1/3 for a line: no maximum grows evenly"),
    rises: float = threshold(0.5, "of the last blocks", "theory", "a leak rises in nearly all of them"),
    leap: float = threshold(0.6, "of the growth", "theory", "1 for a jump, almost 0 for a line"),
    start: float = threshold(0.05, "of the run", "convention", "allocators and caches fill up first"),
    points: float = threshold(12, "rows", "convention", "fewer rows show no trend"),
    bulk: float = threshold(4e9, "bytes", "convention", "more than libraries and workers take"),
) -> Iterator[Evidence]:
    """Memory grows steadily and does not level off.

    ## What it sees
    The level rises almost without setback, and continues to rise in the last third. It must rise by a tenth
    after the start, by a fifth in a recording, or by half if the log gives the maximum so far. What host
    memory gains while functions are compiled does not count, as compiled programs are kept. A rise all at
    once, as when a library is loaded late, does not count. With fewer than twelve readings: host memory that
    grew by half and by gigabytes from the first to the last, or six that rise by half along a line (low).

    ## Why it matters
    The run is killed after hours, and steps get slower before that.

    ## When it is wrong
    Caches and allocators fill up and then stay constant. A maximum never falls. A data set that is read
    into memory grows until it is complete.

    ## What to try
    Count live tensors, and look for losses or outputs that are kept with their graph.

    ## Sources
    PyTorch FAQ, My model reports cuda runtime error(2): out of memory,
    https://docs.pytorch.org/docs/stable/notes/faq.html.
    """
    for name in ("mem/host", "mem/device"):
        curve = features.curve(name)
        if curve is None or curve.n < 2:
            continue
        if curve.n < points:
            skip, found = (
                0,
                evenly(curve, doubled, line, leap) or (name == "mem/host" and jumps(curve, doubled, bulk)),
            )
        else:
            skip = start_up(curve.n, start)
            seen = growth(without_programs(curve, features.curve("calls/compile"))[skip:])
            least = recorded if run.panels else ratio
            if never_falls(curve.values) and seen.late < line:
                least = doubled
            steadily = seen.correlation >= steady and seen.late >= late and seen.rises >= rises
            found = seen.ratio >= least and steadily and (seen.leap <= leap or seen.ratio >= doubled)
        if found:
            yield growth_evidence(curve, skip, many=curve.n >= points)


def without_programs(
    curve: Curve,
    compiled: Curve | None,
    *,
    program: float = threshold(16e6, "bytes a program", "measured", "2 to 4 MB on average in JAX; 4 x"),
) -> Floats:
    """The values of host memory, less what it gains between readings where programs were compiled: at most
    `program` for each so far. A leak goes on without compilations, or takes more."""
    if compiled is None or curve.name != "mem/host":
        return curve.values
    so_far = np.concatenate([[0.0], np.cumsum(compiled.values)])
    programs = np.diff(so_far[np.searchsorted(compiled.steps, curve.steps, side="right")], prepend=0.0)
    changes = np.diff(curve.values, prepend=curve.values[0])
    gained = np.cumsum(np.where(programs > 0, changes, 0.0))
    own: Floats = curve.values - np.minimum(gained, program * np.cumsum(programs))
    return own


def growth_evidence(curve: Curve, skip: int, *, many: bool) -> Evidence:
    """The growth of `curve` (in MiB, of bytes) after its first `skip` rows; `many` rows show a trend beyond doubt."""
    first, last = float(curve.values[skip]), float(curve.values[-1])
    end = curve.step_at(curve.n - 1)
    memory = "host" if curve.name == "mem/host" else "device"
    return Evidence(
        onset=curve.step_at(skip),
        last=end,
        strength=1.0 if many else 0.5,
        severity="medium" if many else "low",
        aspects=(memory,) if many else (memory, "few-readings"),
        values={"signal": curve.name, "first": first / MIB, "last": last / MIB},
        points=(EvidencePoint(curve.name, end, last, first, "bytes"),),
    )


def evenly(
    curve: Curve,
    ratio: float,
    line: float,
    leap: float,
    *,
    ordered: float = threshold(6, "rows", "theory", "all in order by chance: 1 in 720"),
) -> bool:
    """Whether a few readings rise each time, by `ratio` together, no less at the end, and not all at once."""
    rises = np.diff(curve.values)
    if curve.n < ordered or rises.min() <= 0 or curve.values[-1] < ratio * curve.values[0]:
        return False
    late = float(rises[-(len(rises) // 3) :].mean())
    return late >= 3 * line * float(rises.mean()) and float(rises.max()) <= leap * float(rises.sum())


def jumps(curve: Curve, ratio: float, bulk: float) -> bool:
    """Whether a few readings end by `ratio` and by `bulk` bytes above the first, without ever falling."""
    first, last = float(curve.values[0]), float(curve.values[-1])
    return never_falls(curve.values) and first > 0 and last >= ratio * first and last - first >= bulk

"""DST003 rank-stops-reporting."""

from traindx.features.performance.processes import reports_of
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="DST003",
    needs=("rank/*",),
    min_points=1,
    severity="high",
    message="rank {rank} reports nothing after step {step:g}, while others continue to step {end:g}",
)
def rank_stops_reporting(
    run: Run,
    features: Features,
    *,
    lag: float = threshold(0.05, "of the run", "convention", "longer than a log is buffered"),
    rows: float = threshold(10, "reports", "convention", "that are missing since then"),
    seconds: float = threshold(30, "s", "convention", "a log that is still written may be behind"),
) -> Iterator[Evidence]:
    """One process has stopped reporting, and others continue.

    ## What it sees
    Signals that several ranks record. The last step of one rank is earlier than that of the others, by
    a twentieth of the run and by ten of its reports. If times are known, it is also earlier by a
    twentieth of the time, or by half a minute while the run continues.

    ## Why it matters
    The process died or hangs. The others train without its data, or wait for it silently.

    ## When it is wrong
    Only some ranks log from some step on (after a restart), or a log was copied before its last part was
    written. If all ranks stop at once, no step shows which was first.

    ## What to try
    Look at the last lines that rank printed, and check whether its process is still running.

    ## Sources
    The log itself.
    """
    reports = reports_of(run)
    if len(reports) < 2:
        raise CannotJudge("needs a signal of two ranks, which was not recorded")
    rank, own = min(reports.items(), key=lambda item: item[1].steps[-1])
    last = max(reports.values(), key=lambda item: float(item.steps[-1]))
    end, stopped = float(last.steps[-1]), float(own.steps[-1])
    missing = int(
        np.searchsorted(last.steps, end, side="right") - np.searchsorted(last.steps, stopped, side="right")
    )
    if end - stopped < lag * (end - float(last.steps[0])) or missing < rows:
        return
    if own.times is not None and last.times is not None:
        behind, lasted = (float(last.times[-1] - t) for t in (own.times[-1], last.times[0]))
        if behind < lag * lasted or (run.complete is None and behind < seconds):
            return  # it continues, and counts other steps
    yield Evidence(
        onset=stopped,
        last=end,
        where=f"rank {rank}",
        values={"rank": rank, "step": stopped, "end": end},
        points=(api.EvidencePoint("last step", stopped, stopped, end, "step"),),
    )

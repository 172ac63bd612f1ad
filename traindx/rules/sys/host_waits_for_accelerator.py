"""SYS010 host-waits-for-accelerator."""

from traindx.features.performance.level_shifts import SHORTEST
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

READS = (
    "the loop reads from the accelerator {count:.0f} times a step{at}, and waits for it: up to {share:.0%} of a step "
    "is lost"
)


@rule(
    code="SYS010",
    needs=("calls/synchronize", "time/idle|time/synchronize", "time/step"),
    min_points=1,
    severity="medium",
    message="the host stops {count:.0f} times a step until the accelerator is done, which then idles ({share:.0%} of "
    "the step)",
)
def host_waits_for_accelerator(
    run: Run,
    features: Features,
    *,
    least: float = threshold(1, "times a step", "theory", "now and then costs nothing"),
    busy: float = threshold(0.8, "of the time", "seed", "as accelerator-underused"),
    usual: float = threshold(2, "times a step", "convention", "the loss is read, and a norm"),
    some: float = threshold(0.15, "of the step", "convention", "a sixth of the accelerator's time"),
    much: float = threshold(0.3, "of the step", "convention", "as much as a loader may take: SYS001"),
) -> Iterator[Evidence]:
    """The host waits for the accelerator again and again within a step.

    ## What it sees
    In a trace, more than two synchronizations in a typical step, and an accelerator that idles for 15 % of
    it or more. In a recording, lines of the loop that read from the accelerator in each step (`.item()`,
    `float()`, `print`, `.cpu()`, an `if` on a tensor), where the host's own work and its waiting, which
    could go on side by side, each take 15 % of the step or more; not where utilization is told to be 80 %.
    Medium from 30 %, else low.

    ## Why it matters
    After each of them the accelerator has nothing to do until the host has launched the next kernels.

    ## When it is wrong
    Where the accelerator is idle for another reason (data), fewer synchronizations change little.

    ## What to try
    Read losses and norms every so many steps; keep masks and counts on the device; copy with
    non_blocking=True from pinned memory.

    ## Sources
    PyTorch, Performance tuning guide, "Avoid unnecessary CPU-GPU synchronization".
    """
    calls, step = map(features.needed_curve, ("calls/synchronize", "time/step"))
    idle = features.curve("time/idle")
    if calls.n == 0 or step.n == 0 or (idle is not None and idle.n == 0):
        raise CannotJudge("no finite time was traced")
    count = float(median(calls.values))
    if idle is None:
        yield from live(run, features, count, least, busy, some, much)
        return
    shares = np.clip(idle.values / np.maximum(step.at_steps(idle.steps), SHORTEST), 0.0, 1.0)
    share = float(median(shares))
    if count <= usual or share < some:
        return
    yield Evidence(
        onset=calls.step_at(0),
        last=calls.step_at(calls.n - 1),
        strength=1.0 if share >= much else 0.5,
        severity="medium" if share >= much else "low",
        values={"count": count, "share": share},
        points=(
            EvidencePoint("calls/synchronize", calls.step_at(calls.n - 1), count, usual, "times a step"),
        ),
    )


def live(
    run: Run, features: Features, count: float, least: float, busy: float, some: float, much: float
) -> Iterator[Evidence]:
    """From a recording: what of a step would be saved, if the host went on while the accelerator works."""
    used = features.curve("util/device")
    if count < least or (used is not None and used.n and float(median(used.values)) >= busy):
        return
    waits, step, data = (features.curve(name) for name in ("time/synchronize", "time/step", "time/data"))
    if waits is None or waits.n == 0 or step is None:
        raise CannotJudge("how long the host waits was not recorded")
    whole = max(float(median(step.values)), SHORTEST)
    waited = float(median(waits.values))
    loading = float(median(data.values)) if data is not None and data.n else 0.0
    share = min(waited, whole - waited - loading) / whole
    if share < some:
        return
    at = str(run.setup.known("synchronized_at") or "")
    last = waits.step_at(waits.n - 1)
    yield Evidence(
        onset=waits.step_at(0),
        last=last,
        where=at,
        strength=1.0 if share >= much else 0.5,
        severity="medium" if share >= much else "low",
        aspects=("live",),
        message=READS,
        values={"count": count, "share": share, "at": f" ({at})" if at else ""},
        points=(EvidencePoint("time/synchronize", last, waited, some * whole, "s"),),
    )

"""SYS010 host-waits-for-accelerator."""

from traindx.features.performance.level_shifts import SHORTEST
from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold

READS = (
    "the loop reads from the accelerator {count:.0f} times per step{at} and waits for it, which costs up to "
    "{share:.0%} of a step"
)


@rule(
    code="SYS010",
    needs=("calls/synchronize", "time/idle|time/synchronize", "time/step"),
    min_points=1,
    severity="medium",
    message="the host waits for the accelerator {count:.0f} times per step, which leaves it idle for "
    "{share:.0%} of the step",
)
def host_waits_for_accelerator(
    run: Run,
    features: Features,
    *,
    least: float = threshold(1, "times a step", "theory", "occasional reads cost nothing"),
    busy: float = threshold(0.8, "of the time", "convention", "as in accelerator-underused"),
    usual: float = threshold(2, "times a step", "convention", "reading the loss and a norm"),
    some: float = threshold(0.15, "of the step", "convention", "a sixth of the accelerator's time"),
    much: float = threshold(0.3, "of the step", "convention", "the limit of step-waits-for-data"),
) -> Iterator[Evidence]:
    """The host waits for the accelerator several times per step.

    ## What it sees
    In a trace: a typical step has more than two synchronizations, and the accelerator is idle for at least 15
    % of it. In a recording: lines of the loop read from the accelerator in each step (`.item()`, `float()`,
    `print`, `.cpu()`, an `if` on a tensor). The work of the host and its waiting, which could overlap, must
    each take at least 15 % of the step. A utilization of 80 % or more is never reported. Severity is low, and
    medium from 30 % on.

    ## Why it matters
    After each synchronization the accelerator has nothing to do until the host has launched the next
    kernels.

    ## When it is wrong
    If the accelerator is idle for another reason (data), fewer synchronizations change little.

    ## What to try
    Read losses and norms only every n-th step, keep masks and counts on the device, and copy with
    non_blocking=True from pinned memory.

    ## Sources
    PyTorch, Performance tuning guide,
    https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html (avoid unnecessary CPU-GPU
    synchronization).
    """
    calls, step = map(features.needed_curve, ("calls/synchronize", "time/step"))
    idle = features.curve("time/idle")
    if calls.n == 0 or step.n == 0 or (idle is not None and idle.n == 0):
        raise api.CannotJudge("no finite time was traced")
    count = float(median(calls.values))
    if idle is None:
        yield from from_recording(run, features, count, least, busy, some, much)
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
            api.EvidencePoint("calls/synchronize", calls.step_at(calls.n - 1), count, usual, "times a step"),
        ),
    )


def from_recording(
    run: Run, features: Features, count: float, least: float, busy: float, some: float, much: float
) -> Iterator[Evidence]:
    """From a recording: what of a step would be saved, if the host went on while the accelerator works."""
    used = features.curve("util/device")
    if count < least or (used is not None and used.n and float(median(used.values)) >= busy):
        return
    waits, step, data = (features.curve(name) for name in ("time/synchronize", "time/step", "time/data"))
    if waits is None or waits.n == 0 or step is None:
        raise api.CannotJudge("how long the host waits was not recorded")
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
        points=(api.EvidencePoint("time/synchronize", last, waited, some * whole, "s"),),
    )

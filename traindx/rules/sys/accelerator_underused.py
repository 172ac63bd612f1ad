"""SYS007 accelerator-underused."""

from traindx.features.performance.level_shifts import start_up
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="SYS007",
    needs=("util/device",),
    min_points=5,
    severity="low",
    message="the accelerator is typically busy {busy:.0%} of the time",
    follows=("step-waits-for-data",),
)
def accelerator_underused(
    run: Run,
    features: Features,
    *,
    busy: float = threshold(0.8, "of the time", "convention", "a usual target for training"),
    idle: float = threshold(0.3, "of the time", "convention", "two thirds of the machine unused"),
    rows: float = threshold(0.75, "of the rows", "convention", "sustained, not in single rows"),
    start: float = threshold(0.1, "of the run", "convention", "loading and compilation come first"),
) -> Iterator[Evidence]:
    """The accelerator is idle for a large part of the run.

    ## What it sees
    Utilization below 80 % in three quarters of the rows after the start. Severity is low, and medium below 30
    %.

    ## Why it matters
    The same run could take less time, or less hardware.

    ## When it is wrong
    Small models cannot fill a large device. Readings between steps miss the work. A utilization near 100
    % does not prove efficiency either.

    ## What to try
    Use larger batches, and check whether steps wait for data or for the host.

    ## Sources
    NVIDIA, nvidia-smi, definition of utilization (share of time with a kernel running),
    https://docs.nvidia.com/deploy/nvidia-smi/.
    """
    curve = features.needed_curve("util/device")
    values = curve.values[start_up(curve.n, start) :]
    if len(values) == 0 or float(values.max()) == 0:
        raise CannotJudge("the utilization is 0 in every row, so it was not recorded")
    if float(values.max()) > 1:
        raise CannotJudge("the utilization is outside 0..1, so its unit is not known")
    typical = float(api.median(values))
    if float(np.mean(values < busy)) < rows:
        return
    yield Evidence(
        onset=curve.step_at(curve.n - len(values)),
        last=curve.step_at(curve.n - 1),
        strength=1.0 if typical < idle else 0.5,
        severity="medium" if typical < idle else "low",
        values={"busy": typical},
        points=(api.EvidencePoint("util/device", curve.step_at(curve.n - 1), typical, busy, "of the time"),),
    )

"""SYS012 copies-take-time."""

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

COPIES = frozenset(
    {"aten::copy_", "aten::_to_copy", "aten::to", "aten::contiguous", "aten::clone", "aten::cat"}
)


@rule(
    code="SYS012",
    needs=("operator_time/*", "time/step"),
    min_points=1,
    severity="low",
    message="{share:.0%} of a step goes to copying tensors",
)
def copies_take_time(
    run: Run,
    features: Features,
    *,
    some: float = threshold(0.15, "of the step", "convention", "more than a batch and its casts need"),
    much: float = threshold(0.3, "of the step", "convention", "as much as a loader may take: SYS001"),
) -> Iterator[Evidence]:
    """Tensors are copied, converted or moved for a notable part of the step.

    ## What it sees
    In a trace, the time in copying operators (copy, to, contiguous, clone, cat), or on an accelerator the
    time of memory copies, over the time of a step. Low from 15 %, medium from 30 %.

    ## Why it matters
    A copy computes nothing; most can be avoided or hidden behind computation.

    ## When it is wrong
    Mixed precision casts on purpose, and its casts pay for themselves on hardware made for it.

    ## What to try
    Make tensors on the device and in the format they are needed in; pinned memory and non_blocking=True; one
    memory layout throughout (channels_last).

    ## Sources
    PyTorch, Performance tuning guide.
    """
    step, moved = features.needed_curve("time/step"), features.curve("time/transfer")
    panel = run.panels.get("operator_time")
    if panel is None or step.n == 0 or not panel.values.size:
        raise CannotJudge("no finite time was traced")
    columns = [i for i, name in enumerate(panel.modules) if name in COPIES]
    seconds = np.nansum(panel.values[:, columns], axis=1)
    if moved is not None and moved.n:
        seconds = moved.values
    share = min(float(median(seconds)) / max(float(median(step.values)), SHORTEST), 1.0)
    if share < some:
        return
    yield Evidence(
        onset=step.step_at(0),
        last=step.step_at(step.n - 1),
        strength=1.0 if share >= much else 0.5,
        severity="medium" if share >= much else "low",
        values={"share": share},
        points=(
            EvidencePoint("operator_time", step.step_at(step.n - 1), float(median(seconds)), None, "s"),
        ),
    )

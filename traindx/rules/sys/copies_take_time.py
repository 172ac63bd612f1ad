"""SYS012 copies-take-time."""

from traindx.features.performance.level_shifts import SHORTEST
from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold

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
    much: float = threshold(0.3, "of the step", "convention", "the limit of step-waits-for-data"),
) -> Iterator[Evidence]:
    """Copying, converting or moving tensors takes a large part of the step.

    ## What it sees
    In a trace, the time in copying operators (copy, to, contiguous, clone, cat), or on an accelerator the
    time of memory copies, divided by the time of a step. Severity is low from 15 % on and medium from 30 %
    on.

    ## Why it matters
    A copy computes nothing. Most can be avoided or overlapped with computation.

    ## When it is wrong
    Mixed precision casts on purpose, and on suitable hardware the casts pay off.

    ## What to try
    Create tensors on the device and in the format where they are used. Use pinned memory with
    non_blocking=True, and one memory layout throughout (channels_last).

    ## Sources
    PyTorch, Performance tuning guide,
    https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html.
    """
    step, moved = features.needed_curve("time/step"), features.curve("time/transfer")
    panel = run.panels.get("operator_time")
    if panel is None or step.n == 0 or not panel.values.size:
        raise api.CannotJudge("no finite time was traced")
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
            api.EvidencePoint("operator_time", step.step_at(step.n - 1), float(median(seconds)), None, "s"),
        ),
    )

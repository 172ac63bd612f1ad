"""GRD007 gradient-is-zero."""

from traindx.features.curves.gradient_norms import improved, printed_step, shed
from traindx.features.performance.level_shifts import stretches
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
    Severity,
    median,
    rule,
    threshold,
)


def usual(values: Floats, start: int, stop: int, rows: int) -> float:
    """The level of the norm beside the zeros from `start` to `stop`: before them, or else after."""
    beside = values[max(0, start - rows) : start] if start else values[stop : stop + rows]
    return float(median(beside)) if len(beside) else 0.0


@rule(
    code="GRD007",
    needs=("grad_norm",),
    min_points=5,
    severity="high",
    message="the gradient norm is exactly zero for {count} rows from step {step:g} on",
)
def gradient_is_zero(
    run: Run,
    features: Features,
    *,
    rows: float = threshold(3, "rows in a row", "convention", "one or two may be empty batches"),
    printed: float = threshold(20.0, "x the last digit", "theory", "below it a zero may be rounding"),
    learnt: float = threshold(0.5, "of the first loss", "convention", "half the loss gone is learning"),
    done: float = threshold(0.95, "of the first loss", "convention", "nothing is left to learn"),
    score: float = threshold(8.0, "x spread of the loss", "convention", "a clear improvement"),
) -> Iterator[Evidence]:
    """The global gradient norm is exactly zero for a stretch.

    ## What it sees
    Three or more rows in a row with a norm of exactly 0 beside norms that are not. High if it lasts to the
    end, low if gradients come back. Zeros from the first row to the last are judged only where the objective
    stands still as well (low); else the log does not record norms.

    ## Why it matters
    No gradient, no learning: every unit silent, every label masked, or the graph cut.

    ## When it is wrong
    Norms printed with few digits round to zero when they are small; a loss at zero has no gradient;
    policy-gradient batches without advantage have none either, a row at a time.

    ## What to try
    Look at the labels of such a batch, and at the share of silent units.

    ## Sources
    The definition of the norm: it is zero only if every gradient is.
    """
    norm, objective = features.needed_curve("grad_norm"), features.objective
    values, positive = norm.values, norm.values[norm.values > 0]
    absent = len(positive) == 0
    if absent and (objective is None or improved(objective, share=learnt, score=score)):
        raise CannotJudge("the gradient norm is 0 in every row while the loss moves: it was not recorded")
    if objective is not None and shed(objective) >= done:
        return
    least = printed * printed_step(positive)
    found = [
        (a, b)
        for a, b in stretches(values == 0, int(rows))
        if absent or usual(values, a, b, int(rows)) > least
    ]
    if not found:
        return
    start, stop = found[-1] if found[-1][1] == norm.n else max(found, key=lambda r: r[1] - r[0])
    lasting = stop == norm.n
    severity: Severity = "high" if lasting and not absent else "low"
    yield Evidence(
        onset=norm.step_at(start),
        last=norm.step_at(stop - 1),
        strength=1.0 if lasting and not absent else 0.5,
        severity=severity,
        aspects=("to-end" if lasting else "comes-back",) + ("from-start",) * (start == 0),
        values={"count": stop - start, "step": norm.step_at(start)},
        points=(
            EvidencePoint(
                "grad_norm", norm.step_at(start), 0.0, usual(values, start, stop, int(rows)), "L2"
            ),
        ),
    )

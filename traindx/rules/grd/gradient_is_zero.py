"""GRD007 gradient-is-zero."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


def usual_norm(values: api.Floats, start: int, stop: int, rows: int) -> float:
    """The level of the norm before the zeros from `start` to `stop`, or after them if they come first."""
    around = values[max(0, start - rows) : start] if start else values[stop : stop + rows]
    return float(api.median(around)) if len(around) else 0.0


@rule(
    code="GRD007",
    needs=("grad_norm",),
    min_points=5,
    severity="high",
    message="the gradient norm is exactly 0 in {count} rows from step {step:g} on",
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
    """The global gradient norm is exactly zero for several rows.

    ## What it sees
    Three or more rows in a row with a norm of exactly 0, next to norms that are not. Severity is high if the
    zeros last to the end of the log and low if gradients come back. A log of zeros only is judged if the
    objective does not move either. Otherwise the norm was not recorded.

    ## Why it matters
    Without a gradient nothing is learned: all units are dead, all labels are masked, or the graph is
    detached.

    ## When it is wrong
    Small norms that are printed with few digits round to zero. A loss of zero has no gradient, and neither
    has a policy-gradient batch without advantage.

    ## What to try
    Look at the labels of such a batch, and at the share of dead units.

    ## Sources
    PyTorch, `clip_grad_norm_` (the norm over all gradients, zero only if each of them is):
    https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html.
    """
    norm, objective = features.needed_curve("grad_norm"), features.objective
    values, positive = norm.values, norm.values[norm.values > 0]
    absent = len(positive) == 0
    if absent and (objective is None or api.has_improved(objective, share=learnt, score=score)):
        raise CannotJudge(
            "the gradient norm is 0 in every row although the loss moves, so it was not recorded"
        )
    if objective is not None and api.share_lost(objective) >= done:
        return
    least = printed * api.printed_step(positive)
    found = [
        (a, b)
        for a, b in api.stretches(values == 0, int(rows))
        if absent or usual_norm(values, a, b, int(rows)) > least
    ]
    if not found:
        return
    start, stop = found[-1] if found[-1][1] == norm.n else max(found, key=lambda r: r[1] - r[0])
    lasting = stop == norm.n
    before = usual_norm(values, start, stop, int(rows))
    yield Evidence(
        onset=norm.step_at(start),
        last=norm.step_at(stop - 1),
        strength=1.0 if lasting else 0.5,
        severity="high" if lasting else "low",
        aspects=("to-end" if lasting else "comes-back",) + ("from-start",) * (start == 0),
        values={"count": stop - start, "step": norm.step_at(start)},
        points=(api.EvidencePoint("grad_norm", norm.step_at(start), 0.0, before, "L2"),),
    )

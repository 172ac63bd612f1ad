"""WGT001 updates-too-large."""

from traindx.features.per_module.panels import panel, rows_after_start, typical
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
    format_step,
    is_learning,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="WGT001",
    needs=("update_ratio/*", "objective"),
    min_points=1,
    severity="high",
    persistence="steady",
    message="{when}, an optimizer step changes the weights by {ratio:.0%} of their norm",
)
def updates_too_large(
    run: Run,
    features: Features,
    *,
    usual: float = threshold(
        0.1, "of the weights", "measured", "279 healthy runs of 58 kinds: 2.8 % at most"
    ),
    first: float = threshold(
        0.7, "of the weights", "measured", "279 healthy runs: 54 % at most (Adagrad's first step)"
    ),
    warm: float = threshold(0.1, "of the run", "convention", "updates are larger at the start"),
    head: float = threshold(5, "rows", "convention", "what counts as the start"),
) -> Iterator[Evidence]:
    """Optimizer steps change the weights by a large part of their size, and the run does not learn.

    ## What it sees
    The norm of the update divided by the norm of the weights, as a median over the modules. It must be above
    10 % after the first tenth of the run, or above 70 % at one of the first 5 recorded steps. Severity is
    high if the run does not learn. If that is not known it is medium, or low for the first steps alone. A
    run that learns is not reported.

    ## Why it matters
    Each step overwrites what the network has learned. A first step as large as the weights replaces the
    initialization.

    ## When it is wrong
    Weights that start near zero have large ratios until they have grown. Modules that start at zero are left
    out, and the median over the others counts.

    ## What to try
    A tenth of the learning rate. If only the first steps are large, add a warm-up.

    ## Sources
    You et al. (2017), Large batch training of convolutional networks (LARS), arXiv:1708.03888. The bounds
    are measured: in 279 healthy runs the ratio was at most 2.8 %, and 54 % at the first step (Adagrad).
    """
    found = panel(features, "update_ratio")
    values = np.where(np.isfinite(found.values), found.values, np.nan)
    if not np.isfinite(values).any():
        raise CannotJudge("no finite update was measured")
    learning = is_learning(features)
    level = positive_median(typical(rows_after_start(found, warm).values))
    early = max((positive_median(row) for row in values[: int(head)]), default=0.0)
    if learning or (level < usual and early < first):
        return
    lasting = level >= usual
    at = 0 if lasting else int(np.argmax([positive_median(row) for row in values[: int(head)]]))
    shown = level if lasting else early
    yield Evidence(
        onset=float(found.steps[at]),
        last=float(found.steps[-1] if lasting else found.steps[min(int(head), len(found.steps)) - 1]),
        strength=1.0 if learning is False else 0.5,
        severity="high" if learning is False else "medium" if lasting else "low",
        aspects=(*("lasting",) * lasting, *("first-steps",) * (early >= first)),
        values={
            "ratio": shown,
            "when": "typically" if lasting else f"at step {format_step(found.steps[at])}",
        },
        points=(EvidencePoint("update_ratio", float(found.steps[at]), shown, usual if lasting else first),),
    )


def positive_median(values: Floats) -> float:
    """Median of the finite values above zero; 0 where there are none."""
    known = values[np.isfinite(values) & (values > 0)]
    return float(median(known)) if len(known) else 0.0

"""WGT001 updates-too-large."""

from traindx.features.per_module.panels import after_warm_up, panel, typical
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
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
    message="{when}, a step changes the weights by {ratio:.0%} of their size",
)
def updates_too_large(
    run: Run,
    features: Features,
    *,
    usual: float = threshold(
        0.1, "of the weights", "measured", "279 healthy runs of 58 kinds: 2.8 % at most; seed: 1e-1"
    ),
    first: float = threshold(
        0.7, "of the weights", "measured", "279 healthy runs: 54 % at most (Adagrad's first step)"
    ),
    warm: float = threshold(0.1, "of the run", "convention", "updates are larger at the start"),
    head: float = threshold(5, "rows", "convention", "what counts as the start"),
) -> Iterator[Evidence]:
    """Single optimizer steps change the weights by a large part of their size, and the run does not learn.

    ## What it sees
    The norm of the update over that of the weights, the median over the modules: above 10 % typically (after
    the first steps), or above 70 % in one of the first samples. Nothing where the run learns; where that
    cannot be told, medium, and low for the first samples alone.

    ## Why it matters
    What the net has learnt is overwritten by the next step; a first step of the size of the weights replaces
    the initialization.

    ## When it is wrong
    Weights that start at or near zero have large ratios until they have grown; modules that start at zero
    are left out, and the others' median counts.

    ## What to try
    A tenth of the learning rate, or a warm-up when only the first steps are large.

    ## Sources
    You et al. (2017), LARS; fault catalogue rows 1, 4, 60, 64, 65; measured.
    """
    found = panel(features, "update_ratio")
    values = np.where(np.isfinite(found.values), found.values, np.nan)
    if not np.isfinite(values).any():
        raise CannotJudge("no finite update was measured")
    learning = is_learning(features)
    level = middle(typical(after_warm_up(found, warm).values))
    early = max((middle(row) for row in values[: int(head)]), default=0.0)
    if learning or (level < usual and early < first):
        return
    lasting = level >= usual
    at = 0 if lasting else int(np.argmax([middle(row) for row in values[: int(head)]]))
    shown = level if lasting else early
    yield Evidence(
        onset=float(found.steps[at]),
        last=float(found.steps[-1] if lasting else found.steps[min(int(head), len(found.steps)) - 1]),
        strength=1.0 if learning is False else 0.5,
        severity="high" if learning is False else "medium" if lasting else "low",
        aspects=(*("lasting",) * lasting, *("first-steps",) * (early >= first)),
        values={"ratio": shown, "when": "typically" if lasting else f"at step {found.steps[at]:g}"},
        points=(EvidencePoint("update_ratio", float(found.steps[at]), shown, usual if lasting else first),),
    )


def middle(values: Floats) -> float:
    """Median of the finite values above zero; 0 where there are none."""
    known = values[np.isfinite(values) & (values > 0)]
    return float(median(known)) if len(known) else 0.0

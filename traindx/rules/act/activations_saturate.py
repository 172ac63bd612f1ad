"""ACT002 activations-saturate."""

from traindx.features.per_module.panels import after_warm_up, at_end, first_known, named, panel, typical
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    Features,
    Iterator,
    Run,
    is_learning,
    np,
    rule,
    threshold,
)


@rule(
    code="ACT002",
    needs=("act_saturated_fraction/*", "objective"),
    min_points=1,
    severity="high",
    message="{share:.0%} of the pre-activations of {where} lie beyond 3, where the activation is flat",
)
def activations_saturate(
    run: Run,
    features: Features,
    *,
    share: float = threshold(
        0.5, "of the pre-activations", "measured", "healthy tanh and sigmoid nets: 3 % at most; faults 90 %"
    ),
    warm: float = threshold(0.1, "of the run", "convention", "first steps are left out"),
    head: float = threshold(3, "rows", "convention", "what counts as the start"),
) -> Iterator[Evidence]:
    """Most pre-activations of a sigmoid or tanh layer lie where it is flat, and the run does not learn.

    ## What it sees
    The share of |pre-activations| above 3, typical of each module after the first steps. The last module is
    left out: a classifier that is sure of itself saturates its output. Nothing where the run learns, low
    where that cannot be told.

    ## Why it matters
    The derivative there is below 10 % (tanh: 1 %) of its maximum, so hardly any gradient passes.

    ## When it is wrong
    Gates of recurrent nets are meant to open and close; they are inside their modules and not seen.

    ## What to try
    Normalized inputs (if the first layer saturates from the start), smaller initial weights, a lower rate,
    ReLU or GELU.

    ## Sources
    Glorot, Bengio (2010); requirements (|x| > 3); fault catalogue rows 39, 40.
    """
    found = panel(features, "act_saturated_fraction")
    level = typical(after_warm_up(found, warm).values)
    outputs = run.panels.get("act_std", found).modules
    level[[module == outputs[-1] for module in found.modules]] = np.nan
    if not np.isfinite(level).any():
        raise CannotJudge("only the output saturates or not, which says nothing")
    high = np.nan_to_num(level) >= share
    learning = is_learning(features)
    if learning or not high.any():
        return
    worst = int(np.nanargmax(level))
    start = np.nan_to_num(first_known(found.values, int(head))) >= share
    known = np.flatnonzero(np.isfinite(level))
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        strength=1.0 if learning is False else 0.5,
        severity="high" if learning is False else "low",
        aspects=(
            "from-start" if start[worst] else "later",
            *("first-layer",) * bool(high[known[0]]),
        ),
        values={"share": float(level[worst]), "where": named(found, high)},
        points=(at_end("act_saturated_fraction", found, worst, level[worst], share, "0..1"),),
    )

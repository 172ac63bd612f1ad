"""ACT002 activations-saturate."""

from traindx.features.per_module.panels import (
    evidence_at_end,
    first_known,
    name_marked_modules,
    panel,
    rows_after_start,
    typical,
)
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="ACT002",
    needs=("act_saturated_fraction/*", "objective"),
    min_points=1,
    severity="high",
    message="{share:.0%}{more} of the pre-activations of {where} are beyond 3, where the activation is flat",
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
    """Most inputs of a sigmoid or tanh layer are where its curve is flat, and the run does not learn.

    ## What it sees
    The share of pre-activations with an absolute value above 3, per module: the median over the run without
    its first tenth. It must reach 50 %. The last module is left out, because the output of a confident
    classifier is saturated. Severity is high if the run does not learn and low if that is not known. A run
    that learns is not reported.

    ## Why it matters
    Beyond 3 the derivative is below 20 % of its maximum for sigmoid and below 1 % for tanh. Hardly any
    gradient passes.

    ## When it is wrong
    Gates of recurrent networks are meant to open and close. They are inside their modules and are not
    measured.

    ## What to try
    Normalize the inputs if the first layer is saturated from the start. Otherwise use smaller initial
    weights, a lower learning rate, ReLU or GELU.

    ## Sources
    Glorot and Bengio (2010), Understanding the difficulty of training deep feedforward neural networks,
    https://proceedings.mlr.press/v9/glorot10a.html.
    """
    found = panel(features, "act_saturated_fraction")
    level = typical(rows_after_start(found, warm).values)
    outputs = run.panels.get("act_std", found).modules
    if len(outputs) > 1:
        level[[module == outputs[-1] for module in found.modules]] = np.nan
    if not np.isfinite(level).any():
        raise CannotJudge("only the output layer was measured, and a confident output is saturated")
    high = np.nan_to_num(level) >= share
    learning = api.is_learning(features)
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
        aspects=("from-start" if start[worst] else "later", *("first-layer",) * bool(high[known[0]])),
        values={
            "share": float(level[high].min()),
            "more": " or more" if high.sum() > 1 else "",
            "where": name_marked_modules(found, high),
        },
        points=(evidence_at_end("act_saturated_fraction", found, worst, level[worst], share, "0..1"),),
    )

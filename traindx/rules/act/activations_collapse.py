"""ACT004 activations-collapse."""

from traindx.features.per_module.panels import (
    before_break,
    evidence_at_end,
    name_marked_modules,
    panel,
    typical,
)
from traindx.rules.api import Evidence, Features, Iterator, Run, api, np, progress_severity, rule, threshold


@rule(
    code="ACT004",
    needs=("act_rank/*", "objective"),
    min_points=1,
    severity="high",
    message="the output of {where} is the same for every input",
    follows=(
        "ternary-weights-collapse",
        "relu-units-dead",
        "activations-not-finite",
        "activations-saturate",
    ),
)
def activations_collapse(
    run: Run,
    features: Features,
    *,
    rank: float = threshold(
        0.5, "effective rank", "theory", "outputs that vary have at least 1, constant ones 0"
    ),
    late: float = threshold(0.5, "of the rows", "convention", "judged on the second half"),
) -> Iterator[Evidence]:
    """The output of a module is the same for every input.

    ## What it sees
    The effective rank of a module's outputs over the samples of a batch. It is 0 if the spread is below 1e-5
    of the level, and the median of the second half of the run must be below 0.5. Severity is high if the run
    does not learn, medium if that is not known, and info if it learns. It is also info if the next module
    and the last one still vary. That happens with an unused branch, or an embedding that gets the same index
    for all samples.

    ## Why it matters
    The modules after it cannot distinguish the samples, so the prediction is the same for all of them.

    ## When it is wrong
    Learned constants (position embeddings, learned queries) are the same for every sample by design.

    ## What to try
    Look at the first constant module and at what comes before it: dead units, saturation, weights that
    decayed to nothing, a zero initialization.

    ## Sources
    Roy and Vetterli (2007), The effective rank: a measure of effective dimensionality, EUSIPCO,
    https://ieeexplore.ieee.org/document/7098875.
    """
    found = before_break(features, panel(features, "act_rank"))
    level = typical(found.values[int(late * len(found.values)) :])
    flat = np.isfinite(level) & (level < rank)
    if not flat.any():
        return
    first = int(np.argmax(flat))
    rows = np.flatnonzero(np.nan_to_num(found.values[:, first], nan=1.0) >= rank)
    begin = min(int(rows[-1]) + 1 if len(rows) else 0, len(found.steps) - 1)
    learning = api.is_learning(features)
    following = len(flat) - int(np.argmax(flat[::-1]))  # the module after the last constant one
    passed_by = (
        following < len(flat) and bool(np.isfinite(level[[following, -1]]).all()) and not bool(flat[-1])
    )
    severity = progress_severity(features, stuck="high", unknown="medium", learns="info")
    yield Evidence(
        onset=float(found.steps[begin]),
        last=float(found.steps[-1]),
        where=found.modules[first],
        severity="info" if passed_by else severity,
        strength=1.0 if learning is False else 0.5,
        aspects=(
            "from-start" if begin == 0 else "later",
            *("output",) * bool(flat[-1]),
            *("learns",) * bool(learning),
            *("beside",) * passed_by,
        ),
        values={"where": name_marked_modules(found, flat)},
        points=(evidence_at_end("act_rank", found, first, level[first], rank),),
    )

"""ACT004 activations-collapse."""

from traindx.features.per_module.panels import at_end, before_break, named, panel, typical
from traindx.rules.api import Evidence, Features, Iterator, Run, Severity, is_learning, np, rule, threshold


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
        0.5, "effective rank", "theory", "1 is the least for outputs that vary; 0 stands for constant"
    ),
    late: float = threshold(0.5, "of the rows", "convention", "judged on the second half"),
) -> Iterator[Evidence]:
    """A module's output does not depend on the input any more.

    ## What it sees
    An effective rank of 0 over the samples of a batch (spread below 1e-5 of the level), in the median of the
    second half of the run. High where the run does not learn, medium where that cannot be told, information
    where it learns, or where the module after it and the last one vary (a branch that is not used, an
    embedding that is given the same for all).

    ## Why it matters
    What follows cannot tell the samples apart, so the answer is the same for all: guessing.

    ## When it is wrong
    Learned constants (position embeddings, queries) are the same for every sample by design.

    ## What to try
    Look at the first module that is constant, and at what comes before it: silent units, saturation, weights
    that have decayed to nothing, a zero initialization.

    ## Sources
    Roy, Vetterli (2007), The effective rank; fault catalogue rows 1, 24, 30, 33, 37.
    """
    found = before_break(features, panel(features, "act_rank"))
    level = typical(found.values[int(late * len(found.values)) :])
    flat = np.isfinite(level) & (level < rank)
    if not flat.any():
        return
    first = int(np.argmax(flat))
    rows = np.flatnonzero(np.nan_to_num(found.values[:, first], nan=1.0) >= rank)
    begin = min(int(rows[-1]) + 1 if len(rows) else 0, len(found.steps) - 1)
    learning = is_learning(features)
    last = len(flat) - int(np.argmax(flat[::-1]))  # behind the last that is constant
    beside = last < len(flat) and bool(np.isfinite(level[[last, -1]]).all()) and not bool(flat[-1])
    severity: Severity = "info" if learning or beside else "high" if learning is False else "medium"
    yield Evidence(
        onset=float(found.steps[begin]),
        last=float(found.steps[-1]),
        where=found.modules[first],
        severity=severity,
        strength=1.0 if learning is False else 0.5,
        aspects=(
            "from-start" if begin == 0 else "later",
            *("output",) * bool(flat[-1]),
            *("learns",) * bool(learning),
            *("beside",) * beside,
        ),
        values={"where": named(found, flat)},
        points=(at_end("act_rank", found, first, level[first], rank),),
    )

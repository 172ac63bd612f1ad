"""ACT001 relu-units-dead."""

from traindx.features.per_module.panels import at_end, before_break, first_known, least, named, panel
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    Features,
    Floats,
    Iterator,
    Run,
    Severity,
    is_learning,
    np,
    rule,
    threshold,
)


@rule(
    code="ACT001",
    needs=("act_zero_fraction/*", "objective"),
    min_points=1,
    severity="high",
    message="{share:.0%} of the units of {where} are silent on all data",
    follows=("ternary-weights-collapse",),
)
def relu_units_dead(
    run: Run,
    features: Features,
    *,
    dead: float = threshold(
        0.5, "of a module's units", "measured", "277 of 279 healthy runs: 41 % at most; seed: 50 %"
    ),
    gone: float = threshold(0.95, "of a module's units", "convention", "no signal passes"),
    late: float = threshold(0.5, "of the rows", "convention", "a unit may wake up in the first half"),
    head: float = threshold(3, "rows", "convention", "what counts as the start"),
) -> Iterator[Evidence]:
    """Half of a rectifier's units, or more, never become active, whatever the input.

    ## What it sees
    The share of units that are silent on all data of the sampled batches; the smallest value of the second
    half of the run counts. High where the run does not learn, medium where that cannot be told, information
    where it learns well.

    ## Why it matters
    A silent ReLU has no gradient and does not come back; the net is smaller than it was built.

    ## When it is wrong
    Half of all activations of a healthy net are zero, which is not what is counted here. Wide and sparse
    nets can spare units: a run that learns well is told, not blamed.

    ## What to try
    A lower learning rate (units die in large steps), LeakyReLU or GELU, biases that start at zero.

    ## Sources
    Lu et al. (2019), Dying ReLU and initialization; measured on the fault catalogue.
    """
    found = before_break(features, panel(features, "act_zero_fraction"))
    half = found.values[int(late * len(found.values)) :]
    share = least(half)
    if not np.isfinite(share).any():
        raise CannotJudge("too few samples have passed by to call a unit silent")
    high = np.nan_to_num(share) >= dead
    if not high.any():
        return
    worst = int(np.nanargmax(share))
    begin = onset_row(found.values[:, worst], dead)
    start = begin <= head and first_known(found.values, len(found.values))[worst] >= dead
    learning = is_learning(features)
    severity: Severity = "info" if learning else "high" if learning is False else "medium"
    yield Evidence(
        onset=float(found.steps[begin]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        strength=1.0 if learning is False else 0.5,
        severity=severity,
        aspects=(
            "from-start" if start else "later",
            *("whole-layer",) * bool(share[worst] >= gone),
            *("learns",) * bool(learning),
        ),
        values={"share": float(share[worst]), "where": named(found, high)},
        points=(at_end("act_zero_fraction", found, worst, share[worst], dead, "0..1"),),
    )


def onset_row(values: Floats, dead: float) -> int:
    """First row from which on `values[n]` stay at `dead` or above (unknown ones passed over)."""
    below = np.flatnonzero(values < dead)
    after = int(below[-1]) + 1 if len(below) else int(np.argmax(np.isfinite(values)))
    return min(after, len(values) - 1)

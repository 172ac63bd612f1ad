"""ACT001 relu-units-dead."""

from traindx.features.per_module.panels import (
    before_break,
    column_minima,
    evidence_at_end,
    first_known,
    name_marked_modules,
    panel,
)
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="ACT001",
    needs=("act_zero_fraction/*", "objective"),
    min_points=1,
    severity="high",
    persistence="steady",
    message="{share:.0%}{more} of the units of {where} are zero for every input",
    follows=("ternary-weights-collapse",),
)
def relu_units_dead(
    run: Run,
    features: Features,
    *,
    dead: float = threshold(0.5, "of a module's units", "measured", "277 of 279 healthy runs: 41 % at most"),
    gone: float = threshold(0.95, "of a module's units", "convention", "almost no signal passes the layer"),
    late: float = threshold(0.5, "of the rows", "convention", "a unit may wake up in the first half"),
    head: float = threshold(3, "rows", "convention", "what counts as the start"),
) -> Iterator[Evidence]:
    """Half of the units of a ReLU layer, or more, are zero for every input.

    ## What it sees
    The share of units that are zero on all samples of a batch, per module. The smallest share of the second
    half of the run must reach 50 %. Severity is high if the run does not learn, medium if that is not known,
    and info if it learns.

    ## Why it matters
    A dead ReLU gets no gradient and does not recover. The network is smaller than it was built.

    ## When it is wrong
    A healthy ReLU is zero for about half of all inputs. That is not counted: a dead unit is zero for all of
    them. Wide and sparse networks work without some of their units, so a run that learns gets only a note.

    ## What to try
    A lower learning rate (units die in large steps), LeakyReLU or GELU, biases that start at zero.

    ## Sources
    Lu et al. (2019), Dying ReLU and initialization: theory and numerical examples, arXiv:1903.06733. The
    limit of 50 % is measured: 277 of 279 healthy runs had at most 41 %.
    """
    found = before_break(features, panel(features, "act_zero_fraction"))
    half = found.values[int(late * len(found.values)) :]
    share = column_minima(half)
    if not np.isfinite(share).any():
        raise CannotJudge("too few samples were recorded to call a unit dead")
    high = np.nan_to_num(share) >= dead
    if not high.any():
        return
    worst = int(np.nanargmax(share))
    begin = onset_row(found.values[:, worst], dead)
    start = begin <= head and first_known(found.values, len(found.values))[worst] >= dead
    learning = api.is_learning(features)
    yield Evidence(
        onset=float(found.steps[begin]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        strength=1.0 if learning is False else 0.5,
        severity=api.progress_severity(features, stuck="high", unknown="medium", learns="info"),
        aspects=(
            "from-start" if start else "later",
            *("whole-layer",) * bool(share[worst] >= gone),
            *("learns",) * bool(learning),
        ),
        values={
            "share": float(share[high].min()),
            "more": " or more" if high.sum() > 1 else "",
            "where": name_marked_modules(found, high),
        },
        points=(evidence_at_end("act_zero_fraction", found, worst, share[worst], dead, "0..1"),),
    )


def onset_row(values: api.Floats, dead: float) -> int:
    """First row from which on `values[n]` stay at `dead` or above (unknown ones are skipped)."""
    below = np.flatnonzero(values < dead)
    after = int(below[-1]) + 1 if len(below) else int(np.argmax(np.isfinite(values)))
    return min(after, len(values) - 1)

"""WGT004 weights-grow-unbounded."""

from traindx.features.per_module.panels import evidence_at_end, first_known, panel
from traindx.rules.api import (
    CannotJudge,
    Curve,
    Evidence,
    Features,
    Floats,
    Iterator,
    Run,
    api,
    np,
    rule,
    threshold,
)


@rule(
    code="WGT004",
    needs=("weight_norm|weight_norm/*", "objective"),
    min_points=1,
    severity="high",
    persistence="turning",
    message="the weights grew to {factor:.0f} times their initial norm, most of all {where}",
)
def weights_grow_unbounded(
    run: Run,
    features: Features,
    *,
    factor: float = threshold(
        10.0, "x the first norm", "measured", "279 healthy runs of 58 kinds: 4x at most"
    ),
    vast: float = threshold(50.0, "x the first norm", "measured", "far above any of 279 healthy runs (4x)"),
    head: float = threshold(3, "rows", "convention", "where the first norm is looked for"),
    sudden: float = threshold(0.1, "of the run", "convention", "reached within the first steps"),
) -> Iterator[Evidence]:
    """The weights become many times as large as at the start, and the run does not learn.

    ## What it sees
    The last finite norm of each module divided by its first, as a lower median over the modules. It must
    reach 10 in a run that does not learn (high), or 50 in any other (low). A norm of all weights together is
    judged in the same way.

    ## Why it matters
    Large weights mean saturated or dead units and huge logits. Growth without learning is typical
    after a run has diverged.

    ## When it is wrong
    A head that starts near zero may grow by any factor, which is why the median over the modules counts.
    Without weight decay all networks grow slowly.

    ## What to try
    A lower learning rate or momentum, or weight decay. Look at the step at which the growth began.

    ## Sources
    Merrill et al. (2021), Effects of parameter norm growth during transformer training, arXiv:2010.09697.
    The bound is measured: in 279 healthy runs the weights grew to at most 4 times their first norm.
    """
    whole = features.curve("weight_norm")
    if whole is not None and "weight_norm" not in run.panels:
        yield from growth_of_all(features, whole, factor, vast)
        return
    found = panel(features, "weight_norm")
    values = np.where(np.isfinite(found.values) & (found.values > 0), found.values, np.nan)
    start, end = first_known(values, int(head)), first_known(values[::-1], len(values))
    grown = end / start
    if not np.isfinite(grown).any():
        raise CannotJudge("no finite norm at the start")
    known = np.sort(grown[np.isfinite(grown)])
    level = float(known[(len(known) - 1) // 2])
    learning = api.is_learning(features)
    if level < (factor if learning is False else vast):
        return
    worst = int(np.nanargmax(grown))
    rise = level_over_time(values / start)
    row = int(np.argmax(rise >= min(level, factor) / 2))
    yield Evidence(
        onset=float(found.steps[row]),
        last=float(found.steps[-1]),
        where=found.modules[worst],
        severity="high" if learning is False else "low",
        strength=1.0 if learning is False else 0.5,
        aspects=("sudden" if row <= max(1, sudden * len(rise)) else "gradual",),
        values={"factor": level, "where": found.modules[worst]},
        points=(evidence_at_end("weight_norm", found, worst, end[worst], start[worst]),),
    )


def level_over_time(ratios: Floats) -> Floats:
    """Median over the modules of each row of `ratios[n, m]`; 0 where nothing is known. Shape `[n]`."""
    return np.array(
        [float(api.median(row[np.isfinite(row)])) if np.isfinite(row).any() else 0.0 for row in ratios]
    )


def growth_of_all(features: Features, norm: Curve, factor: float, vast: float) -> Iterator[Evidence]:
    """The same for a logged norm of all weights together."""
    if norm.n < 2 or norm.values[0] <= 0:
        return
    grown, learning = float(norm.values[-1] / norm.values[0]), api.is_learning(features)
    if grown < (factor if learning is False else vast):
        return
    row = int(np.argmax(norm.values >= min(grown, factor) / 2 * norm.values[0]))
    yield Evidence(
        onset=norm.step_at(row),
        last=norm.step_at(norm.n - 1),
        where=norm.name,
        severity="high" if learning is False else "low",
        strength=1.0 if learning is False else 0.5,
        aspects=("sudden" if row <= 1 else "gradual",),
        message=f"the norm of the weights grew from {norm.values[0]:.4g} to {norm.values[-1]:.4g}",
        points=(norm.point(-1, float(norm.values[-1]), float(norm.values[0])),),
    )

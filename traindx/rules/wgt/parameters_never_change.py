"""WGT003 parameters-never-change."""

from traindx.features.per_module.panels import named, panel
from traindx.rules.api import (
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    is_learning,
    np,
    rule,
    threshold,
)


@rule(
    code="WGT003",
    needs=("update_ratio/*", "grad_norm/*", "objective"),
    min_points=1,
    severity="high",
    message="{where} get{s} a gradient and never change{s}",
    follows=(
        "learning-rate-is-zero", "optimizer-never-steps", "parameters-missing-from-optimizer", "steps-skipped-often",
    ),
)  # fmt: skip
def parameters_never_change(
    run: Run,
    features: Features,
    *,
    rows: float = threshold(3, "rows", "convention", "one or two steps may have been skipped"),
    often: float = threshold(0.5, "of the rows", "convention", "a gradient in most steps"),
) -> Iterator[Evidence]:
    """Weights have a gradient and are the same after every step.

    ## What it sees
    Modules with a gradient in most sampled steps and an update of exactly zero in all of them. Critical if
    that is all of them, high if some, low if some in a run that learns well all the same.

    ## Why it matters
    That part of the net is not trained, whatever the curve looks like.

    ## When it is wrong
    A base that is kept as it is while a head is trained on it; a learning rate of zero for a group (during a
    warm-up, or on purpose); rounding in bfloat16, which swallows small updates (a fault as well, but another
    one).

    ## What to try
    Compare the optimizer's parameters with the model's; see that step is reached; look at the rates of all
    groups.

    ## Sources
    TrainCheck (Jiang et al. 2025); fault catalogue rows 13, 14.
    """
    updates, gradients = (
        panel(features, "update_ratio", rows=int(rows)),
        panel(features, "grad_norm", rows=int(rows)),
    )
    names = [m for m in updates.modules if m in gradients.modules]
    moved = updates.values[:, [updates.modules.index(m) for m in names]]
    norms = gradients.values[:, [gradients.modules.index(m) for m in names]]
    known = np.isfinite(moved)
    still = (known.sum(axis=0) >= rows) & ~((moved != 0) & known).any(axis=0)
    still &= (np.nan_to_num(norms) > 0).mean(axis=0) >= often
    if not still.any():
        return
    first = names[int(np.argmax(still))]
    everywhere = bool(still.all())
    listed = named(type(updates)(updates.steps, tuple(names), moved), still)
    yield Evidence(
        onset=float(updates.steps[0]),
        last=float(updates.steps[-1]),
        where=first,
        severity="critical" if everywhere else "low" if is_learning(features) else "high",
        aspects=("all",) if everywhere else ("some",),
        values={"where": listed, "s": "s" if int(still.sum()) == 1 else ""},
        points=(EvidencePoint(f"update_ratio/{first}", float(updates.steps[-1]), 0.0),),
    )

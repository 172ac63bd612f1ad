"""WGT003 parameters-never-change."""

from traindx.features.per_module.panels import name_marked_modules, panel
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="WGT003",
    needs=("update_ratio/*", "grad_norm/*", "objective"),
    min_points=1,
    severity="high",
    message="{where} get{s} a gradient but never change{s}",
    follows=(
        "learning-rate-is-zero", "optimizer-never-steps", "parameters-missing-from-optimizer",
        "steps-skipped-often",
    ),
)  # fmt: skip
def parameters_never_change(
    run: Run,
    features: Features,
    *,
    rows: float = threshold(3, "rows", "convention", "one or two steps may have been skipped"),
    often: float = threshold(0.5, "of the rows", "convention", "a gradient in most steps"),
) -> Iterator[Evidence]:
    """Parameters get a gradient but have the same values after every optimizer step.

    ## What it sees
    Modules with a nonzero gradient in at least half of the recorded steps, and an update of exactly zero in
    all of them (3 steps at least). Severity is critical if that is true of all modules, high if of some, and
    low if of some in a run that learns.

    ## Why it matters
    That part of the network is not trained, whatever the loss curve shows.

    ## When it is wrong
    A frozen base under a trained head, where it is not known what is frozen. A learning rate of zero for a
    parameter group, on purpose or during a warm-up. Rounding in bfloat16, which swallows small updates (also
    a fault, but another one).

    ## What to try
    Compare the parameters of the optimizer with those of the model. Check that `optimizer.step()` is
    reached, and the learning rates of all groups.

    ## Sources
    Jiang et al. (2025), Training with confidence: catching silent errors in deep learning training with
    automated proactive checks (TrainCheck), arXiv:2506.14813.
    """
    updates = panel(features, "update_ratio", rows=int(rows))
    gradients = panel(features, "grad_norm", rows=int(rows))
    frozen = str(run.setup.known("parameters_frozen_names") or "").split(", ")
    left = {name.rpartition(".")[0] for name in frozen}  # with gradients of the time before
    names = [m for m in updates.modules if m in gradients.modules and m not in left]
    moved = updates.values[:, [updates.modules.index(m) for m in names]]
    norms = gradients.values[:, [gradients.modules.index(m) for m in names]]
    known = np.isfinite(moved)
    still = (known.sum(axis=0) >= rows) & ~((moved != 0) & known).any(axis=0)
    still &= (np.nan_to_num(norms) > 0).mean(axis=0) >= often
    if not still.any():
        return
    first = names[int(np.argmax(still))]
    everywhere = bool(still.all())
    listed = name_marked_modules(type(updates)(updates.steps, tuple(names), moved), still)
    yield Evidence(
        onset=float(updates.steps[0]),
        last=float(updates.steps[-1]),
        where=first,
        severity="critical" if everywhere else "low" if api.is_learning(features) else "high",
        aspects=("all",) if everywhere else ("some",),
        values={"where": listed, "s": "s" if int(still.sum()) == 1 else ""},
        points=(EvidencePoint(f"update_ratio/{first}", float(updates.steps[-1]), 0.0),),
    )

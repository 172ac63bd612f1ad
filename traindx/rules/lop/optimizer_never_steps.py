"""LOP007 optimizer-never-steps."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, np, rule, threshold


@rule(
    code="LOP007",
    needs=("setup:backwards_without_step|setup:optimizer_steps",),
    min_points=1,
    severity="critical",
    persistence="brief",
    message="{count:.0f} backward passes, but no optimizer step",
)
def optimizer_never_steps(
    run: Run,
    features: Features,
    *,
    least: float = threshold(10, "backward passes", "convention", "fewer may be accumulation"),
) -> Iterator[Evidence]:
    """Gradients are computed, but no optimizer step is made.

    ## What it sees
    Backward passes without a step of any optimizer, and weights that did not change. Loops that change
    their weights directly are not reported.

    ## Why it matters
    The model learns nothing; the curve shows only batch noise.

    ## When it is wrong
    Accumulation over very many batches; optimizers that are not PyTorch's.

    ## What to try
    Call optimizer.step() after backward. Check that the condition around it can be true, and that a
    GradScaler does not skip every step.

    ## Sources
    PyTorch tutorial, Optimizing model parameters,
    https://docs.pytorch.org/tutorials/beginner/basics/optimization_tutorial.html.
    """
    passes = run.setup.number("backwards_without_step") or 0.0
    steps = run.setup.number("optimizer_steps") or 0.0
    if steps > 0 or passes < least or weights_changed(run):
        return
    yield Evidence(
        values={"count": passes},
        points=(EvidencePoint("backwards_without_step", None, passes, 0.0, "passes"),),
    )


def weights_changed(run: Run) -> bool:
    """Whether any weight changed."""
    updates, norms = run.panels.get("update_ratio"), run.panels.get("weight_norm")
    if updates is not None and bool(np.nan_to_num(updates.values).any()):
        return True
    return norms is not None and len(norms.values) > 1 and bool((norms.values[0] != norms.values[-1]).any())

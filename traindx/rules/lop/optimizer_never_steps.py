"""LOP007 optimizer-never-steps."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, np, rule, threshold


@rule(
    code="LOP007",
    needs=("setup:backwards_without_step|setup:optimizer_steps",),
    min_points=1,
    severity="critical",
    message="{count:.0f} backward passes, and not one optimizer step",
)
def optimizer_never_steps(
    run: Run,
    features: Features,
    *,
    least: float = threshold(10, "backward passes", "convention", "fewer may be accumulation"),
) -> Iterator[Evidence]:
    """Gradients are computed, but no optimizer step is made.

    ## What it sees
    Backward passes without a step of any optimizer, and weights that did not change. Loops that change their
    weights by hand are not meant.

    ## Why it matters
    Nothing is learned; the curve shows the noise of the batches.

    ## When it is wrong
    Accumulation over very many batches; optimizers that are not PyTorch's.

    ## What to try
    Call optimizer.step() after backward; see that the condition around it can be true; with a GradScaler,
    see that not every step is skipped.

    ## Sources
    PyTorch tutorial, Optimizing model parameters; fault catalogue, missing step.
    """
    passes, steps = (
        run.setup.number("backwards_without_step") or 0.0,
        run.setup.number("optimizer_steps") or 0.0,
    )
    if steps > 0 or passes < least or moved(run):
        return
    yield Evidence(
        values={"count": passes},
        points=(EvidencePoint("backwards_without_step", None, passes, 0.0, "passes"),),
    )


def moved(run: Run) -> bool:
    """Whether any weight was seen to change."""
    updates, norms = run.panels.get("update_ratio"), run.panels.get("weight_norm")
    if updates is not None and bool(np.nan_to_num(updates.values).any()):
        return True
    return norms is not None and len(norms.values) > 1 and bool((norms.values[0] != norms.values[-1]).any())

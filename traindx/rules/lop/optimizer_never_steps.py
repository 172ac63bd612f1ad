"""LOP007 optimizer-never-steps."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, np, rule, threshold


@rule(
    code="LOP007",
    needs=("setup:backwards_without_step|setup:optimizer_steps",),
    min_points=1,
    severity="critical",
    persistence="brief",
    message="{count:.0f} backward passes, but {missing}",
)
def optimizer_never_steps(
    run: Run,
    features: Features,
    *,
    least: float = threshold(10, "backward passes", "convention", "fewer may be accumulation"),
) -> Iterator[Evidence]:
    """Gradients are computed, but no optimizer step is made, or only after they were zeroed.

    ## What it sees
    Backward passes without a step of any optimizer, and weights that did not change. Loops that change their
    weights directly are not reported. Steps between `zero_grad()` and the next backward pass are reported
    too, if no parameter had a gradient at any of them.

    ## Why it matters
    The model learns nothing; the curve shows only batch noise.

    ## When it is wrong
    Gradients may be accumulated over very many batches. An optimizer that is not PyTorch's is not seen.

    ## What to try
    Call optimizer.step() after backward, and zero_grad() before backward or after the step. Check that the
    condition around it can be true, and that a GradScaler does not skip every step.

    ## Sources
    PyTorch tutorial, Optimizing model parameters,
    https://docs.pytorch.org/tutorials/beginner/basics/optimization_tutorial.html.
    """
    passes = run.setup.number("backwards_without_step") or 0.0
    steps, wasted = (
        run.setup.number("optimizer_steps") or 0.0,
        run.setup.number("steps_after_zeroing") or 0.0,
    )
    if max(passes, wasted) < least or steps > wasted or weights_changed(run):
        return
    missing = "gradients are zeroed before each step" if wasted else "no optimizer step"
    yield Evidence(
        values={"count": passes or wasted, "missing": missing},
        points=(EvidencePoint("backwards_without_step", None, passes, 0.0, "passes"),),
    )


def weights_changed(run: Run) -> bool:
    """Whether any weight changed."""
    updates, norms = run.panels.get("update_ratio"), run.panels.get("weight_norm")
    if updates is not None and bool(np.nan_to_num(updates.values).any()):
        return True
    return norms is not None and len(norms.values) > 1 and bool((norms.values[0] != norms.values[-1]).any())

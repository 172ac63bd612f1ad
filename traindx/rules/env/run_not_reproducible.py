"""ENV002 run-not-reproducible."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV002",
    needs=("setup:repeat_difference", "setup:repeat_steps"),
    min_points=1,
    severity="medium",
    message="with the same seed, two starts differ in the loss from step {first:.0f} on, by up to "
    "{difference:.2g} of it",
)
def run_not_reproducible(
    run: Run,
    features: Features,
    *,
    rounding: float = threshold(
        1e-3, "of the loss", "convention", "sums in another order differ far less in 100 steps"
    ),
    rounding_first: float = threshold(
        1e-4, "of the loss", "convention", "the first step cannot amplify rounding"
    ),
) -> Iterator[Evidence]:
    """Two starts of the same script with the same seed give different losses.

    ## What it sees
    The losses of two starts, step by step (measured by `traindx check`). Severity is medium: the script sets
    seeds, or seeds were set for it, and still the losses differ by more than rounding can explain.

    ## Why it matters
    Some source of randomness is not seeded: a library, the clock, the order of a set or of files, threads.
    Two experiments then differ although nothing was changed.

    ## When it is wrong
    Some operations of an accelerator are nondeterministic by design. Chaotic training amplifies rounding
    within a few hundred steps.

    ## What to try
    Seed every library that draws random numbers (torch, numpy, random, the loader's generator and its
    workers), sort lists of files, and call torch.use_deterministic_algorithms(True).

    ## Sources
    PyTorch documentation, Reproducibility, https://docs.pytorch.org/docs/stable/notes/randomness.html.
    """
    difference = run.setup.number("repeat_difference") or 0.0
    at_once = run.setup.number("repeat_first_loss_difference") or 0.0
    seeded = run.setup.word("seeds_set") not in ("", "none") or bool(run.setup.flag("repeat_seeded"))
    if not seeded or (difference <= rounding and at_once <= rounding_first):
        return
    first = run.setup.number("repeat_first_difference") or 1.0
    yield Evidence(
        severity="medium"
        if at_once > rounding_first or not run.setup.word("device").startswith("cuda")
        else "low",
        aspects=("from-start",) if at_once > rounding_first else ("later",),
        values={"first": first, "difference": difference},
        points=(EvidencePoint("repeat_difference", None, difference, rounding, "of the loss"),),
    )

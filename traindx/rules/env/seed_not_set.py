"""ENV001 seed-not-set."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV001",
    needs=("setup:seeds_set",),
    min_points=1,
    severity="info",
    message="the script sets no random seed: weights and order of the data are others at every start",
)
def seed_not_set(
    run: Run,
    features: Features,
    *,
    differs: float = threshold(
        0.01, "of the loss", "convention", "two starts that are told apart in the first digits"
    ),
) -> Iterator[Evidence]:
    """No random number generator is given a seed.

    ## What it sees
    The capture, which sees the calls that set a seed (torch, numpy, random), saw none. Information; low
    where two starts were compared and their losses differ by more than 1 %.

    ## Why it matters
    What cannot be repeated cannot be compared: a change of 1 % may be the change that was made, or another
    initialization.

    ## When it is wrong
    Seeds set by a library, in a configuration, or before the capture looked; runs over several seeds that
    are not meant to repeat.

    ## What to try
    `torch.manual_seed(0)` before the model is made, a seeded generator for the loader, and the same for numpy
    and random where they are used.

    ## Sources
    PyTorch documentation, Reproducibility; Bouthillier et al. (2021), Accounting for variance in machine
    learning benchmarks.
    """
    if run.setup.word("seeds_set") not in ("", "none") or run.setup.seed is not None:
        return
    found = run.setup.number("repeat_difference")
    yield Evidence(
        severity="low" if found is not None and found > differs else "info",
        strength=1 / 4,
        points=(EvidencePoint("repeat_difference", None, found or 0.0, differs, "of the loss"),),
    )

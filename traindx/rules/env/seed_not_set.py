"""ENV001 seed-not-set."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV001",
    needs=("setup:seeds_set",),
    min_points=1,
    severity="info",
    message="the script sets no random seed, so weights and data order differ at every start",
)
def seed_not_set(
    run: Run,
    features: Features,
    *,
    differs: float = threshold(0.01, "of the loss", "convention", "a difference in the first digits"),
) -> Iterator[Evidence]:
    """No random number generator is seeded.

    ## What it sees
    No call that sets a seed (torch, numpy, random) was recorded. Severity is info, and low if two starts were
    compared and their losses differ by more than 1 %.

    ## Why it matters
    Runs that cannot be repeated cannot be compared: a difference of 1 % may come from a change or from
    another initialization.

    ## When it is wrong
    A library, a configuration, or code that ran before recording began may set the seed. Runs may be repeated
    over several seeds on purpose.

    ## What to try
    Call `torch.manual_seed(0)` before the model is built, use a seeded generator for the loader, and
    seed numpy and random where they are used.

    ## Sources
    PyTorch documentation, Reproducibility, https://docs.pytorch.org/docs/stable/notes/randomness.html;
    Bouthillier et al. (2021), https://arxiv.org/abs/2103.03098.
    """
    if run.setup.word("seeds_set") not in ("", "none") or run.setup.seed is not None:
        return
    found = run.setup.number("repeat_difference")
    yield Evidence(
        severity="low" if found is not None and found > differs else "info",
        strength=1 / 4,
        points=(EvidencePoint("repeat_difference", None, found or 0.0, differs, "of the loss"),),
    )

"""ENV003 versions-unpinned."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV003",
    needs=("setup:pins_file",),
    min_points=1,
    severity="info",
    message="{what}",
)
def versions_unpinned(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "packages", "theory", "a pin names one version"),
) -> Iterator[Evidence]:
    """The versions that the run needs are not written down, or others are running.

    ## What it sees
    The packages that the script imports, beside the pins of a lock file, requirements.txt, pyproject.toml or
    environment.yml next to it. Medium where another version is running than the one that is pinned;
    information where there is no pin.

    ## Why it matters
    Defaults and numerics change between versions; a run that cannot be repeated next year cannot be checked.

    ## When it is wrong
    Environments that are pinned elsewhere (an image, a module system).

    ## What to try
    Write the versions down (pip freeze, uv lock); install what is pinned.

    ## Sources
    Pip documentation, Repeatable installs; Pineau et al. (2021), Improving reproducibility in machine
    learning research.
    """
    file, setup = str(run.setup.known("pins_file") or "none"), run.setup
    wrong, loose = str(setup.known("pins_mismatched") or ""), str(setup.known("pins_missing") or "")
    counts = [float(len([w for w in text.split(",") if w.strip()])) for text in (wrong, loose)]
    if counts[0] > any_at_all:
        what = f"{file} pins other versions than those that are running: {wrong}"
    elif file == "none":
        what = "no file beside the script says which versions it needs"
    elif counts[1] > any_at_all:
        what = f"{file} names no version of {loose}"
    else:
        return
    yield Evidence(
        severity="medium" if counts[0] > any_at_all else "info",
        strength=1 / 4,
        aspects=("mismatch",) if counts[0] > any_at_all else ("missing",),
        values={"what": what},
        points=(EvidencePoint("pins_mismatched", None, counts[0], 0.0, "packages"),),
    )

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
    """The package versions of the run are not pinned, or other versions are running.

    ## What it sees
    The packages that the script imports, compared with the pins in a lock file, requirements.txt,
    pyproject.toml or environment.yml next to it. Severity is medium if the running version differs from the
    pinned one, and info if there is no pin.

    ## Why it matters
    Defaults and numerics change between versions, so the run may not be repeatable next year.

    ## When it is wrong
    The environment may be pinned elsewhere (a container image, a module system).

    ## What to try
    Pin the versions (pip freeze, uv lock), and install the pinned versions.

    ## Sources
    pip documentation, Repeatable installs, https://pip.pypa.io/en/stable/topics/repeatable-installs/;
    Pineau et al. (2021), https://arxiv.org/abs/2003.12206.
    """
    file, setup = str(run.setup.known("pins_file") or "none"), run.setup
    wrong, loose = str(setup.known("pins_mismatched") or ""), str(setup.known("pins_missing") or "")
    counts = [float(len([w for w in text.split(",") if w.strip()])) for text in (wrong, loose)]
    if counts[0] > any_at_all:
        what = f"the running versions differ from those in {file}: {wrong}"
    elif file == "none":
        what = "no file next to the script pins the versions that it needs"
    elif counts[1] > any_at_all:
        what = f"{file} does not pin the version of {loose}"
    else:
        return
    yield Evidence(
        severity="medium" if counts[0] > any_at_all else "info",
        strength=1 / 4,
        aspects=("mismatch",) if counts[0] > any_at_all else ("missing",),
        values={"what": what},
        points=(EvidencePoint("pins_mismatched", None, counts[0], 0.0, "packages"),),
    )

"""DAT014 files-unreadable."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT014",
    needs=("setup:files_checked", "setup:files_unreadable"),
    min_points=1,
    severity="high",
    message="{count:.0f} of {all:.0f} files cannot be read: {where}",
)
def files_unreadable(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "files", "theory", "a single one ends the epoch"),
) -> Iterator[Evidence]:
    """Image or audio files are empty, truncated, or not of the type that their name says.

    ## What it sees
    Files that their library cannot decode. Without the library: files whose first bytes match no known
    format, or that are shorter than their header says.

    ## Why it matters
    The loader raises in the middle of an epoch. Or it silently skips, pads or repeats samples, and the
    model trains on that.

    ## When it is wrong
    Files of unknown formats are not counted; they are listed as not checked.

    ## What to try
    Download the files again, or remove them from the list.

    ## Sources
    The specifications of PNG (https://www.w3.org/TR/png/), JFIF, RIFF and FLAC.
    """
    count, total = run.setup.number("files_unreadable"), run.setup.number("files_checked") or 0.0
    if count is None or count <= any_at_all:
        return
    yield Evidence(
        values={
            "count": count,
            "all": total,
            "where": run.setup.facts.get("files_unreadable_where") or "not named",
        },
        points=(EvidencePoint("files_unreadable", None, count, 0.0, "files"),),
    )

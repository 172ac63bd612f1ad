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
    any_at_all: float = threshold(0, "files", "theory", "a single one ends the epoch that reaches it"),
) -> Iterator[Evidence]:
    """Image or sound files are empty, cut short, or not what their name says.

    ## What it sees
    Files that their library cannot decode; without the library, files whose first bytes fit no known format,
    or whose length is less than their header promises.

    ## Why it matters
    The loader raises in the middle of an epoch; or it skips, pads or repeats in silence, and the net trains
    on that.

    ## When it is wrong
    Formats that are not known here are not counted, they are named as not checked.

    ## What to try
    Fetch the files again, or drop them from the list.

    ## Sources
    File format specifications (PNG, JFIF, RIFF, FLAC); standard advice.
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

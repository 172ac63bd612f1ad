"""ENV007 disk-space-short."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV007",
    needs=("setup:disk_free", "setup:disk_needed"),
    min_points=1,
    severity="medium",
    message="{free:.2g} GB are free on the disk, and the run's checkpoints need about {needed:.2g} GB",
)
def disk_space_short(
    run: Run,
    features: Features,
    *,
    gigabyte: float = threshold(1e9, "bytes", "theory", "the unit of the message"),
) -> Iterator[Evidence]:
    """The disk cannot hold the checkpoints of the run.

    ## What it sees
    Free bytes of the folder's file system, beside the bytes of two checkpoints (weights, gradients' and
    optimizer's state) or of what the first steps wrote, scaled to the planned length.

    ## Why it matters
    A full disk ends a run in its last hour, often with a damaged checkpoint.

    ## When it is wrong
    Checkpoints that go elsewhere; quotas, which are tighter than the free space.

    ## What to try
    Remove old checkpoints, keep the last few only, write to another disk.

    ## Sources
    POSIX statvfs; requirements (resources before the run).
    """
    free, needed = run.setup.number("disk_free") or 0.0, run.setup.number("disk_needed") or 0.0
    if free >= needed:
        return
    yield Evidence(
        values={"free": free / gigabyte, "needed": needed / gigabyte},
        points=(EvidencePoint("disk_free", None, free, needed, "bytes"),),
    )

"""ENV007 disk-space-short."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV007",
    needs=("setup:disk_free", "setup:disk_needed"),
    min_points=1,
    severity="medium",
    message="{free:.2g} GB are free on the disk, but the checkpoints of the run need about {needed:.2g} GB",
)
def disk_space_short(
    run: Run,
    features: Features,
    *,
    gigabyte: float = threshold(1e9, "bytes", "theory", "the unit of the message"),
) -> Iterator[Evidence]:
    """The disk cannot hold the checkpoints of the run.

    ## What it sees
    The free bytes of the file system are compared with the bytes that the run will write: two checkpoints
    (weights, gradients and optimizer state), or the files of the first steps, scaled to the planned length.

    ## Why it matters
    A full disk ends a run in its last hour, often with a damaged checkpoint.

    ## When it is wrong
    Checkpoints may be written elsewhere. A quota may allow less than the free space.

    ## What to try
    Remove old checkpoints, keep only the last few, or write to another disk.

    ## Sources
    POSIX statvfs, https://pubs.opengroup.org/onlinepubs/9799919799/functions/statvfs.html.
    """
    free, needed = run.setup.number("disk_free") or 0.0, run.setup.number("disk_needed") or 0.0
    if free >= needed:
        return
    yield Evidence(
        values={"free": free / gigabyte, "needed": needed / gigabyte},
        points=(EvidencePoint("disk_free", None, free, needed, "bytes"),),
    )

"""ENV005 checkpoint-unreadable."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV005",
    needs=("setup:checkpoints_seen", "setup:checkpoints_unreadable"),
    min_points=1,
    severity="medium",
    message="{count:.0f} of {seen:.0f} checkpoint files cannot be read: {names}",
)
def checkpoint_unreadable(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "files", "theory", "a checkpoint must be readable"),
) -> Iterator[Evidence]:
    """A checkpoint file next to the script is damaged.

    ## What it sees
    Files that are named like checkpoints and whose container is broken: a zip archive without its index,
    a wrong checksum, tensors that extend beyond the end of the file. They are inspected and never
    unpickled.

    ## Why it matters
    A resume fails hours later, or the only copy of a long run is already lost.

    ## When it is wrong
    Another process may be writing the file at this moment. Another kind of file may have the same suffix.

    ## What to try
    Load an older checkpoint. Write checkpoints to a temporary name and rename them when they are
    complete. Check for a full disk.

    ## Sources
    Safetensors format, https://huggingface.co/docs/safetensors; PyTorch, Serialization semantics,
    https://docs.pytorch.org/docs/stable/notes/serialization.html.
    """
    count, seen = (
        run.setup.number("checkpoints_unreadable") or 0.0,
        run.setup.number("checkpoints_seen") or 0.0,
    )
    if count <= any_at_all:
        return
    yield Evidence(
        values={
            "count": count,
            "seen": seen,
            "names": run.setup.known("checkpoints_unreadable_names") or "",
        },
        points=(EvidencePoint("checkpoints_unreadable", None, count, 0.0, "files"),),
    )

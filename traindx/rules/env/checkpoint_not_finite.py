"""ENV006 checkpoint-not-finite."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV006",
    needs=("setup:checkpoints_seen", "setup:checkpoints_not_finite"),
    min_points=1,
    severity="medium",
    persistence="at-once",
    message="{count:.0f} of {seen:.0f} checkpoint files contain values that are not finite: {names}",
)
def checkpoint_not_finite(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "files", "theory", "one such weight ruins every output"),
) -> Iterator[Evidence]:
    """A checkpoint file next to the script contains NaN or infinite weights.

    ## What it sees
    Floating-point tensors in safetensors files and in the zip archives that torch.save writes, read as
    bytes.

    ## Why it matters
    Training that starts from it is lost from the first step, because of the run that wrote it.

    ## When it is wrong
    Masks and positions may contain infinities on purpose (attention masks of -inf).

    ## What to try
    Go back to a checkpoint from before the loss became NaN. Do not save after a non-finite step.

    ## Sources
    IEEE 754 arithmetic, https://doi.org/10.1109/IEEESTD.2019.8766229.
    """
    count, seen = (
        run.setup.number("checkpoints_not_finite") or 0.0,
        run.setup.number("checkpoints_seen") or 0.0,
    )
    if count <= any_at_all:
        return
    yield Evidence(
        values={
            "count": count,
            "seen": seen,
            "names": run.setup.known("checkpoints_not_finite_names") or "",
        },
        points=(EvidencePoint("checkpoints_not_finite", None, count, 0.0, "files"),),
    )

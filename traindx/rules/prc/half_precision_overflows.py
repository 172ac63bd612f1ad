"""PRC001 half-precision-overflows."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="PRC001",
    needs=("loss_scale",),
    min_points=5,
    severity="medium",
    message="the loss scale was halved {count:.0f} times because gradients overflowed in half precision",
    follows=("gradient-norm-explodes", "loss-not-finite"),
)
def half_precision_overflows(
    run: Run,
    features: Features,
    *,
    halved: float = threshold(4, "halvings in a row", "convention", "16-fold; a single one is normal"),
    rest: float = threshold(3, "rows without a fall", "measured", "then the first scale is found"),
    pause: float = threshold(0.1, "of the run", "convention", "falls further apart are unrelated"),
    usual: float = threshold(2.0**14, "scale", "convention", "fp16 runs settle at 2**15 to 2**20"),
    worse: float = threshold(0.1, "of the earlier loss", "convention", "a visible rise"),
    score: float = threshold(4.0, "x noise of the loss", "convention", "1 in 15,000 under normal noise"),
) -> Iterator[Evidence]:
    """The dynamic loss scale is halved again and again.

    ## What it sees
    A loss scale that, after its first search, falls at least 16-fold without a rise or a long pause in
    between. Severity is medium if the loss or the gradient norm becomes not finite later or the loss ends
    higher, and low otherwise. If the first search has not ended by the end of the log, it is low, and only
    below a scale of 2**14.

    ## Why it matters
    Each halving is a step whose gradients did not fit into half precision and which was skipped. Many in a
    row mean that the gradients themselves grow.

    ## When it is wrong
    Every fp16 run starts with a scale that is too high and halves it up to twenty times. About every 2,000
    steps it tries a higher scale and halves it once.

    ## What to try
    Look at the gradient norm and the loss at the onset. bfloat16 has the range of float32.

    ## Sources
    Micikevicius et al. (2018), Mixed precision training, arXiv:1710.03740. PyTorch, `GradScaler`:
    https://docs.pytorch.org/docs/stable/amp.html.
    """
    curve = features.needed_curve("loss_scale")
    steps, scale = curve.steps[curve.values > 0], curve.values[curve.values > 0]
    if len(scale) == 0:
        raise CannotJudge("the loss scale is never positive, so it is not in use")
    begin, fell = api.settling_row(scale, rows=int(rest)), api.halvings(scale)
    if begin is None:
        deep = [(0, len(scale) - 1)] if fell.sum() >= halved and scale[-1] < usual else []
    else:
        found = fall_chains(fell, begin, max(rest, pause * len(scale)))
        deep = [(a, b) for a, b in found if fell[a : b + 1].sum() >= halved]
    if not deep:
        return
    first = int(np.argmax(fell > 0)) if begin is None else deep[0][0]
    hurt = begin is not None and api.is_worse_from(features, float(steps[first]), share=worse, score=score)
    yield Evidence(
        onset=float(steps[first]),
        last=float(steps[deep[-1][1]]),
        strength=1.0 if hurt else 0.5,
        severity="medium" if hurt else "low",
        aspects=("from-start" if begin is None else "later",),
        values={"count": sum(float(fell[a : b + 1].sum()) for a, b in deep)},
        points=(
            api.EvidencePoint(
                "loss_scale", float(steps[first]), float(scale[first]), float(scale[first - 1])
            ),
        ),
    )


def fall_chains(fell: api.Floats, begin: int, pause: float) -> list[tuple[int, int]]:
    """First and last row of each chain of falls after row `begin`: no rise and at most `pause` rows between
    two."""
    found: list[tuple[int, int]] = []
    for row in np.flatnonzero(fell > 0):
        if row <= begin:
            continue
        if found and row - found[-1][1] <= pause and not np.any(fell[found[-1][1] : row] < 0):
            found[-1] = (found[-1][0], int(row))
        else:
            found.append((int(row), int(row)))
    return found

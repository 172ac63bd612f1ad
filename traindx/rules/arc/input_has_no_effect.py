"""ARC007 input-has-no-effect."""

from traindx.features.per_module.panels import panel
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    by_progress,
    np,
    rule,
    threshold,
)


@rule(
    code="ARC007",
    needs=("act_rank/*|setup:blank_batch_end",),
    min_points=1,
    severity="high",
    message="the output is the same for every input, from the start to the end",
    follows=(
        "weights-start-badly-scaled",
        "relu-units-dead",
        "output-cannot-reach-targets",
    ),
)
def input_has_no_effect(
    run: Run,
    features: Features,
    *,
    rank: float = threshold(
        0.5, "effective rank", "theory", "outputs that vary have 1 and more; constant ones 0"
    ),
    share: float = threshold(
        0.9, "of the rows", "convention", "an accident of a few batches does not count"
    ),
    rows: float = threshold(3, "rows", "convention", "a median needs three"),
    better: float = threshold(
        0.1, "of the loss with blank inputs", "convention", "inputs that help do so by far more"
    ),
    alike: float = threshold(1e-6, "of the loss", "theory", "rounding of single precision"),
    moved: float = threshold(0.02, "of the first loss", "convention", "less is no learning"),
) -> Iterator[Evidence]:
    """What goes in makes no difference to what comes out.

    ## What it sees
    An effective rank of 0 of the last measured module from the first sampled step on, in nine of ten rows.
    After traindx check also: trained on one batch, the loss falls no lower with its inputs than without them
    (all blank), and is not learned by heart; or it is the same at every step.

    ## Why it matters
    The model cannot tell any two samples apart: it can learn the most frequent answer and no more.

    ## When it is wrong
    The last module in the list need not be the output; a batch of equal samples.

    ## What to try
    Look for weights of zero, a softmax over one unit, a branch that is multiplied by zero, inputs that are
    all equal.

    ## Sources
    TheDeepChecker (Ben Braiek, Khomh 2023), the zeroed-input control; fault catalogue rows 33, 45.
    """
    if run.setup.known("blank_batch_end") is not None:
        yield from no_better_than_blank(run, better, moved, alike)
        return
    found = panel(features, "act_rank", rows=int(rows))
    last = found.values[:, -1]
    known = last[np.isfinite(last)]
    if len(known) < rows:
        raise CannotJudge("the output was not measured")
    flat = known < rank
    if not flat[0] or float(flat.mean()) < share:
        return
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[-1]),
        where=found.modules[-1],
        severity=by_progress(features, stuck="high", unknown="medium", learns="info"),
        points=(
            EvidencePoint(f"act_rank/{found.modules[-1]}", float(found.steps[-1]), float(known[-1]), rank),
        ),
    )


def no_better_than_blank(run: Run, better: float, moved: float, alike: float) -> Iterator[Evidence]:
    """What two experiments on one batch say: with its inputs, and with blank ones."""
    names = ("one_batch_start", "one_batch_end", "blank_batch_end")
    start, real, blank = (run.setup.number(name) for name in names)
    if start is None or real is None or blank is None or start <= 0:
        raise CannotJudge("a loss on one batch is not finite")
    difference = run.setup.number("blank_batch_difference")
    same = difference is not None and difference <= alike
    if not same and real < 0.5 * start and blank < 0.5 * start:
        raise CannotJudge("the targets of the batch are learned without inputs")
    if not same and max(start - real, start - blank) < moved * start:
        raise CannotJudge("nothing was learned of the one batch, with or without inputs")
    if not same and real < (1 - better) * blank:
        return
    yield Evidence(
        aspects=("blank",),
        message=f"on one batch the loss ends at {real:.3g} with its inputs and at {blank:.3g} with blank ones",
        points=(EvidencePoint("one_batch_end", None, real, (1 - better) * blank, "loss"),),
    )

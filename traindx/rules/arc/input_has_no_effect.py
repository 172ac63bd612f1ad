"""ARC007 input-has-no-effect."""

from traindx.features.per_module.panels import panel
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="ARC007",
    needs=("act_rank/*|setup:blank_batch_end",),
    min_points=1,
    severity="high",
    message="the output is the same for every input during the whole run",
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
        0.5, "effective rank", "theory", "varying outputs have 1 or more, constant ones 0"
    ),
    share: float = threshold(0.9, "of the rows", "convention", "a few such batches do not count"),
    rows: float = threshold(3, "rows", "convention", "a median needs three"),
    better: float = threshold(
        0.1, "of the loss with blank inputs", "convention", "useful inputs help far more"
    ),
    alike: float = threshold(1e-6, "of the loss", "theory", "rounding of single precision"),
    moved: float = threshold(0.02, "of the first loss", "convention", "a smaller fall is not learning"),
) -> Iterator[Evidence]:
    """The input makes no difference to the output.

    ## What it sees
    An effective rank of 0 of the last recorded module from the first sampled step on, in nine of ten rows.
    `traindx check` also trains on one batch, with its inputs and with blank inputs. It reports if the inputs
    bring no lower loss and the batch is not memorized, or if the loss is the same at every step.

    ## Why it matters
    The model cannot distinguish samples, so it can learn only the most frequent answer.

    ## When it is wrong
    The last module in the list may not be the output of the model. The samples of a batch may all be equal.

    ## What to try
    Look for weights of zero, a softmax over one unit, a branch multiplied by zero, or inputs that are
    all equal.

    ## Sources
    Ben Braiek, Khomh (2023), Testing feedforward neural networks training programs,
    https://arxiv.org/abs/2204.00694.
    """
    if run.setup.known("blank_batch_end") is not None:
        yield from no_better_than_blank(run, better, moved, alike)
        return
    ranks = panel(features, "act_rank", rows=int(rows))
    last = ranks.values[:, -1]
    known = last[np.isfinite(last)]
    if len(known) < rows:
        raise CannotJudge("the output was not measured")
    flat = known < rank
    if not flat[0] or float(flat.mean()) < share:
        return
    yield Evidence(
        onset=float(ranks.steps[0]),
        last=float(ranks.steps[-1]),
        where=ranks.modules[-1],
        severity=api.progress_severity(features, stuck="high", unknown="medium", learns="info"),
        points=(
            api.EvidencePoint(
                f"act_rank/{ranks.modules[-1]}", float(ranks.steps[-1]), float(known[-1]), rank
            ),
        ),
    )


def no_better_than_blank(run: Run, better: float, moved: float, alike: float) -> Iterator[Evidence]:
    """The outcome of two experiments on one batch: with its inputs, and with blank inputs."""
    names = ("one_batch_start", "one_batch_end", "blank_batch_end")
    start, real, blank = (run.setup.number(name) for name in names)
    if start is None or real is None or blank is None or start <= 0:
        raise CannotJudge("a loss on one batch is not finite")
    difference = run.setup.number("blank_batch_difference")
    same = difference is not None and difference <= alike
    if not same and real < 0.5 * start and blank < 0.5 * start:
        raise CannotJudge("the targets of the batch are learned without inputs")
    if not same and max(start - real, start - blank) < moved * start:
        raise CannotJudge("the batch was not learned, with or without inputs")
    if not same and real < (1 - better) * blank:
        return
    yield Evidence(
        aspects=("blank",),
        message=f"on one batch the loss ends at {real:.3g}, and at {blank:.3g} with blank inputs",
        points=(api.EvidencePoint("one_batch_end", None, real, (1 - better) * blank, "loss"),),
    )

"""ACT005 predictions-collapse."""

from traindx.features.curves.progress import young
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    by_progress,
    is_learning,
    median,
    np,
    rule,
    threshold,
)

NAMES = ("val_outputs_majority_share", "outputs_majority_share")


@rule(
    code="ACT005",
    needs=("val_outputs_majority_share|outputs_majority_share", "setup:class_majority_share", "objective"),
    min_points=1,
    severity="high",
    message="{share:.0%} of the samples are given one and the same class; the most frequent one has {usual:.0%}",
    follows=(
        "activations-collapse",
        "relu-units-dead",
        "activations-not-finite",
        "classes-imbalanced",
        "loss-not-finite",
        "loss-diverges",
        "loss-at-chance",
        "loss-flat-from-start",
    ),
)
def predictions_collapse(
    run: Run,
    features: Features,
    *,
    nearly: float = threshold(
        0.97, "of the samples", "measured", "51 small trainings: 1.00 where collapsed, else 0.71 at most"
    ),
    above: float = threshold(
        0.1, "of the samples", "convention", "what the labels' own imbalance does not explain"
    ),
    late: float = threshold(0.5, "of the rows", "convention", "early answers are guesses"),
    sorted_batches: float = threshold(
        0.1, "of the batches", "convention", "of one class: their answers are too"
    ),
) -> Iterator[Evidence]:
    """All samples are given the same class.

    ## What it sees
    The most frequent answer's share of an evaluation pass (else of a training batch), in the median of the
    second half: nearly all, and more than the most frequent label has. High where the run does not learn,
    medium where that cannot be told, information where it learns.

    ## Why it matters
    The answer does not depend on the input; an accuracy is that of the most frequent class.

    ## When it is wrong
    Labels of nearly one class, where that is the best answer; training batches sorted by class are not
    judged.

    ## What to try
    Look at the first module whose output is the same for all inputs, at the scale of inputs and weights, and
    at the learning rate.

    ## Sources
    Fault catalogue rows 1, 24, 30, 33, 37; Karpathy (2019), A recipe for training neural networks.
    """
    name = next(n for n in NAMES if n in run.series)
    if features.is_game or young(run):
        raise CannotJudge(
            "players are not asked for classes" if features.is_game else "needs a hundred steps"
        )
    if name == NAMES[1] and (run.setup.number("batch_single_class_share") or 0.0) >= sorted_batches:
        raise CannotJudge("training batches hold one class each, and no evaluation was seen")
    curve, usual = features.needed_curve(name), run.setup.number("val_class_majority_share")
    usual = run.setup.number("class_majority_share") if usual is None else usual
    if usual is None or not curve.n:
        raise CannotJudge("the classes are not known")
    first = int(late * curve.n)
    share = float(median(curve.values[first:]))
    if share < nearly or share - usual < above:
        return
    before = np.flatnonzero(curve.values < nearly)
    begin = min(int(before[-1]) + 1 if len(before) else 0, curve.n - 1)
    yield Evidence(
        onset=curve.step_at(begin),
        last=curve.step_at(curve.n - 1),
        severity=by_progress(features, stuck="high", unknown="medium", learns="info"),
        strength=1.0 if is_learning(features) is False else 0.5,
        aspects=("from-start" if begin == 0 else "later",),
        values={"share": share, "usual": usual},
        points=(EvidencePoint(name, curve.step_at(curve.n - 1), share, usual, "0..1"),),
    )

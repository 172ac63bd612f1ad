"""ACT005 predictions-collapse."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold

NAMES = ("val_outputs_majority_share", "outputs_majority_share")


@rule(
    code="ACT005",
    needs=("val_outputs_majority_share|outputs_majority_share", "setup:class_majority_share", "objective"),
    min_points=1,
    severity="high",
    message="{share:.0%} of the predictions are the same class; the most frequent class has "
    "{usual:.0%} of the labels",
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
        0.97, "of the samples", "measured", "51 trainings: 1.00 collapsed, else <= 0.71"
    ),
    above: float = threshold(0.1, "of the samples", "convention", "more than imbalanced labels explain"),
    late: float = threshold(0.5, "of the rows", "convention", "early predictions are guesses"),
    sorted_batches: float = threshold(
        0.1, "of the batches", "convention", "of one class: so are their predictions"
    ),
) -> Iterator[Evidence]:
    """The network predicts the same class for all samples.

    ## What it sees
    The share of the most frequent prediction, on the validation set or else in a training batch. Its median
    over the second half of the run must reach 97 %, and exceed the share of the most frequent label by 10
    percentage points. Severity is high if the run does not learn, medium if that is not known, and info if it
    learns.

    ## Why it matters
    The prediction does not depend on the input. The accuracy is the share of that class.

    ## When it is wrong
    If nearly all labels are of one class, predicting it is right. Training batches that hold one class each
    are not judged.

    ## What to try
    Look for the first module whose output is the same for all inputs. Check the scale of inputs and weights,
    and the learning rate.

    ## Sources
    Karpathy (2019), A recipe for training neural networks, https://karpathy.github.io/2019/04/25/recipe/. The
    limit of 97 % is measured: in 51 small trainings the share was 100 % after a collapse, and at most 71 %
    otherwise.
    """
    name = next(n for n in NAMES if n in run.series)
    if features.is_game or api.is_too_short(run):
        raise CannotJudge(
            "several networks play against each other" if features.is_game else "needs 100 steps"
        )
    if name == NAMES[1] and (run.setup.number("batch_single_class_share") or 0.0) >= sorted_batches:
        raise CannotJudge("training batches hold one class each, and there was no evaluation")
    curve, usual = features.needed_curve(name), run.setup.number("val_class_majority_share")
    usual = run.setup.number("class_majority_share") if usual is None else usual
    if usual is None or not curve.n:
        raise CannotJudge("the classes of the labels are not known")
    first = int(late * curve.n)
    share = float(api.median(curve.values[first:]))
    if share < nearly or share - usual < above:
        return
    before = np.flatnonzero(curve.values < nearly)
    begin = min(int(before[-1]) + 1 if len(before) else 0, curve.n - 1)
    yield Evidence(
        onset=curve.step_at(begin),
        last=curve.step_at(curve.n - 1),
        severity=api.progress_severity(features, stuck="high", unknown="medium", learns="info"),
        strength=1.0 if api.is_learning(features) is False else 0.5,
        aspects=("from-start" if begin == 0 else "later",),
        values={"share": share, "usual": usual},
        points=(api.EvidencePoint(name, curve.step_at(curve.n - 1), share, usual, "0..1"),),
    )

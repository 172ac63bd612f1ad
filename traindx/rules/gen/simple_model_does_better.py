"""GEN010 simple-model-does-better."""

from traindx.features.comparisons.predictor_gap import PredictorGap, predictor_gap
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold

NOTHING = "no-better-than-trivial"
WORDS = {
    "linear": "a linear model",
    "neighbours": "a nearest-neighbor classifier",
    "bigram": "a bigram table",
}
UNITS = {
    "accuracy": "accuracy",
    "explained": "of the variance explained",
    "nats": "nats per token",
}


@rule(
    code="GEN010",
    needs=("setup:reference_linear_accuracy|setup:reference_linear_explained|setup:reference_bigram_entropy",
           "outputs_accuracy|outputs_explained|outputs_cross_entropy"),
    min_points=3,
    severity="medium",
    message="{which} reaches {simple:.3g} {unit} on {samples}, and this network {own:.3g}",
)  # fmt: skip
def simple_model_does_better(
    run: Run,
    features: Features,
    *,
    surely: float = threshold(4.0, "x standard error", "theory", "two levels that differ clearly"),
    half: float = threshold(
        0.5, "of what the simple model gains", "convention", "less is hardly any training"
    ),
    most: float = threshold(0.85, "of that gain", "convention", "networks vary by this much"),
) -> Iterator[Evidence]:
    """A linear model, nearest neighbors or a bigram table beats the network on its own training samples.

    ## What it sees
    Simple predictors are fitted after the run on some of the recorded training samples and evaluated on
    others. They are compared with the predictions of the network on training batches late in the run, beyond
    4 standard errors. Severity is medium if the network gained almost nothing over the most frequent class
    (or the mean). It is low if the network gained less than 85 % of what the simple model gains. Nothing is
    reported if the validation accuracy of the network is as good as theirs, because mixed and augmented
    training data are harder on purpose.

    ## Why it matters
    A network can do whatever a linear model can. Its learning rate, loss, inputs or labels prevent it.

    ## When it is wrong
    A network that is small on purpose. A task whose inputs repeat, which nearest neighbors memorize. Inputs
    other than the first tensor are not used by the simple models.

    ## What to try
    The causes that the diagnosis names. Train longer if the loss still falls.

    ## Sources
    Karpathy (2019), A recipe for training neural networks (baselines first),
    https://karpathy.github.io/2019/04/25/recipe/.
    """
    found = predictor_gap(run, features)
    if features.is_game:
        raise CannotJudge("several networks play against each other")
    if found is None:
        raise CannotJudge("the predictions of the network and of simple models cannot be compared")
    if found.behind < surely or found.share >= most:
        return
    held_out = predictor_gap(run, features, "val/accuracy")
    if held_out is not None and held_out.share >= most:
        return  # the training data are made harder on purpose
    named = aspects(found)
    yield Evidence(
        severity="medium" if NOTHING in named and not api.is_too_short(run) else "low",
        strength=1.0 if found.share < half else 1 / 2,
        aspects=named,
        values={"which": WORDS[found.which], "samples": "the training samples", "simple": found.simple,
                "unit": UNITS[found.unit], "own": found.own},
        points=(api.EvidencePoint("outputs", None, found.own, found.simple),),
    )  # fmt: skip


def aspects(found: PredictorGap, nothing: float = 0.1) -> tuple[str, ...]:
    """Whether the network gained almost nothing, and which predictor is better."""
    return (NOTHING, found.which) if found.share < nothing else (found.which,)

"""GEN010 simple-model-does-better."""

from traindx.features.comparisons.predictor_gap import PredictorGap, predictor_gap
from traindx.features.curves.progress import young
from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold

NOTHING = "no-better-than-trivial"
WORDS = {
    "linear": "a linear model",
    "neighbours": "a nearest-neighbour vote",
    "bigram": "the token before alone",
}
UNITS = {
    "accuracy": "of the answers right",
    "explained": "of the variance explained",
    "nats": "nats a token",
}


@rule(
    code="GEN010",
    needs=("setup:reference_linear_accuracy|setup:reference_linear_explained|setup:reference_bigram_entropy",
           "outputs_accuracy|outputs_explained|outputs_cross_entropy"),
    min_points=3,
    severity="medium",
    message="{which} gets {simple:.3g} {unit} on {samples}, this net {own:.3g}",
)  # fmt: skip
def simple_model_does_better(
    run: Run,
    features: Features,
    *,
    surely: float = threshold(4.0, "x standard error", "theory", "two levels told apart beyond doubt"),
    half: float = threshold(0.5, "of what the simple model gains", "convention", "less is no training"),
    most: float = threshold(0.85, "of that gain", "convention", "nets differ by so much"),
) -> Iterator[Evidence]:
    """A linear model, the nearest neighbours or a table of pairs does better than the net on its own samples.

    ## What it sees
    Simple predictors, fitted when the run is over on a few hundred or thousand of the training samples that
    were recorded, and tried on others of them; against the net's answers to the training batches late in the
    run. Medium where the net has gained next to nothing over the commonest answer (or the mean), low where
    it has gained less than 0.85 of what they gain: coarse and small nets may. Quiet where its accuracy on
    validation data is as good as theirs: mixed and augmented training data are hard on purpose.

    ## Why it matters
    What a linear model can do, a net can; it was kept from it by its rate, its loss, its inputs or its
    labels.

    ## When it is wrong
    A net that is meant to be small or coarse; a task whose inputs repeat, which neighbours answer by heart;
    inputs besides the first tensor are not looked at.

    ## What to try
    The causes that the ranking names; train longer if the loss still falls.

    ## Sources
    Karpathy (2019), A recipe for training neural networks (baselines first).
    """
    found = predictor_gap(run, features)
    if features.is_game:
        raise CannotJudge("what a player answers hangs on the other")
    if found is None:
        raise CannotJudge(
            "the net's answers or those of simple predictors are not comparable, or they tell nothing"
        )
    if found.behind < surely or found.share >= most:
        return
    held_out = predictor_gap(run, features, "val/accuracy")
    if held_out is not None and held_out.share >= most:
        return  # what is trained on is made hard on purpose
    named = aspects(found)
    yield Evidence(
        severity="medium" if NOTHING in named and not young(run) else "low",
        strength=1.0 if found.share < half else 1 / 2,
        aspects=named,
        values={"which": WORDS[found.which], "samples": "some of the samples", "simple": found.simple,
                "unit": UNITS[found.unit], "own": found.own},
        points=(EvidencePoint("outputs", None, found.own, found.simple),),
    )  # fmt: skip


def aspects(found: PredictorGap, nothing: float = 0.1) -> tuple[str, ...]:
    """Whether the net has gained next to nothing, and which predictor is better."""
    return (NOTHING, found.which) if found.share < nothing else (found.which,)

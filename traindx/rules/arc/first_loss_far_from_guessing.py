"""ARC009 first-loss-far-from-guessing."""

from traindx.features.comparisons.outputs_of_loss import summed_losses
from traindx.features.curves.chance_level import chance_loss
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="ARC009",
    needs=("train/loss", "setup:loss_name|setup:loss"),
    min_points=1,
    severity="medium",
    message="the first loss is {first:.3g}, but guessing gives {theory:.3g} ({which})",
    follows=(
        "inputs-not-normalized",
        "targets-not-normalized",
        "weights-start-badly-scaled",
        "loss-sums-over-batch",
    ),
)
def first_loss_far_from_guessing(
    run: Run,
    features: Features,
    *,
    far: float = threshold(
        3.0, "x the loss of a guess", "convention", "good initializations start within a quarter of ln k"
    ),
) -> Iterator[Evidence]:
    """The first loss is many times that of guessing.

    ## What it sees
    The loss of the first step is compared with that of guessing. For a cross-entropy over k classes that is
    ln k, for a binary one ln 2, and for a squared error the mean square of the targets. A sum of several
    cross-entropies is compared with the sum of as many guesses. Severity is medium if the run does not learn, low if
    that is not known, and info if it learns. Only losses that are a mean over the batch are judged.

    ## Why it matters
    The initial outputs are large and wrong because of the initialization, the scale of the inputs, or
    wrong arguments of the loss. The first steps only undo that.

    ## When it is wrong
    Fine-tuning on other classes. A loss with further terms. Targets of which only a few were read.

    ## What to try
    Print the scale of inputs and outputs at the first step. Initialize the last layer with smaller
    weights.

    ## Sources
    Karpathy (2019), A recipe for training neural networks, https://karpathy.github.io/2019/04/25/recipe/
    (verify loss at init).
    """
    curve, setup = features.curve("train/loss"), run.setup
    if curve is None or curve.n == 0 or any(event.code == "late-start" for event in run.events):
        raise CannotJudge("the loss of the first step was not recorded")
    if setup.word("loss_reduction") not in ("", "mean"):
        raise CannotJudge("the loss is a sum over the batch, not a mean")
    theory, which = guessing_loss(run)
    parts = summed_losses(features)
    theory, which = parts * theory, which if parts == 1 else f"{parts:.0f} x {which}"
    first = float(curve.raw.values[0])
    scaled = "targets=standardize" in setup.word(
        "interventions"
    )  # the loss has the script's units, they have not
    if scaled or not first > far * theory:
        return
    yield Evidence(
        onset=float(curve.steps[0]),
        severity=api.progress_severity(features, stuck="medium", unknown="low", learns="info"),
        strength=0.5,
        values={"first": first, "theory": theory, "which": which},
        points=(api.EvidencePoint("train/loss", float(curve.steps[0]), first, theory, "loss"),),
    )


def guessing_loss(run: Run) -> tuple[float, str]:
    """The loss of the best model that ignores its input, or of one that predicts zero, and its name."""
    setup = run.setup
    loss, classes = setup.word("loss_name") or setup.word("loss"), setup.number("classes")
    if "binary_cross_entropy" in loss:
        return chance_loss(2), "ln 2"
    if "cross_entropy" in loss or "nll_loss" in loss:
        if classes is None or classes < 2:
            raise CannotJudge("the number of classes is not known")
        return chance_loss(int(classes)), f"ln {classes:.0f}"
    spread, mean = setup.number("targets_std_mean"), setup.number("targets_mean_abs")
    if "mse_loss" in loss and spread is not None and mean is not None and spread > 0:
        return spread**2 + mean**2, "the mean square of the targets"
    raise CannotJudge("the loss of guessing is not known for this loss function")

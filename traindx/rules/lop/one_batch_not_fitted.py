"""LOP013 one-batch-not-fitted."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="LOP013",
    needs=("setup:one_batch_start", "setup:one_batch_end"),
    min_points=1,
    severity="high",
    message="on one repeated batch, the loss went from {start:.3g} to {end:.3g} in {steps:.0f} steps",
)
def one_batch_not_fitted(
    run: Run,
    features: Features,
    *,
    left: float = threshold(0.5, "of the first loss", "convention", "a net that can fit leaves far less"),
    pace: float = threshold(
        0.05, "of what is left, in the last third", "convention", "a slower fall does not reach zero"
    ),
    still: float = threshold(
        0.005, "of the first loss", "convention", "a smaller fall is not visible in a printed loss"
    ),
    worse: float = threshold(1.5, "x the first loss", "convention", "more than the noise of dropout"),
    enough: float = threshold(50, "steps", "convention", "a hundred steps fit a small batch"),
) -> Iterator[Evidence]:
    """The model cannot even memorize a single batch.

    ## What it sees
    The loss of the script with one batch repeated (measured by `traindx check`). After about a hundred
    steps more than half of the first loss remains and it has stopped falling, or it grows. Losses whose
    lower bound may not be zero are judged only where they hardly changed.

    ## Why it matters
    A model with more parameters than there are numbers in a batch can always memorize it. If it does
    not, more data or time will not help: something between input, loss and weights is broken, or the
    learning rate is far off.

    ## When it is wrong
    Fine-tuning may start near its goal. Strong dropout or augmentation within the model keeps the loss high.
    If the warm-up is longer than the experiment, nothing is judged.

    ## What to try
    Check the other findings. Multiply the learning rate by ten, and divide it by ten. Pass logits
    instead of probabilities to the loss. Follow the gradient to the first layer.

    ## Sources
    Karpathy (2019), A recipe for training neural networks, https://karpathy.github.io/2019/04/25/recipe/
    (overfit one batch); Ben Braiek, Khomh (2023), https://arxiv.org/abs/2204.00694.
    """
    setup = run.setup
    start, end, steps = (setup.number(f"one_batch_{name}") for name in ("start", "end", "steps"))
    if setup.flag("one_batch_warms_up"):
        raise CannotJudge("the learning rate was still warming up when the experiment ended")
    if start is None or start <= 0:
        raise CannotJudge("the loss is not positive, so its lower bound is not known")
    broken = end is None or end > worse * start
    if not broken and (steps or 0.0) < enough:
        raise CannotJudge(f"needs {enough:.0f} steps, and {steps or 0:.0f} were made")
    share = float("inf") if end is None else end / start
    floor_known = setup.flag("one_batch_floor_is_zero") is not False
    bound = left if floor_known else 1 - still
    if not broken and (share <= bound or (setup.number("one_batch_pace") or 0.0) >= pace):
        return
    yield Evidence(
        strength=1.0 if broken or share > 1 - pace else 0.5,
        aspects=("worse",) if broken else ("flat",) if share > 1 - pace else ("floor",),
        values={"start": start, "end": float("nan") if end is None else end, "steps": steps or 0.0},
        points=(
            EvidencePoint("one_batch_end", None, float("nan") if end is None else end, left * start, "loss"),
        ),
    )

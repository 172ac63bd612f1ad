"""LOP013 one-batch-not-fitted."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="LOP013",
    needs=("setup:one_batch_start", "setup:one_batch_end"),
    min_points=1,
    severity="high",
    message="trained on one batch only, the loss went from {start:.3g} to {end:.3g} in {steps:.0f} steps",
)
def one_batch_not_fitted(
    run: Run,
    features: Features,
    *,
    left: float = threshold(0.5, "of the first loss", "convention", "a net that fits leaves far less"),
    pace: float = threshold(
        0.05, "of what is left, in the last third", "convention", "slower is no fall that arrives"
    ),
    still: float = threshold(
        0.005, "of the first loss", "convention", "a fall that one does not see in a printed loss"
    ),
    worse: float = threshold(1.5, "x the first loss", "convention", "beyond the noise of dropout"),
    enough: float = threshold(50, "steps", "convention", "a hundred steps fit a small batch"),
) -> Iterator[Evidence]:
    """The net cannot even learn a single batch by heart.

    ## What it sees
    The loss of the script with one batch repeated (made by traindx check). More than half of the first loss
    is left after some hundred steps and it has stopped falling, or it grows. Losses whose floor is not known
    to be zero are judged only where they hardly moved.

    ## Why it matters
    A net with more parameters than numbers in a batch can always learn it. Where it does not, no amount of
    data or time will help: something between input, loss and weights is broken, or the rate is far off.

    ## When it is wrong
    Warm-up that is longer than the experiment (then nothing is said); fine-tuning that starts near its goal;
    heavy dropout or augmentation within the model.

    ## What to try
    Look at the other findings; multiply the learning rate by ten, and divide it; feed the loss scores
    instead of probabilities; follow the gradient to the first layer.

    ## Sources
    Karpathy (2019), A recipe for training neural networks (overfit one batch); TheDeepChecker (Ben Braiek,
    Khomh 2023); fault catalogue rows 1, 3, 17, 43, 46, 54.
    """
    setup = run.setup
    start, end, steps = (setup.number(f"one_batch_{name}") for name in ("start", "end", "steps"))
    if setup.flag("one_batch_warms_up"):
        raise CannotJudge("the learning rate was still warming up when the experiment ended")
    if start is None or start <= 0:
        raise CannotJudge("the loss is not positive, so that its floor is not known")
    broken = end is None or end > worse * start
    if not broken and (steps or 0.0) < enough:
        raise CannotJudge(f"{steps or 0:.0f} steps were made, {enough:.0f} are needed")
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

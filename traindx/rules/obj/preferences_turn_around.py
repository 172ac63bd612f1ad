"""OBJ002 preferences-turn-around."""

from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold


@rule(
    code="OBJ002",
    needs=("train/*",),
    min_points=3,
    severity="high",
    persistence="steady",
    message="{name} is {level:.3g} (median of the last third): the model comes to prefer the rejected answers",
)
def preferences_turn_around(
    run: Run,
    features: Features,
    *,
    least: float = threshold(3, "points", "convention", "the last third then has a point"),
    coin: float = threshold(0.4, "of the pairs", "theory", "a coin is right in half of them"),
) -> Iterator[Evidence]:
    """Preference tuning makes the rejected answers more likely than the chosen ones.

    ## What it sees
    In the last third of the run, the chosen answer has the higher reward in fewer than 40 % of the pairs
    (`rewards/accuracies`). The margin of the rewards is below zero. Training and validation pairs are
    judged separately.

    ## Why it matters
    The model learns the opposite of what was wanted.

    ## When it is wrong
    Validation pairs of another kind, whose annotators preferred something else.

    ## What to try
    Print a few pairs with their columns. Look for swapped columns (chosen and rejected), a sign in the loss,
    and a data set that stores the better answer second.

    ## Sources
    Rafailov et al. (2023), Direct preference optimization, arXiv:2305.18290. TRL, logged metrics of
    DPOTrainer: https://huggingface.co/docs/trl/dpo_trainer.
    """
    judged = 0
    for split in ("train/", "val/"):
        right, margin = (
            features.curve_with(*words, split=split)
            for words in (("rewards", "accurac"), ("rewards", "margin"))
        )
        if right is None or margin is None or min(right.n, margin.n) < least:
            continue
        judged += 1
        level = float(median(right.values[-max(1, right.n // 3) :]))
        if level < coin and float(median(margin.values[-max(1, margin.n // 3) :])) < 0:
            yield Evidence(
                onset=right.step_at(int(np.argmax(right.values < coin))),
                where=right.name,
                aspects=(split.rstrip("/"),),
                values={"name": right.name, "level": level},
                points=(api.EvidencePoint(right.name, float(right.steps[-1]), level, 0.5),),
            )
    if not judged:
        raise api.CannotJudge("needs the rewards of chosen and rejected answers")

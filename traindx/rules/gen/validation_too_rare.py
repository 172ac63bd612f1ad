"""GEN007 validation-too-rare."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="GEN007",
    needs=("val/*", "train/*"),
    min_points=8,
    severity="info",
    message="{count} validations for {points} points of training{until}",
)
def validation_too_rare(
    run: Run,
    features: Features,
    *,
    few: float = threshold(5, "validations", "convention", "a minimum needs points on both sides"),
    long: float = threshold(200, "training points", "convention", "validate every 100-500 steps"),
    covered: float = threshold(0.6, "of the run", "convention", "validation ends early"),
    rhythm: float = threshold(3.0, "x the usual distance", "convention", "two missing validations"),
) -> Iterator[Evidence]:
    """There are too few validations, or they end long before the run.

    ## What it sees
    Fewer than five points of every validation signal in a run with 200 training points or more. Or
    validations that stop before 60 % of the run, with a rest of more than 3 times their usual distance.

    ## Why it matters
    Overfitting between two validations is not visible, and the best checkpoint is missed.

    ## When it is wrong
    Fine-tuning for three epochs with a validation after each is common, and often enough.

    ## What to try
    Validate ten times per run or more, on a part of the validation data if it is slow.

    ## Sources
    Prechelt (1998), Early stopping - but when?, doi:10.1007/3-540-49430-8_3.
    """
    held = max((s for n, s in run.series.items() if n.startswith("val/")), key=len)
    train = max((s for n, s in run.series.items() if n.startswith("train/")), key=len)
    if not len(held) or len(train) < long:
        return
    length = float(train.steps[-1] - train.steps[0])
    at, left = float(held.steps[-1]), float(train.steps[-1] - held.steps[-1])
    usual = float(api.median(np.diff(held.steps))) if len(held) > 1 else length
    ended = len(held) >= few and left > (1 - covered) * length and left > rhythm * usual
    if len(held) < few or ended:
        yield Evidence(
            onset=at if ended else None,
            last=float(train.steps[-1]),
            aspects=("ends-early",) if ended else (),
            values={
                "count": len(held),
                "points": len(train),
                "until": f", the last at step {api.format_step(at)} of {api.format_step(train.steps[-1])}",
            },
            points=tuple(
                EvidencePoint("validation", float(step), float(i)) for i, step in enumerate(held.steps[-3:])
            ),
        )

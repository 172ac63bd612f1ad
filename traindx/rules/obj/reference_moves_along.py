"""OBJ003 reference-moves-along."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="OBJ003",
    needs=("train/*",),
    min_points=10,
    severity="high",
    persistence="steady",
    message="{name} is zero in all {count:.0f} points: model and reference are the same",
)
def reference_moves_along(
    run: Run,
    features: Features,
    *,
    least: float = threshold(10, "points", "convention", "the first few are zero in every run"),
    none: float = threshold(1e-5, "reward", "measured", "runs that learn: above 0.001 within ten points"),
) -> Iterator[Evidence]:
    """Preference tuning compares the model with itself.

    ## What it sees
    The margin of the rewards (`rewards/margins`) is zero in every point, and the learning rate is not.

    ## Why it matters
    A reward is the log-probability compared with that of a fixed reference. If the reference is the model
    itself, or is updated with it, all rewards are zero. The loss stays at ln 2, and nothing keeps the model
    near its start.

    ## When it is wrong
    The weights are frozen, so that the model really stays where it began.

    ## What to try
    Make the reference a deep copy of the model, without gradients, before the first step. With adapters,
    disable them for the reference.

    ## Sources
    Rafailov et al. (2023), Direct preference optimization, arXiv:2305.18290.
    """
    curve, rate = features.curve_with("rewards", "margin", split="train/"), features.curve("lr")
    if curve is None or curve.n < least:
        raise CannotJudge("needs the margin of the rewards")
    stands = rate is not None and rate.n > 0 and float(rate.values.max()) == 0
    if float(np.abs(curve.values).max()) <= none and not stands:
        yield Evidence(
            onset=curve.step_at(0),
            where=curve.name,
            values={"name": curve.name, "count": float(curve.n)},
            points=(api.EvidencePoint(curve.name, float(curve.steps[-1]), float(curve.values[-1]), None),),
        )

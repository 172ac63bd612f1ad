"""PRC002 half-precision-underflows."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="PRC002",
    needs=("loss_scale", "grad_norm"),
    min_points=10,
    severity="medium",
    message="the gradient norm is exactly 0 in {share:.0%} of the rows although the loss scale is "
    "at its maximum, {scale:g}",
    follows=("gradient-is-zero",),
)
def half_precision_underflows(
    run: Run,
    features: Features,
    *,
    zeros: float = threshold(0.1, "of the rows", "convention", "more than a few empty batches"),
    top: float = threshold(0.5, "of the highest scale", "theory", "within one halving of it"),
    done: float = threshold(0.95, "of the first loss", "convention", "nothing is left to learn"),
) -> Iterator[Evidence]:
    """Gradients underflow to zero in half precision although the loss scale is at its maximum.

    ## What it sees
    Gradient norms of exactly zero in a tenth of the rows or more. In most of them the loss scale is within a
    factor of two of its maximum. The loss is not yet near zero.

    ## Why it matters
    Values below 6e-8 are zero in half precision. What underflows is not learned.

    ## When it is wrong
    Empty batches and masked labels give zeros too. A loss of zero has no gradient.

    ## What to try
    Compare with a few steps in float32 or bfloat16. Raise the limit of the loss scale.

    ## Sources
    Micikevicius et al. (2018), Mixed precision training, section 3.2, arXiv:1710.03740.
    """
    scale, norm = features.needed_curve("loss_scale"), features.needed_curve("grad_norm")
    if scale.n == 0 or float(scale.values.max()) <= 1:
        raise CannotJudge("no loss scale is in use")
    zero = norm.values == 0
    if zero.all():
        raise CannotJudge("the gradient norm is 0 in every row, so it was not recorded")
    if float(zero.mean()) < zeros or (
        features.objective is not None and api.share_lost(features.objective) >= done
    ):
        return
    highest = float(scale.values.max())
    high = scale.at_steps(norm.steps[zero]) >= top * highest
    if float(high.mean()) < top:
        return
    first = int(np.argmax(zero))
    yield Evidence(
        onset=norm.step_at(first),
        last=norm.step_at(int(np.flatnonzero(zero)[-1])),
        strength=0.5,
        values={"share": float(zero.mean()), "scale": highest},
        points=(
            api.EvidencePoint(
                "grad_norm", norm.step_at(first), 0.0, float(api.median(norm.values[~zero])), "L2"
            ),
        ),
    )

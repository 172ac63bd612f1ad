"""GRD009 clipping-always-active."""

from traindx.rules.api import Evidence, Features, Iterator, Run, Severity, api, np, rule, threshold


@rule(
    code="GRD009",
    needs=("clip_ratio|grad_norm", "clip_ratio|setup:clip_norm"),
    min_points=10,
    severity="medium",
    message="{share:.0%} of the steps are clipped, the median step to {ratio:.2g} of its gradient",
)
def clipping_always_active(
    run: Run,
    features: Features,
    *,
    always: float = threshold(0.95, "of the steps", "convention", "nearly every step"),
    tight: float = threshold(0.1, "of the gradient", "convention", "clipping removes an order of magnitude"),
    start: float = threshold(0.05, "of the run", "convention", "the first gradients are large"),
) -> Iterator[Evidence]:
    """Gradient clipping is active at nearly every step.

    ## What it sees
    The gradient norm is above the clipping norm in 95 % of the rows after the first twentieth of the run.
    Severity is info, and medium if the median step keeps less than a tenth of its gradient. Medium becomes
    low with an optimizer that does not depend on the scale of the gradient (Adam, LAMB, Lion, RMSprop).

    ## Why it matters
    The clipping norm then sets the length of every step instead of the learning rate.

    ## When it is wrong
    Clipping at 1 with norms of 2 or 3 is common practice and does no harm.

    ## What to try
    Compare the clipping norm with the usual gradient norm. Raise it, or tune the learning rate as that of a
    normalized gradient.

    ## Sources
    Pascanu et al. (2013), On the difficulty of training recurrent neural networks, arXiv:1211.5063. Zhang et
    al. (2020), Why gradient clipping accelerates training, arXiv:1905.11881.
    """
    steps, ratios = api.clip_ratios(features)
    skip = api.start_up(len(ratios), start)
    steps, ratios = steps[skip:], ratios[skip:]
    share, typical = float(np.mean(ratios < 1)), float(api.median(ratios))
    if share < always:
        return
    strong = typical < tight
    scale_free = any(
        word in (run.setup.optimizer or "").lower() for word in ("adam", "lamb", "lion", "rmsprop")
    )
    harm: Severity = "low" if scale_free else "medium"
    yield Evidence(
        onset=float(steps[0]),
        last=float(steps[-1]),
        strength=1.0 if strong else 1 / 4,
        severity=harm if strong else "info",
        aspects=("tight",) if strong else ("mild",),
        values={"share": share, "ratio": typical},
        points=(api.EvidencePoint("clip_ratio", float(steps[-1]), typical, 1.0),),
    )

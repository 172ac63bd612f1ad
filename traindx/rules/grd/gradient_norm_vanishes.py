"""GRD005 gradient-norm-vanishes."""

from traindx.rules.api import (
    Evidence,
    Features,
    Iterator,
    Run,
    api,
    has_improved,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="GRD005",
    needs=("grad_norm", "objective"),
    min_points=8,
    severity="high",
    message="the gradient norm ends near {norm:.1e} while the loss {what}",
)
def gradient_norm_vanishes(
    run: Run,
    features: Features,
    *,
    fall: float = threshold(1e-3, "of the early level", "convention", "three orders of magnitude"),
    tiny: float = threshold(1e-6, "L2", "convention", "1e-7 for one layer, and this is a sum over many"),
    early: float = threshold(0.2, "of the run", "convention", "taken as the start"),
    learnt: float = threshold(0.5, "of the first loss", "convention", "a loss that halved has learned"),
    score: float = threshold(8.0, "x spread of the loss", "convention", "a clear improvement"),
    little: float = threshold(0.2, "of the first loss", "convention", "less is hardly any learning"),
) -> Iterator[Evidence]:
    """The global gradient norm falls to almost zero, or starts there, and the objective does not improve.

    ## What it sees
    A norm that ends a thousand times below its early level, or is below 1e-6 throughout. The objective has
    lost less than half of its first level and has not clearly improved. If it has improved, by less than a
    fifth, the severity is medium.

    ## Why it matters
    Without gradients nothing is learned, however long the run continues.

    ## When it is wrong
    A converged network has tiny gradients too, which is why the loss must still be high. Norms that are
    printed as 0.000 are not judged here.

    ## What to try
    Compare the gradients of the layers. Look for saturated or dead units.

    ## Sources
    Hochreiter (1998), The vanishing gradient problem during learning recurrent neural nets and problem
    solutions, doi:10.1142/S0218488598000094. Glorot and Bengio (2010),
    https://proceedings.mlr.press/v9/glorot10a.html.
    """
    norm, objective = features.needed_curve("grad_norm"), features.needed_curve("objective")
    steps, values = norm.steps[norm.values > 0], norm.values[norm.values > 0]
    if len(values) <= norm.n // 2:
        raise api.CannotJudge("most gradient norms are exactly zero")
    gone = api.share_lost(objective)
    if gone >= learnt or (gone >= little and has_improved(objective, share=learnt, score=score)):
        return
    gains = gone > 0 and has_improved(objective, share=learnt, score=score)
    level = api.usual_level(values, share=early)
    smooth = np.exp(api.trend(np.log(values)))
    end = float(median(smooth[-3:]))
    throughout = float(median(values)) <= tiny
    if not throughout and end > fall * level:
        return
    onset = 0 if throughout else int(np.argmax(smooth <= fall * level))
    yield Evidence(
        onset=float(steps[onset]),
        last=float(steps[-1]),
        strength=1.0 if end <= tiny else 0.5,
        aspects=("from-start",) if throughout else ("later",),
        severity="medium" if gains else None,
        values={"norm": end, "what": f"fell by only {gone:.0%}" if gains else "did not fall"},
        points=(api.EvidencePoint("grad_norm", float(steps[-1]), end, level, "L2"),),
    )

"""ARC013 scores-fed-to-nll-loss."""

from traindx.rules.api import (
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    progress_severity,
    rule,
    threshold,
)


@rule(
    code="ARC013",
    needs=("setup:loss_name|setup:loss", "setup:loss_input", "setup:loss_input_shape", "setup:outputs_max"),
    min_points=1,
    severity="high",
    message="{loss} expects log-probabilities over the classes, but is given {what} (up to {high:.3g})",
)
def scores_fed_to_nll_loss(
    run: Run,
    features: Features,
    *,
    most: float = threshold(
        1e-3, "log-probability", "theory", "the logarithm of a probability is at most 0"
    ),
) -> Iterator[Evidence]:
    """A negative log-likelihood is computed from numbers that are not log-probabilities over the classes.

    ## What it sees
    `nll_loss` is given rows whose exponentials do not sum to 1. Severity is high for raw logits, or if the
    run does not learn. Otherwise it is medium.

    ## Why it matters
    With raw logits the loss falls without limit, also below zero, and has no meaning. With a softmax
    over another dimension (the batch) each output depends on the other samples.

    ## When it is wrong
    Class log-likelihoods that are not normalized on purpose.

    ## What to try
    Apply `log_softmax` over the class dimension before nll_loss, or use cross_entropy on the logits.

    ## Sources
    PyTorch documentation, NLLLoss, https://docs.pytorch.org/docs/stable/generated/torch.nn.NLLLoss.html.
    """
    setup = run.setup
    loss, high = setup.word("loss_name") or setup.word("loss"), setup.number("outputs_max")
    if loss not in ("nll_loss", "NLLLoss") or setup.word("loss_input") != "scores" or high is None:
        return
    if "x" not in setup.word("loss_input_shape") or (setup.number("outputs_width") or 0) < 2:
        return
    raw = high > most
    yield Evidence(
        severity="high"
        if raw
        else progress_severity(features, stuck="high", unknown="medium", learns="medium"),
        aspects=("scores",) if raw else ("other-dimension",),
        values={
            "loss": loss,
            "high": high,
            "what": "logits" if raw else "logarithms normalized over another dimension",
        },
        points=(EvidencePoint("outputs_max", None, high, 0.0),),
    )

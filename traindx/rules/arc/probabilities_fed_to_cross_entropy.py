"""ARC004 probabilities-fed-to-cross-entropy."""

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
    code="ARC004",
    needs=(
        "setup:loss_name|setup:loss",
        "setup:loss_input|setup:loss_input_looks_like_probabilities",
    ),
    min_points=1,
    severity="high",
    message="{loss} expects logits and is given probabilities (between {low:.3g} and {high:.3g}{rows})",
)
def probabilities_fed_to_cross_entropy(
    run: Run,
    features: Features,
    *,
    unit: float = threshold(1.0, "output", "theory", "the largest probability"),
    spread: float = threshold(
        0.5, "output", "convention", "logits of a dead net may be within 0..1 by chance"
    ),
) -> Iterator[Evidence]:
    """A cross-entropy that applies softmax itself is given probabilities.

    ## What it sees
    - The input of the loss is between 0 and 1 throughout the run, and sums to 1 in every row. For a binary
      cross-entropy, it covers much of the range from 0 to 1 and nothing else.
    - nll_loss or kl_div gets probabilities instead of their logarithms.

    Severity is high if the run does not learn, and medium otherwise.

    ## Why it matters
    The softmax of a softmax is nearly uniform: the loss cannot get below ln(1 + (k-1)/e), and gradients
    are small.

    ## When it is wrong
    A binary output may happen to stay between 0 and 1. Log-probabilities are harmless and are not reported.

    ## What to try
    Remove the last softmax or sigmoid and pass the logits.

    ## Sources
    PyTorch documentation, CrossEntropyLoss,
    https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html.
    """
    setup = run.setup
    loss, fed = setup.word("loss_name") or setup.word("loss"), setup.word("loss_input")
    expects = "cross_entropy" in loss and ("binary" not in loss or "logits" in loss)
    looks = bool(setup.flag("loss_input_looks_like_probabilities")) or fed == "probabilities"
    throughout = setup.flag("loss_input_looks_like_probabilities") is not False
    logs = "kl_div" in loss or ("nll_loss" in loss and "gaussian" not in loss and "poisson" not in loss)
    if not (expects or logs) or not (looks and throughout):
        return
    low, high = setup.number("outputs_min"), setup.number("outputs_max")
    single = setup.number("outputs_width") == unit
    if single and low is not None and high is not None and high - low < spread:
        return
    yield Evidence(
        severity=progress_severity(features, stuck="high", unknown="medium", learns="medium"),
        aspects=("binary",) if "binary" in loss else ("no-logarithm",) if logs else (),
        values={
            "loss": loss,
            "rows": "" if "binary" in loss else ", rows sum to 1",
            "low": 0.0 if low is None else low,
            "high": unit if high is None else high,
        },
        points=(EvidencePoint("outputs_max", None, unit if high is None else high, unit),),
    )

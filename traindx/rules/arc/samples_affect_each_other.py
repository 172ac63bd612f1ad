"""ARC010 samples-affect-each-other."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, threshold


@rule(
    code="ARC010",
    needs=("setup:leak_pairs_checked", "setup:leak_pairs"),
    min_points=1,
    severity="high",
    message="the output of one sample depends on the input of another, in {found:.0f} of "
    "{checked:.0f} pairs",
)
def samples_affect_each_other(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(
        0, "pairs", "theory", "in evaluation mode an output depends on its sample alone"
    ),
) -> Iterator[Evidence]:
    """Information leaks from one sample of a batch to another.

    ## What it sees
    The gradient of one sample's output with respect to another sample's input, with the model in evaluation
    mode. For whole-number inputs: whether an output changes when another sample is replaced (measured by
    `traindx check`). Severity is high, and medium if the run learns.

    ## Why it matters
    A reshape, transpose or softmax along the wrong dimension mixes samples: the model trains on the
    answers of other samples, and behaves differently for another batch size.

    ## When it is wrong
    Graph neural networks, whose rows are connected nodes, and attention between samples mix samples on
    purpose.

    ## What to try
    Use permute instead of view and reshape after a transpose. Check every dim= of softmax, mean and cat,
    and use batch_first=True for recurrent layers.

    ## Sources
    Karpathy (2019), A recipe for training neural networks, https://karpathy.github.io/2019/04/25/recipe/
    (use backprop to chart dependencies).
    """
    found, checked = run.setup.number("leak_pairs") or 0.0, run.setup.number("leak_pairs_checked") or 0.0
    if checked <= 0:
        raise CannotJudge(str(run.setup.known("leak_not_checked") or "no pair of samples could be checked"))
    if found <= any_at_all:
        return
    yield Evidence(
        severity=api.progress_severity(features, stuck="high", unknown="high", learns="medium"),
        values={"found": found, "checked": checked},
        points=(api.EvidencePoint("leak_pairs", None, found, 0.0, "pairs"),),
    )

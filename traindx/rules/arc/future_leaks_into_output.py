"""ARC012 future-leaks-into-output."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ARC012",
    needs=("setup:future_effect|setup:future_not_checked",),
    min_points=1,
    severity="high",
    message="outputs for earlier tokens change by {effect:.2g} of their size with the tokens that come after them",
)
def future_leaks_into_output(
    run: Run,
    features: Features,
    *,
    rounding: float = threshold(1e-3, "of the outputs", "theory", "0 in a causal model, but for rounding"),
) -> Iterator[Evidence]:
    """A model that foretells the next token sees the tokens that it foretells.

    ## What it sees
    In a training batch whose targets are its own tokens moved by one, sequences are given the second half of
    others when the recording is over; the outputs for the first half move.

    ## Why it matters
    The answer is copied instead of foretold. The loss and the validation loss become better than is
    possible, and text that is generated token by token is of no use.

    ## When it is wrong
    Models that are meant to see both sides, trained on targets that happen to be their inputs moved by one.

    ## What to try
    A causal mask in every attention (`is_causal=True`, `torch.tril`), on the right side of the diagonal; no
    bidirectional recurrence; the targets moved once, not twice.

    ## Sources
    Vaswani et al. (2017), Attention is all you need (3.2.3, masking in the decoder); Karpathy (2019), A
    recipe for training neural networks (chart dependencies).
    """
    effect = run.setup.number("future_effect")
    if effect is None:
        raise CannotJudge(str(run.setup.known("future_not_checked") or "no next token is foretold"))
    if effect <= rounding:
        return
    yield Evidence(
        values={"effect": effect},
        points=(EvidencePoint("future_effect", None, effect, 0.0, "of the outputs"),),
    )

"""ARC012 future-leaks-into-output."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ARC012",
    needs=("setup:future_effect|setup:future_not_checked",),
    min_points=1,
    severity="high",
    message="outputs for earlier tokens change by {effect:.2g} of their size when later tokens change",
)
def future_leaks_into_output(
    run: Run,
    features: Features,
    *,
    rounding: float = threshold(1e-3, "of the outputs", "theory", "0 in a causal model, except rounding"),
) -> Iterator[Evidence]:
    """A model that predicts the next token can see that token.

    ## What it sees
    A training batch whose targets are its inputs shifted by one. After the recording, the second half of each
    sequence is replaced by that of another sequence. If the outputs for the first half change, the model sees
    later tokens.

    ## Why it matters
    The model copies the answer instead of predicting it. Training and validation loss become better than
    possible, and text generated token by token is useless.

    ## When it is wrong
    Models that read in both directions on purpose, and whose targets happen to be the inputs shifted by one.

    ## What to try
    Use a causal mask in every attention (`is_causal=True`, `torch.tril`), check that it masks the right side
    of the diagonal, and do not use bidirectional recurrence. Shift the targets once, not twice.

    ## Sources
    Vaswani et al. (2017), Attention is all you need, section 3.2.3, https://arxiv.org/abs/1706.03762.
    """
    effect = run.setup.number("future_effect")
    if effect is None:
        raise CannotJudge(str(run.setup.known("future_not_checked") or "the model predicts no next token"))
    if effect <= rounding:
        return
    yield Evidence(
        values={"effect": effect},
        points=(EvidencePoint("future_effect", None, effect, 0.0, "of the outputs"),),
    )

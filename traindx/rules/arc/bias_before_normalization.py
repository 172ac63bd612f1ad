"""ARC008 bias-before-normalization."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ARC008",
    needs=("setup:bias_before_normalization",),
    min_points=1,
    severity="info",
    message="{count:.0f} layers have a bias that the normalization after them takes away ({names})",
)
def bias_before_normalization(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "layers", "theory", "the mean is subtracted right after"),
) -> Iterator[Evidence]:
    """A bias stands directly before a batch normalization.

    ## What it sees
    A linear layer or a convolution with a bias whose output goes straight into a batch or instance
    normalization (made by traindx check). Information.

    ## Why it matters
    The normalization subtracts the mean, and with it the bias: parameters without an effect, and weight
    decay that works on nothing.

    ## When it is wrong
    It does no harm; layers that are called in another order than they are written.

    ## What to try
    `bias=False` before normalization.

    ## Sources
    Ioffe, Szegedy (2015), Batch normalization, section 3.2; fault catalogue row 114.
    """
    count = run.setup.number("bias_before_normalization")
    if count is None:
        raise CannotJudge("the number of layers is not known")
    if count <= any_at_all:
        return
    yield Evidence(
        strength=1 / 4,
        values={"count": count, "names": run.setup.known("bias_before_normalization_names") or ""},
        points=(EvidencePoint("bias_before_normalization", None, count, 0.0, "layers"),),
    )

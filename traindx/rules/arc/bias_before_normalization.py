"""ARC008 bias-before-normalization."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ARC008",
    needs=("setup:bias_before_normalization",),
    min_points=1,
    severity="info",
    message="{count:.0f} layers have a bias that the normalization after them removes ({names})",
)
def bias_before_normalization(
    run: Run,
    features: Features,
    *,
    any_at_all: float = threshold(0, "layers", "theory", "the normalization subtracts the mean"),
) -> Iterator[Evidence]:
    """A bias is directly before a batch normalization.

    ## What it sees
    A linear layer or a convolution with a bias whose output goes straight into a batch or instance
    normalization (measured by `traindx check`). Severity is info.

    ## Why it matters
    The normalization subtracts the mean, and with it the bias: these parameters have no effect, and
    their weight decay does nothing.

    ## When it is wrong
    The bias does no harm. The rule follows the order in which layers are defined, and the model may call them
    in another order.

    ## What to try
    Set `bias=False` before a normalization.

    ## Sources
    Ioffe, Szegedy (2015), Batch normalization, section 3.2, https://arxiv.org/abs/1502.03167.
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

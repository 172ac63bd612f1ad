"""Stabilize the arithmetic.

Use the fused forms (log_softmax, logsumexp, cross-entropy with logits, log1p, expm1); add an epsilon inside roots
and denominators (sqrt(x + 1e-8), x / (s + 1e-8)) rather than clamping the result; shift before exp. Under mixed
precision keep losses, softmax and norms in float32, and use an epsilon that the format can hold.

torch.autograd.set_detect_anomaly(True) names the operation.

Verify: replay the failing batch.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "find the first operation with a non-finite result and use its stable form (logits losses, eps in log and sqrt)"


FIX = Fix(
    slug="stabilize-numerics",
    title="Stabilize the arithmetic",
    applicability="patch",
    causes=("unstable-numerics", "half-precision-range"),
    expected="no non-finite value at the same batch",
    page=page(__doc__),
    propose=propose,
)

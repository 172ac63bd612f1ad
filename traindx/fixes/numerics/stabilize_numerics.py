"""Stabilize the arithmetic.

Use the fused forms (log_softmax, logsumexp, cross-entropy with logits, log1p, expm1). Add an epsilon
inside roots and denominators (sqrt(x + 1e-8), x / (s + 1e-8)) rather than clamping the result, and
subtract the maximum before exp. With mixed precision keep losses, softmax and norms in float32, and
choose an epsilon that the format can hold.

torch.autograd.set_detect_anomaly(True) names the operation that fails.

Verify: replay the failing batch.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "find the first operation with a non-finite result and use its stable form (losses on "
        "logits, eps in log and sqrt)"
    ),
    applicability="patch",
    causes=("unstable-numerics", "half-precision-range"),
    expected="the same batch gives finite values",
)

"""Use bfloat16 or float32.

bfloat16 has the range of float32, so no loss scaling is needed. Keep weights and optimizer state in
float32, or small updates are rounded away. On devices without bfloat16 use float16 with a dynamic loss
scaler, or float32 for the parts that overflow.

Verify: no steps are skipped, and the curve equals that of float32.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    now = setup.word("precision")
    instead = f" instead of {now}" if now else ""
    return f"compute in bfloat16 (weights in float32){instead}, or all in float32"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="runtime",
    causes=("half-precision-range", "device-fallback", "out-of-memory"),
    expected="nothing overflows, and the loss scale is not needed",
    touches=("precision",),
    interventions=("precision=bfloat16", "precision=float32"),
)

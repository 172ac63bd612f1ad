"""Use bfloat16 or float32.

bfloat16 has the range of float32, so that no loss scaling is needed; keep weights and optimizer state in float32,
or small updates are rounded away. On devices without it use float16 with a dynamic loss scaler, or float32 for the
parts that overflow.

Verify: no skipped steps, and the same curve as in float32.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    now = setup.word("precision")
    return (
        f"compute in bfloat16 (weights in float32){f' instead of {now}' if now else ''}, or all in float32"
    )


FIX = Fix(
    slug="use-bfloat16",
    title="Use bfloat16 or float32",
    applicability="runtime",
    causes=("half-precision-range", "device-fallback", "out-of-memory"),
    expected="no overflow; the loss scale is not needed",
    page=page(__doc__),
    propose=propose,
    touches=("precision",),
    interventions=("precision=bfloat16", "precision=float32"),
)

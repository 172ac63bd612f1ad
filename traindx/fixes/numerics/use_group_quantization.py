"""Quantize in smaller groups.

Use a scale per channel, or per group of 32 to 128 weights, instead of one per tensor. Clip the range to
a percentile rather than to the maximum. Keep the first and last layer at 8 bits or more.

Verify: compare the quantization gap of each layer.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "use one scale per channel or per group of 64 weights, and keep the first and last layer "
        "at 8 bits or more"
    ),
    applicability="patch",
    causes=("quantization-gap", "ternary-collapse", "quantized-layer-gradient-imbalance"),
    expected="fewer weights share a scale, so less precision is lost",
)

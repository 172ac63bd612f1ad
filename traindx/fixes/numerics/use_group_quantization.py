"""Quantize in smaller groups.

A scale per channel, or per group of 32 to 128 weights, instead of one per tensor; clip the range to a percentile
rather than to the maximum; leave the first and last layer at 8 bits or more.

Verify: the gap of each layer.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "use one scale per channel or per group of 64 weights, and keep the first and last layer finer"


FIX = Fix(
    slug="use-group-quantization",
    title="Quantize in smaller groups",
    applicability="patch",
    causes=("quantization-gap", "ternary-collapse", "quantized-layer-gradient-imbalance"),
    expected="fewer weights share a scale, less is lost",
    page=page(__doc__),
    propose=propose,
)

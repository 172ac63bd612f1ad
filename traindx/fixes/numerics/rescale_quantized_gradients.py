"""Rescale the gradients of quantized layers.

Give the scales of the quantizers a separate, ten times smaller learning rate, or scale their gradients by
1 / sqrt(weights x levels) (https://arxiv.org/abs/1902.08153). Pass gradients straight through
(`w + (q - w).detach()`) inside the clipping range.

Verify: the gradient norms of quantized and other layers are within a factor of ten.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "give scales and quantized layers a separate learning rate, or scale their gradients by 1/sqrt(n)"
    ),
    applicability="patch",
    causes=("quantized-layer-gradient-imbalance", "quantization-gap"),
    expected="quantized and other layers learn at the same pace",
    interventions=("lr.quantized=*0.1",),
)

"""Mask future tokens.

In every attention layer a token may attend only to itself and to earlier tokens. Set `is_causal=True` in
scaled_dot_product_attention, use `generate_square_subsequent_mask` for nn.Transformer, or a lower
triangle of ones. A recurrent layer must not be bidirectional. Shift the targets by one against the
inputs, once.

Verify: changing the last token changes no earlier output.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="give every attention a causal mask (is_causal=True or a lower triangle)",
    applicability="patch",
    causes=("missing-causal-mask",),
    expected="the loss rises to what is possible, and generated text is as good as the loss suggests",
)

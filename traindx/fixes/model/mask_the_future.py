"""Mask the tokens that come after.

In every attention a token may look at itself and at those before it: `is_causal=True` in
scaled_dot_product_attention, `generate_square_subsequent_mask` for nn.Transformer, a lower triangle of ones by hand. A
recurrent layer must not be bidirectional. The targets are the inputs moved by one, once.

Verify: changing the last token changes no output before it.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "give every attention a causal mask (is_causal=True or a lower triangle)"


FIX = Fix(
    slug="mask-the-future",
    title="Mask the tokens that come after",
    applicability="advice",
    causes=("missing-causal-mask",),
    expected="the loss rises to what is possible, and generated text becomes as good as the loss says",
    page=page(__doc__),
    propose=propose,
)

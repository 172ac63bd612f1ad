"""Lower the weight decay.

Usual values are 1e-4 for SGD (L2), 0.01 to 0.1 for AdamW. Do not decay biases, norm layers and embeddings. As a
test set it to zero: if the floor stays, it was not the decay.

Verify: the weight norm no longer falls throughout, and training loss goes lower.
"""

from traindx.fixes.api import Fix, Setup, lowered_to, page


def propose(setup: Setup) -> str:
    return lowered_to(setup, "weight_decay", 0.0001, "weight decay")


FIX = Fix(
    slug="lower-weight-decay",
    title="Lower the weight decay",
    applicability="runtime",
    causes=("weight-decay-too-high", "insufficient-capacity"),
    expected="both losses settle lower",
    page=page(__doc__),
    propose=propose,
    touches=("weight_decay",),
    interventions=("weight_decay=*0.01",),
)

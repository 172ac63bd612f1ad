"""Add weight decay.

AdamW with 0.01 to 0.1, SGD with 1e-4 to 5e-4; leave out biases and norm layers. Raise in steps of three while
validation improves.

Verify: lowest validation loss over at least three seeds.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    now = setup.number("weight_decay")
    return (
        f"raise the weight decay from {now:g} to {now * 3:.3g}"
        if now
        else "add weight decay: 0.01 with AdamW, 1e-4 with SGD"
    )


FIX = Fix(
    slug="add-weight-decay",
    title="Add weight decay",
    applicability="runtime",
    causes=("insufficient-regularization", "too-little-data"),
    expected="a smaller gap; validation improves by a little or more",
    page=page(__doc__),
    propose=propose,
    touches=("weight_decay",),
    interventions=("weight_decay=*3", "weight_decay=0.01"),
)

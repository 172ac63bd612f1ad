"""Add weight decay.

Use 0.01 to 0.1 with AdamW and 1e-4 to 5e-4 with SGD; exclude biases and normalization layers. Raise it
in steps of three while the validation loss improves.

Verify: the lowest validation loss improves over at least three seeds.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    now = setup.number("weight_decay")
    if now:
        return f"raise the weight decay from {now:g} to {now * 3:.3g}"
    return "add weight decay: 0.01 with AdamW, 1e-4 with SGD"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    idioms={
        "keras": "weight_decay of the optimizer, or AdamW",
        "jax": "optax.adamw",
    },
    applicability="runtime",
    causes=("insufficient-regularization", "too-little-data"),
    expected="the generalization gap shrinks and the validation loss improves slightly",
    touches=("weight_decay",),
    interventions=("weight_decay=*3", "weight_decay=0.01"),
)

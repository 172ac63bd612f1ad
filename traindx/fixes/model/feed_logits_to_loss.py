"""Feed logits to the loss.

Remove the softmax (or sigmoid) at the end of the model, or use the loss that takes probabilities:
NLLLoss after log_softmax, from_logits=False in Keras. Apply softmax only where probabilities are shown.

Verify: the inputs of the loss have both signs.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="drop the final softmax or sigmoid and use the loss that takes logits",
    idioms={
        "keras": "from_logits=True",
        "jax": "optax.softmax_cross_entropy, optax.sigmoid_binary_cross_entropy",
    },
    applicability="patch",
    causes=("double-softmax", "unstable-numerics"),
    expected="the loss falls below the level that it could not pass, and it falls faster",
    interventions=("logits=on",),
)

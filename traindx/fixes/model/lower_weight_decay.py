"""Lower the weight decay.

Usual values are 1e-4 for SGD (L2) and 0.01 to 0.1 for AdamW. Do not decay biases, normalization layers and
embeddings. To test it, set the decay to zero: if the loss does not get lower, the decay was not the cause.

Verify: the weight norm no longer falls during the whole run, and the training loss gets lower.
"""

from traindx.fixes.api import fix, propose_lower

FIX = fix(
    __name__,
    __doc__,
    propose=propose_lower("weight_decay", 0.0001, "lower the weight decay"),
    applicability="runtime",
    causes=("weight-decay-too-high", "insufficient-capacity"),
    expected="training and validation loss both reach lower values",
    touches=("weight_decay",),
    interventions=("weight_decay=*0.01",),
)

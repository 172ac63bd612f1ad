"""Switch the optimizer.

Transformers, embeddings and nets whose layers have gradients of very different size need an adaptive
method (AdamW, 3e-4, warm-up). Image nets with batch norm train well with SGD, momentum 0.9 and rate 0.1.
Use weight decay in AdamW, not L2 in Adam. Leave epsilon at 1e-8.

Verify: compare a few hundred steps of each at its usual rate; rates do not carry over between optimizers.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    if any(w in setup.word("optimizer") for w in ("adam", "lamb", "rms")):
        return "try SGD with momentum 0.9 at a rate of 0.1"
    return "try AdamW at a learning rate of 3e-4 with a short warm-up"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="runtime",
    causes=("unsuitable-optimizer", "learning-rate-too-low", "quantized-layer-gradient-imbalance"),
    expected="the loss falls steadily at a usual learning rate",
    touches=("optimizer", "lr"),
    interventions=("optimizer=adamw", "lr=0.0003"),
)

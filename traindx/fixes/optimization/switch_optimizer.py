"""Switch the optimizer.

Transformers, embeddings and nets whose layers see gradients of very different size want an adaptive method (AdamW,
3e-4, warm-up); image nets with batch norm do well with SGD, momentum 0.9 and rate 0.1. Weight decay belongs into
AdamW, not as L2 into Adam. Epsilon stays at 1e-8.

Verify: a few hundred steps of each at its own usual rate; rates do not carry over.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    if any(w in setup.word("optimizer") for w in ("adam", "lamb", "rms")):
        return "try SGD with momentum 0.9 at a rate of 0.1"
    return "try AdamW at a learning rate of 3e-4 with a short warm-up"


FIX = Fix(
    slug="switch-optimizer",
    title="Switch the optimizer",
    applicability="runtime",
    causes=("unsuitable-optimizer", "learning-rate-too-low", "quantized-layer-gradient-imbalance"),
    expected="steady progress at a usual learning rate",
    page=page(__doc__),
    propose=propose,
    touches=("optimizer", "lr"),
    interventions=("optimizer=adamw", "lr=0.0003"),
)

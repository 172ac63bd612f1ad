"""Initialize the weights again.

Use He (Kaiming) initialization for the ReLU family, Xavier (Glorot) for tanh and sigmoid, orthogonal for
recurrent matrices, zero for biases, and small values for the output layer. The defaults of frameworks
are too small for plain nets of ten and more layers. Never use constants: units that start equal stay
equal.

Verify: activations keep their scale from layer to layer at step 0, and the first loss is about ln(classes).
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="initialize the weights again: He for ReLU, Xavier for tanh and sigmoid, biases 0",
    idioms={
        "keras": 'kernel_initializer="he_normal" or "glorot_uniform"',
        "jax": "jax.nn.initializers",
    },
    applicability="runtime",
    causes=("bad-initialization", "deep-without-skip-or-norm", "dead-relus", "saturating-activations"),
    expected="the first loss is near its theoretical value (ln k) and falls at once",
    interventions=("init=he",),
)

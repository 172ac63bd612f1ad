"""Unfreeze the parameters.

Call requires_grad_(True) (trainable = True) on everything that is not meant to stay pretrained, and
build the optimizer afterwards. A pretrained base may stay frozen while a new head trains, but the head
must not be frozen.

Verify: the count of trainable parameters is as intended, and each of them changes.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="unfreeze the layers that should learn, then build the optimizer",
    idioms={
        "torch": "requires_grad_(True)",
        "keras": "layer.trainable = True, then compile again",
        "jax": "no stop_gradient, mask or optax.set_to_zero on them",
    },
    applicability="runtime",
    causes=("frozen-parameters",),
    expected="the frozen layers start to change and the loss gets lower than before",
    interventions=("unfreeze=all",),
)

"""Switch back to train mode.

Call model.train() at the start of each training epoch, which is after every evaluation. Call .eval()
again on layers that are meant to stay frozen.

Verify: model.training is True in every training step.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="return to training mode after each evaluation",
    idioms={
        "torch": "model.train()",
        "keras": "training=True in the training step",
        "jax": "deterministic=False; model.train() in NNX; eqx.nn.inference_mode(model, False)",
    },
    applicability="runtime",
    causes=("eval-mode-training",),
    expected="dropout and batch statistics are active again",
    interventions=("mode=train",),
)

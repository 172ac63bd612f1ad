"""Evaluate in eval mode.

Call model.eval() (training=False) and use no_grad around every evaluation, and call train() afterwards. If
batch-norm statistics are stale, re-estimate them with a pass over training data first.

Verify: two evaluations of one checkpoint agree.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="evaluate in evaluation mode, and train in training mode",
    idioms={
        "torch": "model.eval() before, model.train() after",
        "keras": "training=False where the script calls the model",
        "jax": "deterministic=True; model.eval() in NNX; eqx.nn.inference_mode",
    },
    applicability="runtime",
    causes=("train-mode-evaluation", "stale-normalization-statistics"),
    expected="the validation score improves, and repeated evaluations agree",
    interventions=("eval_mode=eval",),
)

"""Evaluate in eval mode.

model.eval() (training=False) and no_grad around every evaluation, and train() afterwards. Where batch-norm
statistics are stale, re-estimate them by a pass over training data first.

Verify: two evaluations of one checkpoint agree.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "call model.eval() before evaluating, and model.train() after it"


FIX = Fix(
    slug="switch-to-eval-mode",
    title="Evaluate in eval mode",
    applicability="runtime",
    causes=("train-mode-evaluation", "stale-normalization-statistics"),
    expected="validation is better, and the same twice",
    page=page(__doc__),
    propose=propose,
    interventions=("eval_mode=eval",),
)

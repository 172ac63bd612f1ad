"""Switch back to train mode.

model.train() at the start of each training epoch, that is after every evaluation. Layers that are meant to stay
frozen get .eval() again afterwards.

Verify: model.training is True in every training step.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "call model.train() after each evaluation"


FIX = Fix(
    slug="switch-to-train-mode",
    title="Switch back to train mode",
    applicability="runtime",
    causes=("eval-mode-training",),
    expected="dropout and batch statistics work again",
    page=page(__doc__),
    propose=propose,
    interventions=("mode=train",),
)

"""Stop at the best validation.

Save a checkpoint at every improvement of validation and stop when it has not improved for a while: ten evaluations,
or as many steps again as it took to get there, so that noise does not stop the run.

Grokking and double descent improve again much later; where they are known to happen, save the best and go on.

Verify: the kept checkpoint has the lowest validation loss of the run.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "keep the checkpoint with the lowest validation loss, and stop once it has not improved for 10 evaluations"


FIX = Fix(
    slug="stop-early",
    title="Stop at the best validation",
    applicability="runtime",
    causes=("insufficient-regularization", "too-little-data", "label-noise"),
    expected="the validation loss of the best step, at no cost",
    page=page(__doc__),
    propose=propose,
    interventions=("stop=val",),
)

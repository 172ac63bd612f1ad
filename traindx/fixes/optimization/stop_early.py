"""Stop at the best validation.

Save a checkpoint whenever validation improves. Stop when it has not improved for ten evaluations, or for
as many steps as it took to get there, so that noise does not stop the run.

Grokking and double descent improve again much later. Where they are known to happen, save the best and
go on.

Verify: the saved checkpoint has the lowest validation loss of the run.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "keep the checkpoint with the lowest validation loss, and stop once it has not improved "
        "for 10 evaluations"
    ),
    idioms={
        "keras": "EarlyStopping with restore_best_weights=True",
    },
    applicability="runtime",
    causes=("insufficient-regularization", "too-little-data", "label-noise"),
    expected="the model keeps the validation loss of its best step, at no cost",
    interventions=("stop=val",),
)

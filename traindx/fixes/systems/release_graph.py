"""Release what is kept each step.

Store loss.item() or loss.detach(), never the loss. Detach hidden states that are carried over, evaluate
under no_grad, close figures, limit the size of histories and caches, and do not register hooks in the
loop.

Verify: memory is constant after the first epoch.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="keep numbers instead of losses, and nothing of earlier steps",
    idioms={
        "torch": "loss.item(), detached states, evaluation under no_grad",
        "keras": "float(loss); no new functions or layers in the loop",
        "jax": "float(loss); jax.jit outside of the loop",
    },
    applicability="patch",
    causes=("step-time-creep", "memory-leak", "out-of-memory"),
    expected="memory and step time stay constant",
)

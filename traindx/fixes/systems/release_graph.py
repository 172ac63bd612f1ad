"""Release what is kept each step.

Store loss.item() or loss.detach(), never the loss; detach hidden states carried over; evaluate under no_grad; free
figures; bound histories and caches; do not register hooks in the loop.

Verify: memory is level after the first epoch.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "keep loss.item() instead of the loss, detach carried states, and evaluate under no_grad"


FIX = Fix(
    slug="release-graph",
    title="Release what is kept each step",
    applicability="patch",
    causes=("step-time-creep", "memory-leak", "out-of-memory"),
    expected="memory and step time stay level",
    page=page(__doc__),
    propose=propose,
)

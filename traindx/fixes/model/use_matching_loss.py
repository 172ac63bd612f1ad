"""Use the loss that fits the task.

Cross-entropy for exclusive classes, binary cross-entropy with logits for several labels, a squared or Huber error
for real values. Shapes of output and target must be equal where they are subtracted: (n, 1) minus (n) broadcasts to
n x n.

Verify: on one batch the metric becomes perfect as the loss goes to zero.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    k = setup.number("classes")
    return (
        f"use cross-entropy on {k:g} logits and class numbers"
        if k
        else "use the loss of the target's type (cross-entropy for classes, squared or Huber error for values)"
    )


FIX = Fix(
    slug="use-matching-loss",
    title="Use the loss that fits the task",
    applicability="patch",
    causes=("wrong-loss", "wrong-output-activation"),
    expected="loss and metric move together",
    page=page(__doc__),
    propose=propose,
    touches=("loss",),
)

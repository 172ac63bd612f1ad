"""Use the loss that fits the task.

Use cross-entropy for exclusive classes, binary cross-entropy with logits for several labels, and a
squared or Huber error for real values. Output and target must have equal shapes where they are
subtracted: (n, 1) minus (n) broadcasts to n x n.

Verify: on one batch the metric becomes perfect as the loss goes to zero.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "use cross-entropy on {classes:g} logits and class indices",
        "use the loss for the target's type (cross-entropy for classes, squared or Huber error for values)",
    ),
    applicability="patch",
    causes=("wrong-loss", "wrong-output-activation"),
    expected="loss and metric improve together",
    touches=("loss",),
)

"""Match the last layer to the targets.

No activation before cross-entropy or a squared error; sigmoid only together with a plain binary cross-entropy; one
output per class; for positive targets a softplus or the logarithm of the target.

Verify: the outputs cover the range of the targets on a batch.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    k = setup.number("classes")
    return (
        f"end in a linear layer with {k:g} outputs"
        if k
        else "end in a linear layer whose range covers the targets"
    )


FIX = Fix(
    slug="match-output-to-loss",
    title="Match the last layer to the targets",
    applicability="patch",
    causes=("wrong-output-activation", "wrong-loss", "double-softmax"),
    expected="the floor disappears",
    page=page(__doc__),
    propose=propose,
)

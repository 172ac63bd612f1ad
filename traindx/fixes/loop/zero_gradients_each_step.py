"""Zero the gradients in each step.

optimizer.zero_grad() once per optimizer step, before backward (with accumulation: once per n backward passes).
Frameworks that return gradients afresh do not need it.

Verify: gradients are None or zero when backward begins.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "call optimizer.zero_grad() before each backward pass (once per step when accumulating)"


FIX = Fix(
    slug="zero-gradients-each-step",
    title="Zero the gradients in each step",
    applicability="runtime",
    causes=("missing-zero-grad",),
    expected="the gradient norm stops growing",
    page=page(__doc__),
    propose=propose,
    interventions=("zero_grad=each-step",),
)

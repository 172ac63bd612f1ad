"""Zero the gradients in each step.

Call optimizer.zero_grad() once per optimizer step, before backward (with accumulation: once per n
backward passes). Frameworks that return new gradients in each call, such as JAX, do not need it.

Verify: gradients are None or zero when backward begins.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="clear the gradients before each backward pass, once per step when accumulating",
    idioms={
        "torch": "optimizer.zero_grad()",
        "keras": "model.zero_grad()",
        "jax": "do not add gradients of earlier steps",
    },
    applicability="runtime",
    causes=("missing-zero-grad",),
    expected="the gradient norm stops growing",
    interventions=("zero_grad=each-step",),
)

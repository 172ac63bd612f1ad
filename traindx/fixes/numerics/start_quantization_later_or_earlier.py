"""Start quantization at another time.

The usual start is a trained model, with simulated quantization for the last tenth to third of the steps
at a tenth of the learning rate. For very few bits (1 to 3) start early, so that the net can adapt.
Freeze batch-norm statistics towards the end.

Verify: compare the loss with and without fake quantization.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "begin quantization after the float model has converged (for 1 to 3 bits: from the start, slowly)"
    ),
    applicability="runtime",
    causes=("quantization-gap", "ternary-collapse"),
    expected="the gap to the float model is smaller at the end",
    interventions=("quant.start=later", "quant.start=earlier"),
)

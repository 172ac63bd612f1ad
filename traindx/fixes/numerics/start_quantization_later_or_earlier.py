"""Start quantization at another time.

Simulated quantization from a trained model, for the last tenth to third of the steps and at a tenth of the rate, is
the usual start. For very few bits (1 to 3) begin early, so that the net can adapt. Freeze batch-norm statistics
towards the end.

Verify: loss with and without fake quantization.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "begin quantization after the float model has converged (for 1 to 3 bits: from the start, slowly)"


FIX = Fix(
    slug="start-quantization-later-or-earlier",
    title="Start quantization at another time",
    applicability="runtime",
    causes=("quantization-gap", "ternary-collapse"),
    expected="a smaller gap at the end",
    page=page(__doc__),
    propose=propose,
    interventions=("quant.start=later", "quant.start=earlier"),
)

"""Gradients replaced by their signs."""

from __future__ import annotations

from traindx.capture.interventions.kinds import Intervention

GRADIENT_SIGN = Intervention(
    "gradient_sign", "gradients", ("on",), order=9,
    help="""Replaces every value of the gradients by its sign, after they are measured. Refused for LBFGS.""",
)  # fmt: skip

"""Extreme eigenvalues of the Hessian of a batch's loss; only where they were asked for."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family("curvature", ("curvature/max", "curvature/min"), "scalar", "aside", Cost(1e6))

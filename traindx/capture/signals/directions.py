"""Directions of gradients in steps that follow each other, and the noise that follows from them."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family(
    "directions", ("grad_cosine", "update_cosine", "grad_noise_scale"), "scalar", "sample",
    Cost(30.0, each=12.0), apart=4, optional=True,
    asks=("learning-rate-too-high", "momentum-too-high", "batch-too-small"),
)  # fmt: skip

"""The largest attention logits of a sampled pass."""

from collections.abc import Iterator

import numpy as np

from traindx.capture.signals.family import Cost, Family, Panel
from traindx.vocabulary import Floats


def panels(modules: tuple[str, ...], values: Floats) -> Iterator[Panel]:
    """From `[modules]`."""
    yield "attention_logit_max", "\n".join(modules), np.asarray(values, np.float64)


FAMILY = Family(
    "attention", ("attention_logit_max/<module>",), "by module", "sample", Cost(10.0, each=60.0), optional=True,
    asks=("unstable-numerics", "learning-rate-too-high"), panels=panels,
)  # fmt: skip

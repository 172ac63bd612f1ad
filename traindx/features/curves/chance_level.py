"""What a classifier that knows nothing scores: ln k for the cross-entropy over k classes."""

import numpy as np

# Class counts that occur: small problems, the usual data sets, common vocabularies.
COMMON_CLASSES = (
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    20,
    50,
    60,
    100,
    200,
    256,
    365,
    1000,
    1024,
    10000,
    21841,
    30522,
    32000,
    50257,
    50304,
    151936,
)


def chance_loss(classes: int) -> float:
    """Cross-entropy (nats) of the uniform guess over `classes` classes."""
    return float(np.log(classes))


USUAL_CLASSES = (2, 10, 100, 1000)  # the only ones that are guessed from a loss alone
KNOWN, GUESSED = (
    0.01,
    0.003,
)  # of ln k: rounding and noise; four levels that one loss in a hundred hits by chance


def chance_classes(
    level: float,
    classes: int | None = None,
    *,
    tolerance: float | None = None,
    among: tuple[int, ...] | None = USUAL_CLASSES,
) -> int | None:
    """The number of classes whose chance level (ln k, nats) a loss `level` sits at, within `tolerance` of it
    (by default 1 % where k is known, 0.3 % where it is guessed); only `classes` is tried where it is known,
    else those in `among` (None: all that are common, for a caller who has a second witness). None when there
    is none."""
    if level <= 0.5:
        return None
    known = (classes,) if classes is not None and classes > 1 else ()
    candidates = known or among or COMMON_CLASSES
    tolerance = tolerance or (KNOWN if known else GUESSED)
    gap, best = min([(abs(level / chance_loss(k) - 1.0), k) for k in candidates])
    return best if gap <= tolerance else None


def classes_never_beaten(
    lowest: float, classes: int | None, *, near: float = KNOWN, exact: float = GUESSED
) -> int | None:
    """The number of classes whose uniform guess is no worse than a validation loss ever was (`lowest`, nats): the
    known one, or a usual one whose chance level it is within `exact`. None where it was beaten."""
    if classes is not None and classes > 1:
        return classes if lowest >= chance_loss(classes) * (1 - near) else None
    return chance_classes(lowest, None, tolerance=exact)

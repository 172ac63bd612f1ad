"""What kind of answers the loss is computed from, and in which unit it is."""

import numpy as np

from traindx.features.shared import Features
from traindx.features.statistics import median
from traindx.vocabulary import Run, threshold

LEAST = 3  # fewer rows give no reliable level
TINY = 1e-12  # keeps quotients finite


def is_language(
    run: Run,
    *,
    same: float = threshold(
        0.8, "of the larger vocabulary", basis="convention", source="inputs and labels share a vocabulary"
    ),
) -> bool:
    """Whether tokens are predicted from tokens, most of which no model can predict."""
    inputs, labels = run.setup.number("tokens_max"), run.setup.number("label_max")
    return bool(inputs and labels and min(inputs, labels) >= same * max(inputs, labels))


def loss_unit(run: Run, features: Features) -> float | None:
    """The loss divided by the cross-entropy of the outputs: 1, or the factor by which it is scaled."""
    width, highest = run.setup.number("outputs_width"), run.setup.number("label_max")
    embeds = width is not None and width > 1 and highest is not None and highest + 1 < width
    # With several targets per sample, a loss may be summed over them.
    several = (run.setup.number("targets_features") or 1) > 1
    return None if embeds or several else loss_over_entropy(features)


def loss_over_entropy(features: Features) -> float | None:
    """The median of loss divided by cross-entropy, over the steps that have both."""
    loss, entropy = features.curve("train/loss"), features.curve("outputs_cross_entropy")
    if loss is None or entropy is None or entropy.n < LEAST:
        return None
    at = np.searchsorted(loss.steps, entropy.steps)
    both = at < loss.n
    both[both] &= loss.steps[at[both]] == entropy.steps[both]
    if both.sum() < LEAST:
        return None
    return float(median(loss.values[at[both]] / np.maximum(entropy.values[both], TINY)))


def summed_losses(
    features: Features,
    *,
    several: float = threshold(
        1.5, "x the cross-entropy", basis="theory", source="the sum of two mean losses is twice one"
    ),
) -> float:
    """How many cross-entropies the loss is the sum of, as one per position of a sequence; 1 where this is not
    known."""
    found = loss_over_entropy(features)
    return found if found is not None and found >= several else 1.0

"""What simple predictors make of the samples of a training: a yardstick for the net with any loss.

Pure array functions. Every third sample is held back; the others are fitted: the commonest class or the
mean, ridge regression on standardized values, the nearest neighbours. Of tokens that are predicted from
tokens, the entropy of the next token alone and given the one before.
"""

from typing import NamedTuple

import numpy as np

from traindx.vocabulary import Floats, Ints

RIDGE = 0.03  # of the samples: shrinks what a few dozen of them cannot determine
NEAREST = 5
FEWEST = 60  # fewer samples give no answer
EACH = 3  # every third is held back
TINY = 1e-12


class Levels(NamedTuple):
    """On held-back samples: accuracy (of classes) or the share of variance explained (of numbers) of the
    `trivial` answer, of a `linear` model and of the nearest `neighbours`, measured on `held` samples."""

    trivial: float
    linear: float
    neighbours: float
    held: int


def class_accuracies(inputs: Floats, labels: Ints) -> Levels | None:
    """Accuracies on `inputs[n, features]` with `labels[n]` (>= 0); None where there are too few samples."""
    known = labels >= 0
    inputs, labels = inputs[known], labels[known]
    kinds, codes = np.unique(labels, return_inverse=True)
    if len(labels) < FEWEST or len(kinds) < 2 or EACH * len(kinds) > len(labels):
        return None
    back = np.arange(len(labels)) % EACH == 0
    x, z = standardize(inputs, ~back)
    y = np.eye(len(kinds))[codes]
    answers = linear(x, y[~back], z).argmax(1)
    near = y[~back][nearest(x, z)].sum(1).argmax(1)
    common = np.bincount(codes[~back], minlength=len(kinds)).argmax()
    truth = codes[back]
    trivial, simple, neighbours = (float(np.mean(answer == truth)) for answer in (common, answers, near))
    return Levels(trivial, simple, neighbours, int(back.sum()))


def explained_variances(inputs: Floats, targets: Floats) -> Levels | None:
    """Shares of the variance of `targets[n, k]` that are explained; None where there are too few samples."""
    if len(targets) < FEWEST or not np.ptp(targets) > 0:
        return None
    back = np.arange(len(targets)) % EACH == 0
    x, z = standardize(inputs, ~back)
    y, truth = targets[~back], targets[back]
    rest = float(np.square(truth - y.mean(0)).sum())
    if not rest > 0:
        return None
    answers = (linear(x, y, z), y[nearest(x, z)].mean(1))
    left = [float(np.square(truth - answer).sum()) / rest for answer in answers]
    return Levels(0.0, 1 - left[0], 1 - left[1], int(back.sum()))


def standardize(inputs: Floats, fitted: np.ndarray) -> tuple[Floats, Floats]:
    """The `fitted` rows and the others, by the mean and deviation of the fitted; constant columns are left
    out."""
    x, z = inputs[fitted], inputs[~fitted]
    mean, spread = x.mean(0), x.std(0)
    varied = spread > TINY * np.maximum(np.abs(mean), 1.0)
    return (x - mean)[:, varied] / spread[varied], (z - mean)[:, varied] / spread[varied]


def linear(x: Floats, y: Floats, z: Floats) -> Floats:
    """Ridge regression of `y[n, k]` on `x[n, f]`, its answers to `z[m, f]`; solved in the smaller of n and
    f."""
    centre = y.mean(0)
    n, width = x.shape
    if width <= n:
        weights = np.linalg.solve(x.T @ x + RIDGE * n * np.eye(width), x.T @ (y - centre))
    else:
        weights = x.T @ np.linalg.solve(x @ x.T + RIDGE * n * np.eye(n), y - centre)
    return np.asarray(z @ weights + centre)


def nearest(x: Floats, z: Floats) -> Ints:
    """Rows of the NEAREST samples `x[n, f]` to each of `z[m, f]`, by squared distance."""
    distance = np.square(x).sum(1) - 2 * z @ x.T
    return np.asarray(np.argpartition(distance, min(NEAREST, len(x)) - 1, axis=1)[:, :NEAREST])


def token_entropies(given: Ints, wanted: Ints) -> tuple[float, float] | None:
    """Entropies in nats a token of `wanted[n]` on held-back places: by how often each occurs, and by how
    often it follows `given[n]`; both mixed with what is less particular. None where there are too few
    samples."""
    known = (wanted >= 0) & (given >= 0)
    given, wanted = given[known], wanted[known]
    if len(wanted) < EACH * FEWEST:
        return None
    size = int(max(given.max(), wanted.max())) + 1
    if size > len(wanted):
        return None
    half = len(wanted) - len(wanted) // EACH  # the last third is held back: neighbours in a text are similar
    alone = (np.bincount(wanted[:half], minlength=size) + 1.0) / (half + size)
    pairs = np.zeros((size, size))
    np.add.at(pairs, (given[:half], wanted[:half]), 1.0)
    after = (pairs + NEAREST * alone) / (pairs.sum(1, keepdims=True) + NEAREST)
    before, true = given[half:], wanted[half:]
    return float(-np.log(alone[true]).mean()), float(-np.log(after[before, true]).mean())

"""The gradient noise scale: how many samples it takes until the gradient is more signal than noise.

From squared gradient norms at two batch sizes (McCandlish et al. 2018, An Empirical Model of
Large-Batch Training, appendix A.1), which micro-batches of gradient accumulation give for free; or from
the products of gradients of steps in a row."""

from collections.abc import Sequence

import numpy as np

WEIGHT = 0.1  # of a new pair of norms in the running means
CLEAR = 2.0  # standard errors that a mean product must be above zero
ENOUGH = 10  # pairs before a value is given: single pairs say next to nothing


def noise_scale(small: float, small_batch: float, big: float, big_batch: float) -> float:
    """From the mean squared norms of gradients averaged over `small_batch` and `big_batch` samples:
    tr(covariance) / |mean|^2, in samples. NaN where the signal is not distinguishable from zero."""
    signal = (big_batch * big - small_batch * small) / (big_batch - small_batch)
    noise = (small - big) / (1 / small_batch - 1 / big_batch)
    return noise / signal if signal > 0 and noise >= 0 else float("nan")


class NoiseScale:
    """Running means of squared norms of the first micro-batch and of all of them."""

    def __init__(self) -> None:
        self._small, self._big, self._count = 0.0, 0.0, 0

    def add(self, first: float, total: float, samples: float, parts: int) -> float:
        """Norms of the gradient after the first of `parts` micro-batches and after all of them (sums,
        whatever they are divided by); `samples` in all. Returns the noise scale so far, or NaN."""
        self._count += 1
        weight = max(WEIGHT, 1 / self._count)
        self._small += weight * (first * first - self._small)
        self._big += weight * ((total / parts) ** 2 - self._big)
        if self._count < ENOUGH or parts < 2 or samples <= 0:
            return float("nan")
        return noise_scale(self._small, samples / parts, self._big, samples)


def noise_scale_of_pairs(pairs: Sequence[tuple[float, float]], batch: float) -> float:
    """From pairs of gradients, each over `batch` other samples at nearly the same weights: their mean
    squared norm and their product, which is that of the signal alone. NaN where the product is not
    distinguishable from zero. Where steps are so long that the gradient changes between them, more noise is
    seen than there is."""
    squares, products = np.array(pairs).T
    error = products.std(ddof=1) / len(pairs) ** 0.5
    signal, whole = float(products.mean()), float(squares.mean())
    return batch * max(whole - signal, 0.0) / signal if signal > CLEAR * error else float("nan")

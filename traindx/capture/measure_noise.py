"""The gradient noise scale: how many samples it takes until the gradient is more signal than noise.

From squared gradient norms at two batch sizes (McCandlish et al. 2018, An Empirical Model of
Large-Batch Training, appendix A.1), which micro-batches of gradient accumulation give for free."""

from __future__ import annotations

WEIGHT = 0.1  # of a new pair of norms in the running means
ENOUGH = 10  # pairs before a value is given: single pairs say next to nothing


def noise_scale(small: float, small_batch: float, big: float, big_batch: float) -> float:
    """From the mean squared norms of gradients averaged over `small_batch` and `big_batch` samples:
    tr(covariance) / |mean|^2, in samples. NaN where the signal cannot be told from zero."""
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

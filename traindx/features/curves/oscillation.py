"""Swings that are no noise: signals that alternate, or go round with a period."""

import msgspec
import numpy as np

from traindx.features.statistics import (
    autocorrelation,
    block_medians,
    legendre,
    median,
    quantile,
    robust_sigma,
)
from traindx.vocabulary import Floats


class Swing(msgspec.Struct, frozen=True):
    """`kind` "alternating" or "periodic", `period` in points, `amplitude` (robust sigma of the
    swing, units of the signal), `share` of the detrended variance that it explains, `p_value`
    under white noise."""

    kind: str
    period: float
    amplitude: float
    share: float
    p_value: float


class Tosses(msgspec.Struct, frozen=True):
    """Swings between the `low` and the `high` end of a range, `times` from one to the other."""

    low: float
    high: float
    times: int


def tosses(values: Floats, *, share: float = 0.25) -> Tosses:
    """How often `values[n]` go from the uppermost quarter of their range (10th to 90th percentile) to the
    lowest one or back. White noise does so about n/3 times: only the size of the range says whether it
    matters."""
    low, high = quantile(values, (0.1, 0.9))
    near = share * (high - low)
    side = np.where(values >= high - near, 1, np.where(values <= low + near, -1, 0))
    side = side[side != 0]
    return Tosses(float(low), float(high), int(np.count_nonzero(np.diff(side))))


def remove_trend(values: Floats, *, degree: int = 3) -> Floats:
    """`values[n]` less a polynomial of low degree, which no swing of four periods or more can be."""
    design = legendre(np.linspace(-1, 1, len(values)), min(degree, max(len(values) // 8, 1)))
    coefficients, *_ = np.linalg.lstsq(design, values, rcond=None)
    return values - design @ coefficients


def clip_outliers(residual: Floats, *, sigmas: float = 4.0) -> Floats:
    """The residual with single outliers cut, so that a spike cannot pass for a swing."""
    bound = sigmas * robust_sigma(residual)
    return np.clip(residual, -bound, bound) if bound > 0 else residual


def strongest_swing(values: Floats, *, most_points: int = 2048) -> Swing | None:
    """The strongest swing of `values[n]`, or None for fewer than 16 points or no variance.

    Alternation is judged by the lag-1 autocorrelation (white noise: standard error 1/sqrt(n));
    a period by the largest line of the periodogram between 4 cycles and a period of 2.5 points, with
    Fisher's test (Fisher 1929): under white noise P(share of the largest of m lines > g) is about
    m (1 - g)^(m - 1).
    """
    if len(values) < 16:
        return None
    points = block_medians(values, most_points) if len(values) > most_points else values
    residual = clip_outliers(remove_trend(points))
    n = len(residual)
    power = float(np.dot(residual, residual))
    if power <= 0:
        return None
    scale = robust_sigma(residual)
    per_point = len(values) / n
    rho = autocorrelation(residual, 1)
    alternating = Swing(
        "alternating", 2 * per_point, scale, max(-rho, 0.0), float(np.exp(-0.5 * n * min(rho, 0.0) ** 2))
    )
    lines = np.abs(np.fft.rfft(residual)) ** 2
    high = int(n / 2.5)
    band = lines[4 : high + 1]
    if len(band) < 4 or not band.sum() > 0:  # too short, or no power left next to the slow drift
        return alternating
    k = int(np.argmax(band))
    share = float(band[max(0, k - 1) : k + 2].sum() / lines[1:].sum())
    g = float(band[k] / band.sum())
    p_value = float(min(1.0, len(band) * max(1 - g, 0.0) ** (len(band) - 1)))
    periodic = Swing("periodic", n / (k + 4) * per_point, scale, share, p_value)
    return min(alternating, periodic, key=lambda s: (s.p_value, -s.share))


def epoch_profile(values: Floats, period: float, *, bins: int = 12) -> tuple[Floats, float]:
    """Mean profile over one epoch (`bins` values) of `values[n]` whose epochs are `period` points
    long, and the share of the variance around the epochs' own levels that it explains beyond chance
    (0..1). A steady descent, or a step down from epoch to epoch, is no profile: of the linear part
    only what neither of them explains is kept.
    """
    epochs = int(len(values) // period)
    place = np.arange(len(values)) / period
    used = place < epochs
    values, place = values[used], place[used]
    number = place.astype(np.int64)
    levels = np.bincount(number, weights=values) / np.bincount(number)
    residual = clip_outliers(values - levels[number])
    phase = ((place - number) * bins).astype(np.int64).clip(0, bins - 1)
    profile = np.bincount(phase, weights=residual, minlength=bins) / np.maximum(
        np.bincount(phase, minlength=bins), 1
    )
    x = np.linspace(-0.5, 0.5, bins)
    line = float(np.dot(x, profile) / np.dot(x, x))
    progress = min(float(median(np.diff(levels))), 0.0)
    profile = profile - x * float(np.clip(line, 1.5 * progress, 0.0))
    total = float(np.var(residual))
    by_chance = total * bins / max(len(values), 1)
    explained = float(np.mean(profile[phase] ** 2))
    return profile, max(0.0, min(1.0, (explained - by_chance) / total)) if total > 0 else 0.0


def is_even(spacing: Floats, *, tolerance: float = 0.01, share: float = 0.9) -> bool:
    """Whether nearly all (`share`) gaps between logged steps are the same within `tolerance`."""
    usual = float(median(spacing))
    return float(np.mean(np.abs(spacing - usual) <= tolerance * usual)) >= share

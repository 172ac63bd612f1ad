"""Where a curve is going: an ensemble of decay laws, weighted by how well each would have forecast
the part of the run that is already known.

Families: `c + a (x + x0)^-b` (power law), `c + a exp(-x / tau)` (exponential), `c + a log(x + x0)` (log), `c
+ a x` (line), and the last level (nothing changes any more). Each is linear in c and a once its shape is
fixed, so all shapes of a grid are fitted at once in closed form.
"""

import msgspec
import numpy as np

from traindx.features.curve import Curve
from traindx.features.curves.score_scales import scale_of
from traindx.features.shared import Features
from traindx.features.statistics import block_edges, block_medians, difference_noise, median, median_error
from traindx.vocabulary import Floats, ForecastPoint, Run

BLOCKS = 48  # the curve is reduced to so many levels before anything is fitted
LEAST_POINTS = 12  # fewer say nothing about a shape
CUTS = (0.4, 0.5, 0.6, 0.7, 0.8)  # where the known part is cut to be forecast from its beginning
# Half-widths in units of the back-tested error, by the coverage asked for. Measured on real logs cut at
# 25, 50 and 75 % (benchmarks/forecast.py); normal quantiles (1.28, 1.96) would be too narrow, as
# schedules and drops make the errors heavy-tailed.
QUANTILES = {0.8: 1.5, 0.95: 3.2}


class Fit(msgspec.Struct, frozen=True):
    """Forecast of one family at the target, and its error on the known part (units of the signal)."""

    value: float
    error: float


def shapes(x: Floats, span: float) -> dict[str, Floats]:
    """Basis curves `[shapes, len(x)]` of every family at positions `x` (1 = the end of what is
    known when `span` is 1)."""
    shifts = np.array([0.003, 0.03, 0.15])[:, None, None] * span
    exponents = np.array([0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5])[None, :, None]
    power = ((x[None, None, :] + shifts) / span) ** -exponents
    taus = np.array([0.05, 0.1, 0.2, 0.4, 0.8])[:, None] * span
    log = -np.log((x[None, :] + shifts[:, :, 0]) / span)
    return {
        "power": power.reshape(-1, len(x)),
        "exponential": np.exp(-x[None, :] / taus),
        "log": log.reshape(-1, len(x)),
        "line": -(x / span)[None, :],
        "level": np.zeros((1, len(x))),
    }


def best_of_family(basis: Floats, y: Floats, known: int, weights: Floats) -> Floats:
    """The family's best curve over all positions `[len(basis[0])]`, fitted to the first `known`
    levels by weighted least squares. Curves that would rise are not allowed."""
    phi, w = basis[:, :known], weights[:known] / weights[:known].sum()
    mean_phi, mean_y = phi @ w, float(y[:known] @ w)
    centred = phi - mean_phi[:, None]
    power = (centred**2) @ w
    slope = np.where(power > 0, (centred * (y[:known] - mean_y)) @ w / np.where(power > 0, power, 1.0), 0.0)
    slope = np.maximum(slope, 0.0)
    offset = mean_y - slope * mean_phi
    residual = ((y[:known] - (offset[:, None] + slope[:, None] * phi)) ** 2) @ w
    chosen = int(np.argmin(residual))
    curve: Floats = offset[chosen] + slope[chosen] * basis[chosen]
    return curve


def extrapolate(x: Floats, y: Floats, target: float) -> tuple[float, float]:
    """Forecast and error (one sigma, units of y) of the levels `y[k]` at positions `x[k]`, at
    position `target` > x[-1]. k >= 8."""
    places = np.append(x, target)
    recent = np.linspace(0.3, 1.0, len(x))  # the latest part matters most, the first least
    # The grid of shapes hangs on the span that is known: it is cut as the forecast is cut.
    known = [k for k in (max(4, int(cut * len(x))) for cut in CUTS) if k < len(x) - 1]
    cut = [(k, shapes(x, float(x[k - 1]))) for k in known]
    return combine_fits(
        [
            backtest(basis, [(k, grid[family]) for k, grid in cut], y, recent)
            for family, basis in shapes(places, float(x[-1])).items()
        ]
    )


def backtest(basis: Floats, cut: list[tuple[int, Floats]], y: Floats, weights: Floats) -> Fit:
    """A family's forecast at the last position, with its root mean square error at the end of the
    known part when only a beginning of it is given: so many levels, with the family's `cut` grid of them."""
    k = len(y)
    end = float(median(y[-3:]))
    errors = []
    for known, inner in cut:
        errors.append(float(anchor_curve(best_of_family(inner, y, known, weights), y, known)[k - 1] - end))
    full = anchor_curve(best_of_family(basis, y, k, weights), y, k)
    return Fit(float(full[-1]), float(np.sqrt(np.mean(np.square(errors)))) if errors else float(np.ptp(y)))


def anchor_curve(curve: Floats, y: Floats, known: int) -> Floats:
    """The fitted curve moved so that it starts from the level reached last: its shape says how the
    run goes on, not where it is."""
    recent = slice(max(0, known - 3), known)
    return curve + float(median(y[recent] - curve[recent]))


def combine_fits(fits: list[Fit]) -> tuple[float, float]:
    """Mean of the families' forecasts weighted by inverse squared error, and one sigma from the
    errors and from how much the families disagree."""
    errors = np.array([f.error for f in fits])
    values = np.array([f.value for f in fits])
    weights = 1.0 / np.maximum(errors, max(1e-3 * float(errors.max()), 1e-150)) ** 2
    weights /= weights.sum()
    middle = float(weights @ values)
    return middle, float(np.sqrt(weights @ (errors**2 + (values - middle) ** 2)))


def horizon_factor(ratio: float) -> float:
    """How much larger an error is at `ratio` times the known span than at the horizon of the
    back-tests (1 / 0.6 on average): errors grow with the logarithm of the ratio."""
    return max(float(np.log(ratio) / np.log(1.0 / np.mean(CUTS))), 0.7)


def forecast_curve(curve: Curve, target: float) -> tuple[float, float] | None:
    """Forecast (units of the signal, as logged) and one sigma at step `target`; None when the
    curve has fewer than 12 finite points or its steps do not advance."""
    if curve.n < LEAST_POINTS or not target > curve.steps[-1] > curve.steps[0]:
        return None
    edges = block_edges(curve.n, BLOCKS)
    y = block_medians(curve.as_loss, BLOCKS)
    x = curve.steps[((edges[:-1] + edges[1:] - 1) // 2)] - curve.steps[0]
    x = np.maximum(x, 1e-9 * float(x[-1]))
    skip = 1 if len(y) > 2 * LEAST_POINTS else 0  # the very first level is a transient
    ahead = float(target - curve.steps[0])
    middle, sigma = extrapolate(x[skip:], y[skip:], ahead)
    sigma *= horizon_factor(ahead / float(x[-1]))
    noise = median_error(difference_noise(curve.as_loss), curve.n / BLOCKS)
    return middle * curve.sign, float(np.hypot(sigma, noise))


def target_step(run: Run, curve: Curve) -> float:
    """The planned end of the run if it is ahead, else twice the steps made so far."""
    planned = run.setup.planned_epochs if run.axis == "epoch" else run.setup.planned_steps
    last, first = float(curve.steps[-1]), float(curve.steps[0])
    return float(planned) if planned and last < planned <= 20 * last else last + (last - first)


def forecast(run: Run, features: Features) -> tuple[ForecastPoint, ...]:
    """Forecasts of the training and validation loss (or of their substitutes), each at 80 and 95 % and within what
    the signal can be; none for a run that has already failed or is too short, or whose loss is no score."""
    points: list[ForecastPoint] = []
    names = dict.fromkeys(n for n in (features.objective_name, "val/loss") if n)
    for name in () if features.loss_is_no_score else names:
        curve = features.curve(name)
        if curve is None or has_failed(curve):
            continue
        target = target_step(run, curve)
        known = forecast_curve(curve, target)
        if known is None:
            continue
        middle, sigma = known
        bounds = bounds_of(features, curve)
        for level, width in QUANTILES.items():
            around = [middle, middle - width * sigma, middle + width * sigma]
            at, low, high = np.clip(around, *bounds).tolist()
            points.append(ForecastPoint(name, target, at, low, high, level))
    return tuple(points)


def bounds_of(features: Features, curve: Curve) -> tuple[float, float]:
    """The values that nothing goes beyond: of an accuracy 0 and 1, or 100 where it is logged in percent."""
    scale = scale_of(curve.name, curve.values)
    least, most = (scale.low, scale.high) if scale else (features.floor(curve.name), np.inf)
    return least if float(curve.values.min(initial=least)) >= least else -np.inf, most


def has_failed(curve: Curve) -> bool:
    """Whether the signal ends in values that are not finite: there is nothing left to forecast."""
    return len(curve.raw) == 0 or not bool(np.isfinite(curve.raw.values[-1]))

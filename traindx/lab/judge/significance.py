"""Whether a change helped: paired gains of a few seeds, judged against their own spread.

A gain is ln(before / after), see `objectives`. Three to five pairs carry little evidence, so the rule
claims no more:

* Student's interval over the pairs decides, one-sided. Its level is `ALPHA` over the number of changes
  that are judged together (Bonferroni, the first step of Holm's method), and is shared out among the
  analyses: half of it at 3 pairs, half of what is left at 5 and at 8, the rest at 12. Three pairs that agree to
  a tenth of their mean reach it; a lucky seed does not. At 12 pairs the exact p-value of their signs decides,
  because gains whose sizes differ widely make Student's interval too wide.
* The spread of three pairs may be small by chance. It counts as at least `LEAST_SPREAD`, and as at least
  a fifth of the spread between seeds where other arms of the script show that.
* Confirmed also needs a mean gain of the minimum effect. A real but smaller effect is refuted (equivalent in
practice), as is one whose interval excludes the minimum effect.
* The p-value is the exact one of the signs of the pairs under a symmetric null (1/8 at best with 3 pairs,
  1/32 with 5), with Holm's correction. It is reported, and cannot decide with fewer than 12 pairs.

The bootstrap interval is exact as well: all n**n resamples of n <= 5 pairs, without random numbers.

An edited script behaves like its intervention where the first losses of both are equal."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from traindx.lab.conduct.experiment import Conducted, last_line
from traindx.vocabulary import Run
from traindx.vocabulary.trial import Interval, Verdict

ALPHA = 0.05  # probability of confirming any change that does nothing
FIRST, MOST = 3, 5  # pairs that may be asked for
MORE = (5, 8, 12)  # pairs at which a promising change is judged again, while the budget lasts
MIN_EFFECT = 0.10
# Gains are cut there: 20 times better is as good as fixed, and one seed must not carry the mean.
CAP = 3.0
LEAST_SPREAD = 0.02  # of gains: below that two runs count as equal
OF_NOISE = 0.2  # pairing takes away at most four fifths of the spread between seeds
# Of the minimum effect: a first pair below that, where the noise is known, is not followed up.
HOPELESS = 0.5


class Judged(NamedTuple):
    """The mean gain, its two-sided 95 % interval, the exact p-value, and the verdict with its reason."""

    effect: float
    interval: Interval | None
    p_value: float | None
    verdict: Verdict
    why: str


def judge(
    gains: Sequence[float],
    *,
    min_effect: float = MIN_EFFECT,
    together: int = 1,
    noise: float | None = None,
    paired: bool = True,
    analysis: int = 0,
) -> Judged:
    """Judge a change by the gains of its pairs, one for each seed. `together`: how many changes are judged
    together; `analysis`: how often this change was judged before, with fewer pairs; `noise`: the standard
    deviation of the objective between seeds, as a gain, where other arms show it; `paired`: whether the arms of
    a pair, which share a seed, differ in the change alone."""
    values = np.clip(np.asarray(gains, dtype=np.float64), -CAP, CAP)
    if not len(values):
        return Judged(0.0, None, None, "inconclusive", "no pair was finished")
    effect, margin = float(values.mean()), least_gain(min_effect)
    if np.all(values == 0):
        return Judged(0.0, (0.0, 0.0), 1.0, "refuted", "it made no difference at all")
    if len(values) < FIRST:
        return Judged(effect, None, signs_p(values), *early_verdict(values, margin, noise))
    of_noise = OF_NOISE if paired else math.sqrt(2)  # the arms of an unpaired pair are independent
    spread = max(float(values.std(ddof=1)), LEAST_SPREAD, of_noise * (noise or 0.0))
    interval, last, p_value = intervals(values, spread), len(values) >= MORE[-1], signs_p(values)
    level = ALPHA / 2 ** (analysis + (not last)) / max(together, 1)
    half = student(1 - level, len(values) - 1) * spread / math.sqrt(len(values))
    if last and paired and p_value <= level:
        half = min(half, effect / 2)
    return Judged(effect, interval, p_value, *verdict(effect, half, interval, margin))


def verdict(effect: float, half: float, interval: Interval, margin: float) -> tuple[Verdict, str]:
    """The verdict on an effect that is known to within `half`. `margin`: the smallest gain that counts."""
    if effect - half > 0 and effect >= margin:
        return "confirmed", f"{percent(effect)}; {describe_interval(interval)}"
    if effect + half < 0 and effect <= -margin:
        return "harmful", f"{percent(effect)}"
    if interval[1] < margin:
        return "refuted", f"{percent(effect)}, at most {percent(interval[1])}: too small to count"
    return "inconclusive", f"{percent(effect)}; {describe_interval(interval)}"


def describe_interval(interval: Interval) -> str:
    """ "95 % interval: 12 % worse to 40 % better"."""
    low, high = (percent(end).removeprefix("at least ") for end in interval)
    return f"95 % interval: {low} to {high}" if low != high else "all seeds agree to within 1 %"


def early_verdict(values: np.ndarray, margin: float, noise: float | None) -> tuple[Verdict, str]:
    """The verdict over one or two pairs, which is never final."""
    mean = f"{percent(float(values.mean()))} over {len(values)} {'pair' if len(values) == 1 else 'pairs'}"
    if float(values.max()) < HOPELESS * margin and (noise is None or float(values.max()) < margin - noise):
        return "inconclusive", f"{mean}: not followed up"
    return "inconclusive", f"{mean}: too few pairs to judge"


def is_hopeless(gains: Sequence[float], min_effect: float, noise: float | None) -> bool:
    """Whether the first pairs make it hopeless that more would confirm the change."""
    if not gains:
        return False
    margin, best = least_gain(min_effect), max(gains)
    return best < HOPELESS * margin and (noise is None or best < margin - noise or best <= 0)


def is_nearly_decided(judged: Judged, min_effect: float) -> bool:
    """Whether more seeds may still decide."""
    return judged.verdict == "inconclusive" and judged.effect >= least_gain(min_effect) / 2


def least_gain(min_effect: float) -> float:
    """The gain of an improvement by that share: 0.105 for a tenth."""
    return -math.log1p(-min_effect)


def percent(gain: float) -> str:
    """ "62 % better" or "9 % worse", for a gain; one that reaches `CAP` may be larger."""
    if gain >= CAP:
        return f"at least {100 - 100 * math.exp(-CAP):.0f} % better"
    share = 1 - math.exp(-abs(gain))
    if share < 0.005:
        return "no difference"
    return f"{100 * share:.0f} % better" if gain > 0 else f"{100 * (math.exp(abs(gain)) - 1):.0f} % worse"


def intervals(values: np.ndarray, spread: float) -> Interval:
    """Two-sided 95 %: Student's, widened to hold the bootstrap's."""
    half = student(0.975, len(values) - 1) * spread / math.sqrt(len(values))
    low, high = bootstrap(values)
    mean = float(values.mean())
    return min(mean - half, low), max(mean + half, high)


def bootstrap(values: np.ndarray, level: float = 0.95) -> Interval:
    """The percentile interval of the mean over all n**n resamples of `values[n]`, n at most 6; of more,
    Student's."""
    n = len(values)
    if n > 6:
        half = student((1 + level) / 2, n - 1) * float(values.std(ddof=1)) / math.sqrt(n)
        return float(values.mean()) - half, float(values.mean()) + half
    means = np.sort(np.array([values[list(drawn)].mean() for drawn in product(range(n), repeat=n)]))
    cut = int((1 - level) / 2 * len(means))
    return float(means[cut]), float(means[-1 - cut])


def signs_p(values: np.ndarray) -> float:
    """The chance of a mean as large as this one if the sign of every pair were a coin's: exact,
    one-sided."""
    seen = float(values.sum()) - 1e-12
    sizes = np.abs(values)
    sums = [float(np.dot(signs, sizes)) for signs in product((1.0, -1.0), repeat=len(values))]
    return float(sum(total >= seen for total in sums)) / len(sums)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values of several tests, adjusted by Holm's step-down method, in their order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for place, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def student(level: float, freedom: int) -> float:
    """The quantile of Student's distribution: the t that is not exceeded with probability `level` >= 0.5."""
    low, high = 0.0, 1.0
    while student_cdf(high, freedom) < level:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if student_cdf(middle, freedom) < level else (low, middle)
    return (low + high) / 2


def student_cdf(t: float, freedom: int) -> float:
    """P(T <= t) for t >= 0, in closed form for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and
    26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    cos, sin = math.cos(angle), math.sin(angle)
    if freedom % 2:
        term, total = cos, cos if freedom > 1 else 0.0
        for k in range(3, freedom - 1, 2):
            term *= (k - 1) / k * cos * cos
            total += term
        inside = 2 / math.pi * (angle + sin * total)
    else:
        term, total = 1.0, 1.0
        for k in range(2, freedom - 1, 2):
            term *= (k - 1) / k * cos * cos
            total += term
        inside = sin * total
    return 0.5 + inside / 2


LOSS = "train/loss"
SEED = "seed=0"  # both runs get it, because an unseeded script differs from run to run
STEPS = 20
WITHIN = 1e-6  # relative: the rounding that remains where both make the same steps


class Conducting(Protocol):
    def __call__(
        self, command: Sequence[str], interventions: Sequence[str] = (), *, out: Path, **options: Any
    ) -> Conducted: ...


class Agreement(NamedTuple):
    """How far the first losses of two runs agree: `same` if all of them do. `steps` were compared, `apart`
    is their largest relative difference, `why` says what prevented the comparison (""), `broken` whether
    the edited script ended in an error that the unedited one did not have."""

    same: bool = False
    steps: int = 0
    apart: float = math.inf
    why: str = ""
    broken: bool = False


def compare(
    command: Sequence[str],
    interventions: Sequence[str],
    edited: Mapping[str, str],
    out: Path,
    *,
    conduct: Conducting,
    read: Callable[[Path], Run],
    **options: Any,
) -> Agreement:
    """Run the command under its interventions, and its edited copy (`edited`: new texts by path in its
    folder) without them, both with the same seed, and compare the first losses. Records go below `out`."""
    options = {"steps": STEPS, **options}
    intervened = conduct(command, [SEED, *interventions], out=out / "intervened", **options)
    own = conduct(command, [SEED], out=out / "edited", edited=edited, **options)
    if not own.ok:
        why = f"the edited script {own.describe_end()}: {last_line(own.tail)}"
        return Agreement(why=why, broken=intervened.ok)
    if not intervened.ok:
        return Agreement(why=f"under intervention, the script {intervened.describe_end()}")
    return agreement(losses(read(intervened.out), options["steps"]), losses(read(own.out), options["steps"]))


def losses(run: Run, steps: int) -> np.ndarray:
    """The first training losses, one a step."""
    series = run.series.get(LOSS)
    return np.empty(0) if series is None else series.values[:steps]


def agreement(one: np.ndarray, other: np.ndarray, within: float = WITHIN) -> Agreement:
    """Whether two beginnings of a loss are equal to `within` (relative to the larger). Two NaNs are
    equal."""
    count = min(len(one), len(other))
    if not count:
        return Agreement(why="no loss was recorded")
    a, b = one[:count], other[:count]
    scale = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.finfo(float).tiny)
    with np.errstate(invalid="ignore"):
        apart = np.where(np.isclose(a, b, rtol=0, atol=0, equal_nan=True), 0.0, np.abs(a - b) / scale)
    worst = math.inf if np.isnan(apart).any() else float(apart.max())
    return Agreement(worst <= within, count, worst)

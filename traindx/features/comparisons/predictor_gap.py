"""A net compared with simple predictors that were fitted on some of its samples (`simple_predictors`)."""

import math

import msgspec

from traindx.features.shared import Features
from traindx.features.statistics import median
from traindx.vocabulary import Run

LEAST = 3  # points of a series that has a level


class PredictorGap(msgspec.Struct, frozen=True):
    """What the net reaches and what simple predictors do, in one `unit` ("accuracy", "explained": more is
    better; "nats": less is). `trivial` is the commonest answer, `simple` the best of the others, called
    `which`; `error` the standard error of the difference to that one."""

    unit: str
    own: float
    trivial: float
    simple: float
    which: str
    error: float

    @property
    def share(self) -> float:
        """Of what the simple predictor is better than the trivial one, what the net is."""
        return (self.own - self.trivial) / (self.simple - self.trivial)

    @property
    def behind(self) -> float:
        """By how many standard errors the net is worse than the simple predictor."""
        gap = self.own - self.simple if self.unit == "nats" else self.simple - self.own
        return gap / self.error


def level(features: Features, name: str) -> float | None:
    """Median over the last third of the run's steps, however few: earlier points show how it began."""
    curve, first, last = features.curve(name), features.run.first_step, features.run.last_step
    if curve is None or curve.n < LEAST or first is None or last is None:
        return None
    late = curve.values[curve.steps >= last - (last - first) / 3]
    return float(median(late)) if len(late) else None


def predictor_gap(
    run: Run, features: Features, accuracy: str = "outputs_accuracy", clear: float = 4.0, much: float = 0.1
) -> PredictorGap | None:
    """The comparison, with `accuracy` as the series of the net's own; None where there is none, or where the
    simple predictors are not better than the trivial one, by `clear` standard errors and by `much` of the
    scale."""
    number = run.setup.number
    held = number("reference_samples_held")
    alone, after = number("reference_unigram_entropy"), number("reference_bigram_entropy")
    if alone is not None and after is not None:
        own = level(features, "outputs_cross_entropy")
        clearly = alone - after > much * alone and accuracy == "outputs_accuracy"
        return (
            PredictorGap("nats", own, alone, after, "bigram", much / clear * after)
            if own is not None and clearly
            else None
        )
    unit = "accuracy" if number("reference_linear_accuracy") is not None else "explained"
    own = level(features, accuracy if unit == "accuracy" else "outputs_explained")
    if held is None or own is None or (unit == "explained" and accuracy != "outputs_accuracy"):
        return None
    names = ("trivial", "linear", "neighbours")
    trivial, linear, near = (number(f"reference_{name}_{unit}") for name in names)
    if trivial is None or linear is None or near is None:
        return None
    simple, which = max((linear, "linear"), (near, "neighbours"))
    wrong = max(simple * (1 - simple), 1 / held)
    error = (
        math.sqrt(wrong / held) if unit == "accuracy" else math.sqrt(2 / held) * max(1 - simple, 1 / held)
    )
    clearly = simple - trivial > max(clear * error, much)
    return PredictorGap(unit, own, trivial, simple, which, error) if clearly else None

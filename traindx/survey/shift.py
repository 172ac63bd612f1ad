"""How the validation data differ from the training data."""

import math

from traindx.survey.api import Fact, Floats, Gathered, Measured, Sample, Task, list_names, np
from traindx.survey.inputs import numeric

LEAST = 20  # rows on both sides
CHANCE = 1e-3  # of any feature to seem shifted where none is


def measure_shift(
    found: Gathered, sample: Sample, held_out: Gathered, other: Sample, task: Task
) -> Measured:
    """Offsets and spreads over all features, and the features whose distributions differ."""
    if min(len(sample.rows), len(other.rows)) < LEAST:
        return Measured(reasons={"val_inputs_shift": f"needs {LEAST} samples on both sides"})
    facts = moments(found, held_out) | features(found, sample, other)
    if found.classes and held_out.classes:
        facts |= targets(found, sample, held_out, other, task)
    return Measured(facts)


def moments(found: Gathered, held_out: Gathered) -> dict[str, Fact]:
    """Mean distance of the features' means, in training spreads, and the ratio of their mean spreads."""
    a, b = found.columns, held_out.columns
    which = numeric(found) & (a.count > 0) & (b.count > 0) & (a.std > 0)
    if not which.any():
        return {}
    return {
        "val_inputs_shift": float((np.abs(a.mean - b.mean)[which] / a.std[which]).mean()),
        "val_inputs_spread_ratio": float(np.median(b.std[which] / a.std[which])),
    }


def features(found: Gathered, sample: Sample, other: Sample) -> dict[str, Fact]:
    """The largest distance between the distributions of a feature on both sides (Kolmogorov-Smirnov), by how
    much it exceeds what chance allows for so many features, and which exceed it."""
    fields = found.table.fields
    distances = np.zeros(len(fields))
    beyond = np.zeros(len(fields))
    for i in range(len(fields)):
        a, b = present(sample.features[:, i]), present(other.features[:, i])
        if min(len(a), len(b)) >= LEAST and fields[i].kind != "text":
            distances[i] = ks(a, b)
            beyond[i] = distances[i] - allowance(len(a), len(b), CHANCE / len(fields))
    shifted = np.flatnonzero(beyond > 0)
    shifted = shifted[np.argsort(-distances[shifted], kind="stable")]
    return {
        "val_shift_largest": float(np.where(beyond > 0, distances, 0.0).max(initial=0.0)),
        "val_shifted_features": len(shifted),
        "val_shift_where": list_names([fields[i].name for i in shifted]),
    }


def present(values: Floats) -> Floats:
    return values[np.isfinite(values)]


def ks(a: Floats, b: Floats) -> float:
    """The largest difference of the two empirical distribution functions, 0..1."""
    a, b = np.sort(a), np.sort(b)
    every = np.concatenate([a, b])
    below_a = np.searchsorted(a, every, side="right") / len(a)
    below_b = np.searchsorted(b, every, side="right") / len(b)
    return float(np.abs(below_a - below_b).max())


def allowance(n: int, m: int, chance: float) -> float:
    """The distance that two samples of one distribution exceed with probability `chance` at most
    (Smirnov's asymptotic bound, which is conservative for discrete values)."""
    return math.sqrt(-0.5 * math.log(chance / 2) * (n + m) / (n * m))


def targets(
    found: Gathered, sample: Sample, held_out: Gathered, other: Sample, task: Task
) -> dict[str, Fact]:
    """How far apart the classes' shares (total variation) or the targets' distributions (Kolmogorov-Smirnov)
    are, and what chance allows."""
    if task == "numbers":
        a, b = present(sample.target), present(other.target)
        return {"val_target_shift": ks(a, b), "val_target_shift_chance": allowance(len(a), len(b), CHANCE)}
    every = sorted(set(found.classes) | set(held_out.classes))
    a, b = shares(found.classes, every), shares(held_out.classes, every)
    n, m = sum(found.classes.values()), sum(held_out.classes.values())
    pooled = (a * n + b * m) / (n + m)
    sizes = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    # Each share differs by sqrt(2 / pi) standard errors on average, by 3 times that hardly ever.
    return {
        "val_target_shift": float(np.abs(a - b).sum() / 2),
        "val_target_shift_chance": float(3 * math.sqrt(2 / math.pi) * sizes.sum() / 2),
    }


def shares(counts: dict[float, int], every: list[float]) -> Floats:
    values = np.array([counts.get(c, 0) for c in every], dtype=np.float64)
    return np.asarray(values / max(float(values.sum()), 1.0))

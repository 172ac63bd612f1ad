"""Whether labels, and the errors of a model, are spread evenly over the slices of a sensitive column."""

from traindx.survey.api import (
    Codes,
    Fact,
    Floats,
    Gathered,
    Measured,
    NDArray,
    Sample,
    Task,
    escape_name,
    np,
)
from traindx.survey.noise import Predicted

LEAST = 30  # samples of a slice
MOST = 50  # slices
CLASSES = 20  # most frequent classes whose rates are compared

Compared = tuple[float, float, int, int]  # largest difference, its standard errors, slice, class


def measure_slices(
    found: Gathered, sample: Sample, task: Task, codes: Codes, predicted: Predicted | None
) -> Measured:
    """The largest differences between a slice and all others: of the rate of a class (or the mean target, in
    spreads), and of the error rate of the cross-validated model."""
    column = found.table.sensitive
    if column is None or not np.isfinite(sample.sensitive).any():
        return Measured(reasons={"slice_label_gap": "no sensitive column was named (--sensitive COLUMN)"})
    values, counts = np.unique(sample.sensitive[np.isfinite(sample.sensitive)], return_counts=True)
    kept = values[(counts >= LEAST)][:MOST]
    if len(kept) < 2:
        return Measured(reasons={"slice_label_gap": f"needs two slices with {LEAST} samples each"})
    words = codes.words("sensitive:" + column)
    facts: dict[str, Fact] = {
        "slices": len(values), "slices_compared": len(kept), "slice_column": escape_name(column),
        "slice_smallest_share": float(counts.min() / counts.sum()),
    }  # fmt: skip
    known = np.isfinite(sample.target)
    gap = largest(sample.target[known], sample.sensitive[known], kept, task)
    facts |= gap_facts("slice_label", gap, words, kept)
    if predicted is not None:
        wrong, groups = predicted.wrong, sample.sensitive[predicted.places]
        facts |= gap_facts(
            "slice_error",
            largest(wrong.astype(np.float64), groups, kept, "numbers", spread=1.0),
            words,
            kept,
        )
    return Measured(facts)


def gap_facts(name: str, gap: Compared, words: list[str], slices: Floats) -> dict[str, Fact]:
    difference, errors, place, _ = gap
    code = int(slices[place])
    return {
        f"{name}_gap": difference,
        f"{name}_gap_errors": errors,
        f"{name}_gap_slice": escape_name(words[code] if code < len(words) else code),
    }


def largest(
    target: Floats, groups: Floats, slices: Floats, task: Task, spread: float | None = None
) -> Compared:
    """The difference between a slice and the rest that exceeds its standard error the most."""
    columns = [target / (spread or max(float(target.std()), 1e-300))]
    if task == "classes":
        values, counts = np.unique(target, return_counts=True)
        columns = [(target == c) * 1.0 for c in values[np.argsort(-counts, kind="stable")][:CLASSES]]
    best: Compared = (0.0, 0.0, 0, 0)
    for place, code in enumerate(slices):
        inside = groups == code
        for number, column in enumerate(columns):
            difference, error = mean_difference(column, inside)
            score = abs(difference) / error if error > 0 else 0.0
            if score > best[1]:
                best = (difference, score, place, number)
    return best


def mean_difference(column: Floats, inside: NDArray[np.bool_]) -> tuple[float, float]:
    """The difference of the means inside and outside, and its standard error (pooled spread)."""
    a, b = column[inside], column[~inside]
    if not len(a) or not len(b):
        return 0.0, 0.0
    return float(a.mean() - b.mean()), float(column.std() * np.sqrt(1 / len(a) + 1 / len(b)))

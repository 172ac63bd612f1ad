"""Whether one feature alone predicts the target."""

from traindx.survey.api import (
    Fact,
    Floats,
    Gathered,
    Kind,
    Measured,
    Sample,
    Task,
    escape_name,
    list_names,
    np,
)

LEAST = 50  # samples
BINS, EACH = 64, 16  # of a feature with many values, and samples a bin
ROWS = 20_000
LEAKS = 0.98  # skill from which a feature is named


def measure_leakage(found: Gathered, sample: Sample, task: Task) -> Measured:
    """The skill of the best single feature (0: as good as the best constant answer, 1: perfect), on rows
    that its table was not made from, and of the next best."""
    known = np.flatnonzero(np.isfinite(sample.target))[:: max(1, len(sample.rows) // ROWS)]
    lacking = {"feature_skill_best": f"needs {LEAST} samples of two different targets"}
    if len(known) < LEAST or len(np.unique(sample.target[known])) < 2:
        return Measured(reasons=lacking)
    order = np.random.default_rng(0).permutation(known)
    fields = found.table.fields
    skills = np.array(
        [skill(sample.features[order, i], sample.target[order], f.kind, task) for i, f in enumerate(fields)]
    )
    best = np.argsort(-skills, kind="stable")
    leaking = [fields[i].name for i in best if skills[i] >= LEAKS]
    facts: dict[str, Fact] = {
        "feature_skill_best": float(skills[best[0]]),
        "feature_skill_next": float(skills[best[1]]) if len(best) > 1 else 0.0,
        "feature_skill_samples": len(known),
        "feature_skill_best_name": escape_name(fields[best[0]].name),
        "feature_skill_where": list_names(leaking),
    }
    return Measured(facts)


def skill(values: Floats, target: Floats, kind: Kind, task: Task) -> float:
    """How well a table of the target over bins of one feature, made on one half, does on the other half."""
    cells = bin_values(values, kind)
    half = len(values) // 2
    parts = (slice(None, half), slice(half, None))
    if task == "numbers":
        scores = [explained_variance(cells, target, a, b) for a, b in (parts, parts[::-1])]
    else:
        _, classes = np.unique(target, return_inverse=True)
        scores = [accuracy(cells, classes, a, b) for a, b in (parts, parts[::-1])]
    return float(np.clip(np.mean(scores), 0.0, 1.0))


def bin_values(values: Floats, kind: Kind) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """`cell[n]`: the values themselves where they are few or words, bins of equal counts else; missing
    values have a cell of their own."""
    finite = np.isfinite(values)
    distinct = np.unique(values[finite])
    bins = min(max(len(values) // EACH, 4), BINS)
    if kind != "number" or len(distinct) <= bins:
        cells = np.searchsorted(distinct, np.where(finite, values, 0.0))
    else:
        edges = np.unique(np.quantile(values[finite], np.linspace(0, 1, bins + 1)[1:-1]))
        cells = np.searchsorted(edges, np.where(finite, values, 0.0), side="right")
    last = max(len(distinct), BINS) + 1
    return np.asarray(np.where(finite, cells, last), dtype=np.intp)


def accuracy(cells: np.ndarray, classes: np.ndarray, known: slice, asked: slice) -> float:
    """(accuracy - majority) / (1 - majority) on the rows `asked`, of the table made on `known`."""
    counts = np.zeros((int(cells.max()) + 1, int(classes.max()) + 1))
    np.add.at(counts, (cells[known], classes[known]), 1.0)
    overall = counts.sum(0)
    answers = np.where(counts.any(1), counts.argmax(1), overall.argmax())
    right = float((answers[cells[asked]] == classes[asked]).mean())
    guess = float((classes[asked] == overall.argmax()).mean())
    return (right - guess) / (1 - guess) if guess < 1 else 0.0


def explained_variance(cells: np.ndarray, target: Floats, known: slice, asked: slice) -> float:
    """R2 on the rows `asked` of the bins' means on `known`."""
    size = int(cells.max()) + 1
    counts = np.bincount(cells[known], minlength=size)
    sums = np.bincount(cells[known], weights=target[known], minlength=size)
    answers = np.where(counts > 0, sums / np.maximum(counts, 1), target[known].mean())
    left = float(np.square(target[asked] - answers[cells[asked]]).sum())
    total = float(np.square(target[asked] - target[known].mean()).sum())
    return 1 - left / total if total > 0 else 0.0

"""Labels that the data contradict: confident learning (Northcutt et al., 2021) by cleanlab, on class
probabilities that are cross-validated with scikit-learn.

A classifier takes the features of a sample as a matrix: numbers standardized, words as indicators, text as
weighted counts of hashed words."""

import os
import re
import warnings
import zlib
from typing import Any

import msgspec
from numpy.typing import NDArray

from traindx.survey.api import Fact, Field, Floats, Gathered, Measured, Objects, Sample, Task, indices, np

FOLDS, LEAST_A_CLASS, LEAST = 5, 5, 100
MOST_CLASSES, MOST_COLUMNS, MOST_ROWS = 200, 512, 20_000
WORK = 6e7  # rows x columns x classes that are fitted: tens of seconds on one core
SEED = 0
FILTER = (
    "prune_by_class"  # measured: of cleanlab's ways the best recall at equal precision (docs/benchmarks.md)
)
TREES = 100
FOREST_COLUMNS = 1024  # beyond them (text) a forest is slow and no better than a linear model

Probabilities = NDArray[np.float64]
Labels = NDArray[np.intp]
Wrong = NDArray[np.bool_]
Matrix = NDArray[np.float32]
LEVELS = 20  # most frequent values of a category that get an indicator
HASHED = 2048  # columns that words of text are hashed to
CLIP = 8.0  # spreads
WORD = re.compile(r"\w+")


class Predicted(msgspec.Struct, frozen=True):
    """Cross-validated predictions: `places[m]` in the sample, `labels[m]`, `probabilities[m, k]`."""

    places: NDArray[np.intp]
    labels: Labels
    probabilities: Probabilities

    @property
    def wrong(self) -> NDArray[np.bool_]:
        return np.asarray(self.probabilities.argmax(1) != self.labels)


def measure_label_noise(found: Gathered, sample: Sample, task: Task) -> tuple[Measured, Predicted | None]:
    """The estimated share of wrong labels, the suspicious rows (worst first), and the predictions behind
    them."""
    why = why_labels_unjudged(sample, task)
    predicted = None
    if not why:
        predicted, why = predict(found, sample)
    if predicted is None:
        return Measured(reasons={"label_noise_share": why}), None
    suspects = suspicious(predicted.labels, predicted.probabilities)
    rows = sample.rows[predicted.places[suspects]]
    first, second, third = quarters(predicted)
    guess = np.bincount(predicted.labels).max() / len(predicted.labels)
    facts: dict[str, Fact] = {
        "label_noise_share": len(suspects) / len(predicted.labels),
        "label_noise_suspects": len(suspects),
        "label_noise_checked": len(predicted.labels),
        "label_noise_sure": len(first) + len(second),
        "label_noise_sure_wrong": int(first.sum() + second.sum()),
        "label_noise_floor": floor(first.mean(), second.mean(), third.mean()),
        "label_noise_skill": float((1 - predicted.wrong.mean() - guess) / max(1 - guess, 1e-9)),
    }
    if len(rows):
        facts["label_noise_where"] = indices(rows)
    return Measured(facts, {"labels-look-noisy": rows}), predicted


def why_labels_unjudged(sample: Sample, task: Task) -> str:
    """Why labels cannot be judged, or ""."""
    import importlib.util

    if task != "classes":
        return "the target is a quantity, not a class"
    if len(sample.rows) < LEAST:
        return f"needs {LEAST} samples"
    if not all(importlib.util.find_spec(name) for name in ("sklearn", "cleanlab")):
        return "needs cleanlab and scikit-learn: pip install 'traindx[data]'"
    return ""


def predict(found: Gathered, sample: Sample) -> tuple[Predicted | None, str]:
    """Predictions for the samples of classes that are frequent enough, or why there are none."""
    places = np.flatnonzero(np.isfinite(sample.target))
    _, labels, counts = np.unique(sample.target[places], return_inverse=True, return_counts=True)
    common = counts >= LEAST_A_CLASS
    if common.sum() < 2:
        return None, f"needs two classes with {LEAST_A_CLASS} samples each"
    if common.sum() > MOST_CLASSES:
        return None, f"there are more than {MOST_CLASSES} classes"
    places, labels = places[common[labels]], (np.cumsum(common) - 1)[labels[common[labels]]]
    width = min(len(found.table.fields), MOST_COLUMNS) + 2048 * len(sample.texts)
    chosen = thin_rows(labels, min(MOST_ROWS, int(WORK / (width * common.sum()))))
    places, labels = places[chosen], labels[chosen]
    inputs = matrix(found.table.fields, sample, places, MOST_COLUMNS)
    if not inputs.shape[1]:
        return None, "no feature can be learned from"
    return Predicted(places, labels, probabilities(inputs, labels)), ""


def thin_rows(labels: Labels, most: int) -> NDArray[np.intp]:
    """At most about `most` rows, drawn fairly, LEAST_A_CLASS of each class at least."""
    order = np.random.default_rng(SEED).permutation(len(labels))
    if len(labels) <= most:
        return np.arange(len(labels))
    rare = [order[labels[order] == c][:LEAST_A_CLASS] for c in range(int(labels.max()) + 1)]
    return np.unique(np.concatenate([order[:most], *rare]))


def probabilities(inputs: Matrix, labels: Labels) -> Probabilities:
    """`p[m, k]`: for every sample by models that have not seen it. Of a linear model, a forest and their
    mean the one with the smallest cross-validated log loss."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lbfgs that has not converged predicts well enough
        made = [
            cross_val_predict(m, inputs, labels, cv=folds, method="predict_proba") for m in models(inputs)
        ]
    if len(made) > 1:
        made.append(sum(made) / len(made))
    return np.asarray(min(made, key=lambda p: log_loss(p, labels)), dtype=np.float64)


def models(inputs: Matrix) -> list[Any]:
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import LogisticRegression

    linear = LogisticRegression(C=1.0 / np.sqrt(inputs.shape[1]), max_iter=200)
    forest = ExtraTreesClassifier(TREES, min_samples_leaf=2, random_state=SEED, n_jobs=1)
    return [linear, forest] if inputs.shape[1] <= FOREST_COLUMNS else [linear]


def log_loss(p: Probabilities, labels: Labels) -> float:
    return float(-np.log(np.clip(p[np.arange(len(labels)), labels], 1e-3, 1.0)).mean())


def suspicious(labels: Labels, p: Probabilities) -> NDArray[np.intp]:
    """Places whose label is likely wrong, worst first."""
    from cleanlab.filter import find_label_issues

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = find_label_issues(
            labels, p, filter_by=FILTER, return_indices_ranked_by="self_confidence", n_jobs=1
        )
    return np.asarray(found, dtype=np.intp)


def quarters(predicted: Predicted) -> tuple[Wrong, Wrong, Wrong]:
    """Whether the label disagrees, for the quarter of the samples whose class the models are surest of
    (whatever the label says), and the next two."""
    order = np.argsort(-predicted.probabilities.max(1), kind="stable")
    first, second, third, _ = np.array_split(predicted.wrong[order], 4)
    return first, second, third


def floor(first: float, second: float, third: float) -> float:
    """The disagreement that remains where the models are surest: that of the first quarter, less its
    remaining trend. Classes that are hard to separate disagree less and less there, down to nothing.
    Wrong labels disagree as often everywhere."""
    return float(min(2 * first - second, 1.5 * first - 0.5 * third))


def matrix(fields: tuple[Field, ...], sample: Sample, rows: NDArray[np.intp], most: int) -> Matrix:
    """`x[m, q]` of the rows asked for; of too many numbers evenly spread ones. No column is constant."""
    parts: list[Matrix] = []
    plain = [i for i, f in enumerate(fields) if f.kind == "number"]
    plain = plain[:: -(-len(plain) // most) or 1]
    if plain:
        parts.append(standardize_rows(sample.features[rows][:, plain]))
    parts += [indicators(sample.features[rows, i]) for i, f in enumerate(fields) if f.kind == "category"][
        :most
    ]
    parts += [hashed_words(text[rows]) for text in sample.texts]
    if not parts:
        return np.zeros((len(rows), 0), dtype=np.float32)
    made = np.concatenate(parts, axis=1)
    return np.asarray(made[:, made.max(0) > made.min(0)]) if len(made) else made


def standardize_rows(values: Floats) -> Matrix:
    """Mean 0 and spread 1, the median where a value is missing, far values pulled in, and an indicator of
    what was missing."""
    bad = ~np.isfinite(values)
    holed = np.where(bad, np.nan, values)
    with np.errstate(all="ignore"):
        middle = np.array(
            [np.median(c[~b]) if (~b).any() else 0.0 for c, b in zip(holed.T, bad.T, strict=True)]
        )
    filled = np.where(bad, middle, values)
    spread = filled.std(0)
    scaled = np.clip((filled - filled.mean(0)) / np.where(spread > 0, spread, 1.0), -CLIP, CLIP)
    return np.concatenate([scaled, bad[:, bad.any(0)]], axis=1).astype(np.float32)


def indicators(codes: Floats) -> Matrix:
    values, counts = np.unique(codes[np.isfinite(codes)], return_counts=True)
    top = values[np.argsort(-counts, kind="stable")][:LEVELS]
    return np.asarray(codes[:, None] == top[None, :], dtype=np.float32)


def hashed_words(texts: Objects) -> Matrix:
    """`x[m, HASHED]`: log(1 + count) x log inverse document frequency of each word, rows of length
    sqrt(HASHED) / 8 (comparable to standardized numbers)."""
    counts = np.zeros((len(texts), HASHED), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in WORD.findall(str(text).lower()):
            counts[row, zlib.crc32(word.encode("utf-8", "surrogatepass")) % HASHED] += 1
    weighted = np.log1p(counts) * np.log((1 + len(texts)) / (1 + (counts > 0).sum(0)))
    length = np.linalg.norm(weighted, axis=1, keepdims=True)
    return np.asarray(weighted / np.where(length > 0, length, 1.0) * np.sqrt(HASHED) / 8, dtype=np.float32)

"""Precision and recall of the suspicious labels on data whose wrong labels are known, beside cleanlab's own.

    python -m benchmarks.label_noise [--seeds 3]

Needs the extra `data`. A share of the labels is replaced by another class, drawn evenly. "traindx" is what
`traindx check --data` does; "CleanLearning" is cleanlab's own way with its default model (logistic
regression) on the same numbers, standardized by scikit-learn.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from traindx.survey import Codes, Survey, survey_table
from traindx.survey.reading.objects import as_table
from traindx.survey.table import Wanted

SHARES = (0.0, 0.05, 0.10, 0.20)


def digits() -> tuple[dict[str, Any], np.ndarray, Any]:
    """1,797 images of 8 x 8; (columns, labels, matrix for cleanlab)."""
    from sklearn.datasets import load_digits
    from sklearn.preprocessing import StandardScaler

    data = load_digits()
    columns = {f"pixel {i}": data.data[:, i] for i in range(data.data.shape[1])}
    return columns, data.target, StandardScaler().fit_transform(data.data)


def documents(count: int = 3000, topics: int = 6, seed: int = 0) -> tuple[dict[str, Any], np.ndarray, Any]:
    """Made-up documents: 30 to 120 words, most of a common vocabulary with Zipf's frequencies, a tenth to a third
    of their topic's own, a few of another topic's."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    chance = np.random.default_rng(seed)
    common = 1 / np.arange(1, 2001)
    own = 1 / np.arange(1, 201)
    labels = chance.integers(0, topics, count)
    texts = []
    for label in labels:
        length, share = chance.integers(30, 121), chance.uniform(0.1, 0.33)
        other = chance.integers(0, topics)
        kinds = chance.choice(3, length, p=[1 - share - 0.05, share, 0.05])
        words = [
            f"w{chance.choice(2000, p=common / common.sum())}" if kind == 0
            else f"t{label if kind == 1 else other}x{chance.choice(200, p=own / own.sum())}"
            for kind in kinds
        ]  # fmt: skip
        texts.append(" ".join(words))
    return {"text": np.array(texts, dtype=object)}, labels, TfidfVectorizer().fit_transform(texts)


def spoilt(labels: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels with a share of them replaced by another class; which ones."""
    chance = np.random.default_rng(seed)
    wrong = np.sort(chance.choice(len(labels), round(share * len(labels)), replace=False))
    classes = int(labels.max()) + 1
    made = labels.copy()
    made[wrong] = (labels[wrong] + chance.integers(1, classes, len(wrong))) % classes
    return made, wrong


def ours(columns: dict[str, Any], labels: np.ndarray) -> tuple[np.ndarray, Survey]:
    codes = Codes()
    survey = survey_table(as_table({**columns, "label": labels}, None, Wanted(codes, "label")), codes)
    return survey.measured.rows.get("labels-look-noisy", np.zeros(0, np.int64)), survey


def cleanlabs(matrix: Any, labels: np.ndarray) -> np.ndarray:
    from cleanlab.classification import CleanLearning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        issues = CleanLearning(seed=0).find_label_issues(matrix, labels)
    order = np.argsort(issues["label_quality"].to_numpy())
    flagged = issues["is_label_issue"].to_numpy()
    return np.asarray([i for i in order if flagged[i]])


def score(flagged: np.ndarray, wrong: np.ndarray) -> tuple[float, float]:
    hits = len(np.intersect1d(flagged, wrong))
    return hits / len(flagged) if len(flagged) else float("nan"), hits / len(wrong) if len(wrong) else float(
        "nan"
    )


def rows(seeds: int) -> Iterator[tuple[str, ...]]:
    for name, (columns, labels, matrix) in (("digits", digits()), ("documents", documents())):
        for share in SHARES:
            found = [measure(columns, labels, matrix, share, seed) for seed in range(seeds)]
            yield (
                name,
                f"{share:.0%}",
                *cells(np.nanmean(np.array(found), axis=0) if share else np.array(found[0])),
            )


def measure(
    columns: dict[str, Any], labels: np.ndarray, matrix: Any, share: float, seed: int
) -> list[float]:
    given, wrong = spoilt(labels, share, seed)
    began = time.perf_counter()
    flagged, survey = ours(columns, given)
    between = time.perf_counter()
    theirs = cleanlabs(matrix, given)
    after = time.perf_counter()
    facts = survey.measured.facts
    sure = float(facts["label_noise_sure_wrong"]) / float(facts["label_noise_sure"])
    return [len(flagged), *score(flagged, wrong), sure, between - began, len(theirs), *score(theirs, wrong),
            after - between]  # fmt: skip


def cells(values: Sequence[float] | np.ndarray) -> list[str]:
    shown = [
        f"{values[0]:.0f}",
        *(f"{v:.2f}" for v in values[1:3]),
        f"{values[3]:.1%}",
        f"{values[4]:.0f} s",
    ]
    shown += [f"{values[5]:.0f}", *(f"{v:.2f}" for v in values[6:8]), f"{values[8]:.0f} s"]
    return [cell.replace("nan", "–") for cell in shown]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    print("| data | wrong | flagged | precision | recall | wrong where sure | time "
          "| CleanLearning: flagged | precision | recall | time |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for row in rows(parser.parse_args().seeds):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()

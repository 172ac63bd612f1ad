"""Compares rankings on held-out settings: by hand, fitted, and a forest that nobody can read, all on the same folds."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.gym.fitting import fit, tempering
from benchmarks.gym.fitting.fit import Floats, Table
from benchmarks.gym.scoring.tables import markdown
from traindx.causes.ranking.distance import Temper

FOLDS = 5
LEVELS = ("loss", "loss+val", "rich", "capture")
PROGRAM = (
    "program"  # the level of recorded programs by many hands; those in the held half are never fitted on
)
NAMES = {"loss": "loss only", "loss+val": "loss and validation", "rich": "with rate or norm", "capture": "full capture",
         "program": "programs held out"}  # fmt: skip
BINS = 10


def folds(rows: Sequence[dict[str, Any]]) -> np.ndarray:
    """The fold of each row: all runs of a setting are in the same one."""
    return np.array([zlib.crc32(str(row["setting"]).encode()) % FOLDS for row in rows])


def by_hand(train: Table, test: Table) -> Floats:
    return fit.softmax(test.hand + test.rest)


def additive(train: Table, test: Table) -> Floats:
    return fit.fit(train).probabilities(test)


def without_each(whole: Table) -> list[fit.Model]:
    """The fit without the rows of each fold; rows of the half that decides are in none."""
    place, never = folds(whole.rows), np.array([row.get("split") == "held" for row in whole.rows])
    return [fit.fit(whole.part(np.flatnonzero((place != fold) & ~never))) for fold in range(FOLDS)]


def unseen(whole: Table, models: Sequence[fit.Model]) -> Floats:
    """Probabilities[n, c] of each row by the fit that has not seen its setting."""
    place, by_each = folds(whole.rows), [model.probabilities(whole) for model in models]
    return np.array([by_each[fold][i] for i, fold in enumerate(place)])


def forest(train: Table, test: Table) -> Floats:
    """Extremely randomized trees on all that the additive model sees."""
    from sklearn.ensemble import ExtraTreesClassifier

    model = ExtraTreesClassifier(
        400, min_samples_leaf=1, class_weight=None, random_state=0, max_features="sqrt"
    )
    model.fit(seen_by(train), train.right.argmax(1), sample_weight=train.weight)
    p = np.full(test.hand.shape, 1e-6)
    p[:, model.classes_] += model.predict_proba(seen_by(test))
    return np.asarray(p / p.sum(1, keepdims=True))


def seen_by(t: Table) -> Floats:
    return np.hstack([t.signs, t.views, np.clip(t.hand + t.rest, -10, 10)])


MODELS: dict[str, Callable[[Table, Table], Floats]] = {
    "by hand": by_hand, "hand + fitted": additive, "forest": forest,
}  # fmt: skip


def table_of(rows: Sequence[dict[str, Any]]) -> Table:
    """The rows that are right or wrong for certain, as arrays."""
    return fit.table(
        [r for r in rows if r["verdict"] in ("healthy", "hurts")], [c.slug for c in fit.fitted_causes()]
    )


def crossvalidate(
    rows: Sequence[dict[str, Any]], names: Sequence[str] = tuple(MODELS)
) -> tuple[Table, dict[str, Floats]]:
    """Held-out probabilities[n, c] of each model."""
    whole = table_of(rows)
    kept = whole.rows
    place, never = folds(kept), np.array([row.get("split") == "held" for row in kept])
    told = {name: np.zeros_like(whole.hand) for name in names}
    for fold in range(FOLDS):
        train, test = np.flatnonzero((place != fold) & ~never), np.flatnonzero(place == fold)
        if not len(test):
            continue
        for name in names:
            told[name][test] = MODELS[name](whole.part(train), whole.part(test))
    return whole, told


def comparison(whole: Table, told: dict[str, Floats]) -> str:
    """The table of all models at all levels."""
    body = [row_of(whole, p, level, name) for level in LEVELS for name, p in told.items()]
    head = ("level", "ranking", "runs", "right cause first", "in three", "faults: first", "faults: in three",
            "healthy not first", "faults called healthy", "both of a pair in two", "calibration error")  # fmt: skip
    return markdown(head, [row for row in body if row])


def row_of(whole: Table, p: Floats, level: str, name: str) -> tuple[object, ...]:
    at = np.array([row["level"] == level for row in whole.rows])
    if not at.any():
        return ()
    healthy = whole.causes.index("healthy")
    well = whole.right[:, healthy]
    right = whole.right | whole.second
    order = np.argsort(-p, axis=1)
    ranks = np.array([np.flatnonzero(right[i, order[i]])[0] for i in range(len(p))])
    first = order[:, 0]
    ill, well = at & ~well, at & well
    pairs = list(np.flatnonzero(at & whole.second.any(1)))
    both = sum(whole.right[i, order[i, :2]].any() and whole.second[i, order[i, :2]].any() for i in pairs)
    error = calibration_error(p[at], (ranks == 0)[at])
    return (NAMES[level], name, int(at.sum()), f"{np.mean(ranks[at] < 1):.2f}", f"{np.mean(ranks[at] < 3):.2f}",
            f"{np.mean(ranks[ill] < 1):.2f}", f"{np.mean(ranks[ill] < 3):.2f}",
            f"{np.mean(first[well] != healthy):.3f}", f"{np.mean(first[ill] == healthy):.3f}",
            f"{both} of {len(pairs)}", f"{error:.3f}")  # fmt: skip


def calibration_error(p: Floats, right: np.ndarray) -> float:
    """Expected calibration error of the first answer, ten equal bins."""
    sure = p.max(1)
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    return float(sum(abs(sure[place == b].mean() - right[place == b].mean()) * (place == b).mean()
                     for b in range(BINS) if (place == b).any()))  # fmt: skip


def reliability(p: Floats, right: np.ndarray) -> list[tuple[float, float, int]]:
    """(told, right, runs) of each bin of the first answer's probability."""
    sure = p.max(1)
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    bins = [place == b for b in range(BINS) if (place == b).any()]
    return [(float(sure[b].mean()), float(right[b].mean()), int(b.sum())) for b in bins]


def confused(whole: Table, p: Floats, level: str, most: int = 25) -> str:
    """The most frequent pairs of cause and wrong first answer."""
    counts: dict[tuple[str, str], int] = {}
    right = whole.right | whole.second
    for i, row in enumerate(whole.rows):
        said = int(p[i].argmax())
        if row["level"] == level and not right[i, said]:
            pair = (row["cause"], whole.causes[said])
            counts[pair] = counts.get(pair, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return markdown(("cause", "first answer", "runs"), [(*pair, n) for pair, n in ordered[:most]])


SURE = 0.95


def programs(whole: Table, told: dict[str, Floats]) -> str:
    """The table of programs by many hands: the half that is fitted on (each by weights without its fold) and the half
    that decides."""
    head = ("split", "ranking", "base programs", "healthy runs", "first answer a fault", "faults", "right cause first",
            "in three", "called healthy", f"right where {SURE:.0%} sure", "calibration error")  # fmt: skip
    return markdown(
        head, [of_split(whole, p, split, name) for split in ("fit", "held") for name, p in told.items()]
    )


def of_split(whole: Table, p: Floats, split: str, name: str) -> tuple[object, ...]:
    at = np.array([row["level"] == PROGRAM and row.get("split") == split for row in whole.rows])
    right, healthy = (whole.right | whole.second)[at], whole.causes.index("healthy")
    p, bases = p[at], {row["setting"] for row, here in zip(whole.rows, at, strict=True) if here}
    order = np.argsort(-p, axis=1)
    well, first = whole.right[at][:, healthy], right[np.arange(len(p)), order[:, 0]]
    three = np.array([right[i, order[i, :3]].any() for i in range(len(p))], bool)
    sure, ill = p.max(1) >= SURE, ~well
    return (split, name, len(bases), int(well.sum()), int((well & ~first).sum()), int(ill.sum()),
            f"{first[ill].mean():.2f}", f"{three[ill].mean():.2f}", int((ill & (order[:, 0] == healthy)).sum()),
            f"{int((sure & first).sum())} of {int(sure.sum())}", f"{calibration_error(p, first):.3f}")  # fmt: skip


def out_of_home(whole: Table) -> Floats:
    """Distance of each program from the fitted rows of the other folds; 0 of all other rows."""
    place, far = folds(whole.rows), np.zeros(len(whole.rows))
    for fold in range(FOLDS):
        known = [r for r, f in zip(whole.rows, place, strict=True) if f != fold and r.get("split") != "held"]
        at = [i for i, r in enumerate(whole.rows) if place[i] == fold and r["level"] == PROGRAM]
        if at:
            far[at] = tempering.apart([whole.rows[i] for i in at], tempering.homes_of(known, whole.keys))
    return far


def with_temper(whole: Table, p: Floats) -> tuple[Temper, Floats]:
    """The temper that the fitted half of the programs asks for, by probabilities[n, c] of weights that have not seen
    them, and the probabilities of all recordings under it."""
    far = out_of_home(whole)
    seen = np.array([r["level"] == PROGRAM and r.get("split") == "fit" for r in whole.rows])
    if not seen.any():
        return Temper(), p
    temper = tempering.fit_temper(p[seen], (whole.right | whole.second)[seen], far[seen], whole.causes)
    programs = np.array([r["level"] == PROGRAM for r in whole.rows])
    cooled = p.copy()
    cooled[programs] = tempering.tempered(p[programs], far[programs], temper, whole.causes)
    return temper, cooled

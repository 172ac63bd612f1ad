"""P(harm) of recorded runs, apart from what causes it: a logistic model of what a run achieved, against the verdict.

`python -m benchmarks.gym harm FOLDER...` judges every record of those gym folders, fits on one half of the settings
and reports both. A fault that did no harm counts as no harm.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gym.captured import RECORD, WHOLE
from benchmarks.gym.fitting.crossval import reliability
from benchmarks.gym.scoring.diagnoses import longest
from benchmarks.gym.scoring.labels import labelled
from benchmarks.gym.scoring.tables import markdown, share
from traindx import pipeline
from traindx.causes.verdict.harm import OWN_SCORES, falls_short, gaps, late_level
from traindx.errors import ReadError
from traindx.features.curves.gradient_norms import share_lost
from traindx.features.curves.progress import is_learning
from traindx.features.curves.score_scales import late_skills
from traindx.features.shared import Features
from traindx.vocabulary.diagnosis import SEVERITIES, RunDiagnosis
from traindx.vocabulary.run import Run

LABELS = ("healthy", "harmless", "hurts")
SIGNS = ("own", "unknown", "behind", "short", "loss left", "not learning", "unseen", "gap", "gravest", "failed",
         "healthy")  # fmt: skip
DRAWN = 5  # runs from which a point of the diagram means something
RIDGE, ROUNDS = 1.0, 50  # of Newton's method
HARM, WELL = (
    0.5,
    0.2,
)  # from this probability on, harm is said; up to that one, health; between them, neither


@dataclass
class Case:
    half: str
    hurts: bool
    health: str
    healthy: float  # its stated probability
    signs: list[float]


def signs_of(run: Run, said: RunDiagnosis) -> list[float]:
    """What the run achieved compared with what is possible, each from 0 (good) to about 1; in the order of `SIGNS`."""
    features = Features(run)
    own = [v for n in OWN_SCORES if (v := late_level(features, n)) is not None]
    found, unseen, curve = gaps(run, features), late_skills(features, "val/"), features.objective
    grave = {f.slug: 1 - SEVERITIES.index(f.severity) / (len(SEVERITIES) - 1) for f in said.findings}
    left = 1 - share_lost(curve) if curve is not None and curve.n else 1.0
    healthy = next((h.probability for h in said.hypotheses if h.cause == "healthy"), 0.0)
    return [
        1 - min(1.0, max(0.0, max(own, default=1.0))),
        float(not own),
        1 - min(1.0, max((gap.share for gap in found), default=1.0)),
        float(falls_short(run, features) is not None),
        min(1.5, max(0.0, left)),
        {True: 0.0, None: 0.5, False: 1.0}[is_learning(features)],
        1 - min(unseen, default=1.0),
        grave.get("validation-gap-grows", 0.0),
        max(grave.values(), default=0.0),
        float(said.health == "failed"),
        float(np.clip(np.log(healthy / (1 - healthy)) / -5, -1, 1)) if 0 < healthy < 1 else 1 - healthy,
    ]


def cases(folders: Sequence[Path]) -> Iterator[Case]:
    """The recorded runs of the folders that are labelled."""
    for folder in folders:
        journal = [json.loads(line) for line in (folder / "journal.jsonl").read_text("utf-8").splitlines()]
        for row in labelled(journal):
            case = case_of(folder / "runs" / str(row["id"]) / RECORD, row)
            if case is not None:
                yield case


def case_of(record: Path, row: dict[str, Any]) -> Case | None:
    """None for what is not labelled, and for lost time, which does no harm on the machines of the gym."""
    if row["verdict"] not in LABELS or row["harm_in"] == "time" or not (record.parent / WHOLE).exists():
        return None
    try:
        run = longest(pipeline.read_capture(record))
    except ReadError:
        return None
    said = pipeline.diagnose(run).first
    healthy = next((h.probability for h in said.hypotheses if h.cause == "healthy"), 0.0)
    half = "developed on" if hashlib.sha256(row["setting"].encode()).digest()[0] % 2 == 0 else "believed"
    return Case(half, row["verdict"] == "hurts", said.health, healthy, signs_of(run, said))


def fitted(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of a logistic regression, the constant first, by Newton's method with a ridge."""
    x = np.c_[np.ones(len(x)), x]
    weights, ridge = np.zeros(x.shape[1]), RIDGE * np.eye(x.shape[1])
    ridge[0, 0] = 1e-6
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (p * (1 - p))[:, None]).T @ x + ridge
        weights += np.linalg.solve(curvature, x.T @ (y - p) - ridge @ weights)
    return weights


def stated(weights: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-(weights[0] + x @ weights[1:]))))


def report(found: Sequence[Case], figure: Path | None) -> str:
    """The fit, and both halves: who is called what, and whether stated probabilities are right."""
    parts = {half: [c for c in found if c.half == half] for half in ("developed on", "believed")}
    arrays = {half: (np.array([c.signs for c in part]), np.array([c.hurts for c in part], float))
              for half, part in parts.items()}  # fmt: skip
    weights = fitted(*arrays["developed on"])
    lines, drawn = [], {}
    for half, part in parts.items():
        x, hurts = arrays[half]
        today, model = np.array([1 - c.healthy for c in part]), stated(weights, x)
        for name, p, says in (
            ("today", today, np.array([c.health not in ("healthy", "watch") for c in part])),
            ("logistic", model, model >= HARM),
        ):
            missed = np.array([c.health == "healthy" for c in part]) if name == "today" else model <= WELL
            fine, bad = int((hurts == 0).sum()), int(hurts.sum())
            lines.append((half, name, share(int((says & (hurts == 0)).sum()), fine),
                          share(int((missed & (hurts == 1)).sum()), bad), f"{calibration(p, hurts):.3f}"))  # fmt: skip
            drawn[f"{name}, {half}"] = [
                point for point in reliability(p[:, None], hurts) if point[2] >= DRAWN
            ]
    if figure is not None:
        draw(drawn, figure)
    head = ("half", "decided by", "harmless called harmed", "harmful called healthy", "calibration error")
    terms = ", ".join(f"{n} {w:+.2f}" for n, w in zip(("constant", *SIGNS), weights, strict=True))
    return f"{markdown(head, lines)}\n\nweights: {terms}\n"


def calibration(p: np.ndarray, hurts: np.ndarray) -> float:
    """Expected calibration error, ten bins."""
    bins = np.minimum(9, (p * 10).astype(int))
    return float(sum(abs(p[bins == b].sum() - hurts[bins == b].sum()) for b in range(10)) / len(p))


def draw(lines: dict[str, list[tuple[float, float, int]]], path: Path) -> None:
    """Stated probability of harm against the share that was harmed; the area of a point is its number of runs."""
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(6, 5))).add_subplot()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, points in lines.items():
        p, right, runs = zip(*points, strict=True)
        axes.plot(p, right, label=name, linestyle="-" if "believed" in name else ":")
        axes.scatter(p, right, s=[3 * n**0.5 for n in runs])
    axes.set(xlabel="stated probability of harm", ylabel="share that was harmed")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=80, bbox_inches="tight")

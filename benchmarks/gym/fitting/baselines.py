"""What published rules say of the gym's recorded runs: re-implemented from their facts, beside the ranking.

Each rule is a function of the recorded run and names the causes that its finding is documented to mean. Sources: the
seed thresholds of the project's vocabulary, the defaults of SageMaker Debugger's built-in rules, and the five problems
of AutoTrainer (Zhang et al. 2021) with their published thresholds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.gym.captured import RECORD, WHOLE
from benchmarks.gym.programs import outcome
from benchmarks.gym.runner import rows
from benchmarks.gym.scoring import labels
from benchmarks.gym.scoring.diagnoses import longest
from benchmarks.gym.scoring.tables import markdown, share
from traindx import pipeline
from traindx.errors import ReadError
from traindx.vocabulary.run import Run

Floats = NDArray[np.float64]
STEEP = ("learning-rate-too-high", "bad-initialization", "exploding-recurrence", "unnormalized-inputs",
         "missing-warmup", "unnormalized-targets")  # fmt: skip
FLAT = ("learning-rate-too-low", "insufficient-capacity", "undertrained")
OVER = ("insufficient-regularization", "too-little-data")
VANISH = ("saturating-activations", "deep-without-skip-or-norm", "bad-initialization")


def curve(run: Run, name: str) -> Floats:
    found = run.series.get(name)
    return found.values if found is not None else np.empty(0)


def panel(run: Run, name: str) -> Floats:
    found = run.panels.get(name)
    return found.values if found is not None else np.empty((0, 0))


def broken(run: Run) -> bool:
    return bool(len(curve(run, "train/loss"))) and not np.isfinite(curve(run, "train/loss")).all()


def plateau(run: Run) -> bool:
    """Seed: the loss changes by less than 0.01 over 10 points."""
    loss = curve(run, "train/loss")
    return len(loss) > 10 and bool((np.abs(loss[10:] - loss[:-10]) < 0.01).any())


def gap(run: Run, least: float, relative: bool) -> bool:
    """Seed: validation 0.5 above training; SageMaker: (val - train) / train above 0.1, once."""
    train, val = run.series.get("train/loss"), run.series.get("val/loss")
    if train is None or val is None or not len(train):
        return False
    difference = val.values - np.interp(val.steps, train.steps, train.values)
    if relative:
        difference = difference / np.maximum(np.abs(np.interp(val.steps, train.steps, train.values)), 1e-12)
    return bool((difference > least).any())


def norm_beyond(run: Run, least: float) -> bool:
    norm = curve(run, "grad_norm")
    return bool(len(norm)) and not bool((norm <= least).all())


def layer_below(run: Run, most: float) -> bool:
    """The gradient norm of a module is below a limit, at its median."""
    norms = panel(run, "grad_norm")
    return bool(norms.size) and bool((np.nanmedian(norms, axis=0) < most).any())


def not_falling(run: Run) -> bool:
    """SageMaker, loss not decreasing: not lower than ten steps before."""
    loss = curve(run, "train/loss")
    return len(loss) > 20 and bool((loss[10:] >= loss[:-10]).any())


def first_to_last(run: Run) -> bool:
    """AutoTrainer, vanishing: the first layer's gradient is below a thousandth of the last's, and it trains badly."""
    norms = panel(run, "grad_norm")
    if norms.shape[1] < 2 or good(run):
        return False
    levels = np.nanmedian(norms, axis=0)
    return bool(levels[0] < 1e-3 * levels[-1])


def good(run: Run) -> bool:
    """AutoTrainer's gate: the training accuracy is above 0.6; here the validation's."""
    values = curve(run, "val/accuracy")
    return bool(len(values)) and float(values.max()) > 0.6


def dead(run: Run, least: float) -> bool:
    zeros = panel(run, "act_zero_fraction")
    return bool(zeros.size) and bool((np.nanmax(zeros, axis=0) > least).any())


def swings(run: Run) -> bool:
    """AutoTrainer, unstable: the accuracy changes by 0.03 and turns in a tenth of the checks."""
    values = curve(run, "val/accuracy")
    change = np.diff(values)
    turns = (change[1:] * change[:-1] < 0) & (np.abs(change[1:]) > 0.03)
    return len(turns) > 3 and float(turns.mean()) > 0.1


def slow(run: Run) -> bool:
    """AutoTrainer, slow convergence: the accuracy is below 0.6 at the end and hardly rises."""
    values = curve(run, "val/accuracy")
    return len(values) > 3 and not good(run) and float(np.abs(np.diff(values)).max()) < 0.01


Rule = tuple[Callable[[Run], bool], tuple[str, ...]]
SETS: dict[str, tuple[Rule, ...]] = {
    "seed thresholds": (
        (broken, STEEP), (plateau, FLAT), (lambda r: gap(r, 0.5, False), OVER),
        (lambda r: norm_beyond(r, 100.0), STEEP), (lambda r: layer_below(r, 1e-7), VANISH),
        (lambda r: dead(r, 0.5), ("dead-relus",)),
    ),
    "SageMaker Debugger's defaults": (
        (broken, STEEP), (not_falling, FLAT), (lambda r: gap(r, 0.1, True), OVER),
        (lambda r: layer_below(r, 1e-7), VANISH), (lambda r: dead(r, 0.5), ("dead-relus",)),
    ),
    "AutoTrainer's five problems": (
        (first_to_last, VANISH), (broken, STEEP), (lambda r: dead(r, 0.7) and not good(r), ("dead-relus",)),
        (swings, ("learning-rate-too-high", "batch-too-small")), (slow, FLAT),
    ),
}  # fmt: skip


def compare(folders: list[Path]) -> str:
    """The table: alarms on healthy runs, on faulty ones, and faulty ones where a fired rule means a right cause."""
    counts: dict[str, list[int]] = {name: [0, 0, 0] for name in (*SETS, "traindx")}
    well = ill = 0
    for row, run in recorded(folders):
        healthy = row["verdict"] == "healthy"
        well, ill = well + healthy, ill + (not healthy)
        for name, rules in SETS.items():
            fired = [causes for rule, causes in rules if rule(run)]
            add(counts[name], healthy, bool(fired), any(set(row["causes"]) & set(c) for c in fired))
        said = pipeline.diagnose(run).first
        right = any(h.cause in row["causes"] for h in said.hypotheses[:3])
        add(counts["traindx"], healthy, said.health in ("sick", "failed"), right)
    body = [(name, share(c[0], well), share(c[1], ill), share(c[2], ill)) for name, c in counts.items()]
    return markdown(
        ("rules", "healthy runs with an alarm", "faulty runs with an alarm", "right cause named"), body
    )


def add(count: list[int], healthy: bool, alarm: bool, right: bool) -> None:
    count[0] += healthy and alarm
    count[1] += not healthy and alarm
    count[2] += not healthy and alarm and right


def labelled(folder: Path) -> list[dict[str, Any]]:
    """The labelled rows of a folder of the gym or of programs."""
    journal = rows(folder / "journal.jsonl")
    return (outcome if journal and journal[0]["skeleton"] == "own" else labels).labelled(journal)


def recorded(folders: list[Path]) -> list[tuple[dict[str, Any], Run]]:
    """The labelled runs with their records."""
    found = []
    for folder in folders:
        for row in labelled(folder):
            place = folder / "runs" / str(row["id"]) / RECORD
            if row["verdict"] in ("healthy", "hurts") and (place.parent / WHOLE).exists():
                try:
                    found.append((row, longest(pipeline.read_capture(place))))
                except ReadError:
                    continue
    return found

"""What the ranking is fitted on: the signs of every labelled run, at every level of information.

A row is what the ranking sees of one run: the keys of `traindx.causes.ranking.signs.values_of` with their values, the
log-odds that the hand-set weights give each cause, and the label. Rows are kept, compressed, in `signs.jsonl.gz`.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator, Mapping
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.gym.captured import RECORD, WHOLE
from benchmarks.gym.programs import outcome
from benchmarks.gym.runner import rows
from benchmarks.gym.scoring import labels
from benchmarks.gym.scoring.diagnoses import levels_of, longest, reduced
from traindx import pipeline
from traindx.causes.catalogue import catalogue as causes
from traindx.causes.facts import facts_of
from traindx.causes.grades.scales import grades_of
from traindx.causes.ranking.fitted import view_of
from traindx.causes.ranking.rank import findings_of, hand_terms
from traindx.causes.ranking.signs import Sign, signs_of, values_of
from traindx.config import Config
from traindx.errors import ReadError
from traindx.features.shared import Features
from traindx.rules import catalogue, judge
from traindx.vocabulary.run import Run

KEPT = (
    "id",
    "group",
    "setting",
    "task",
    "verdict",
    "cause",
    "causes",
    "also",
    "second",
    "harm",
    "fault",
    "style",
)
COUNTED = ("healthy", "hurts", "harmless")
# Families of signals that a capture may lack (another framework, an option, an older record), and what goes with them.
PARTS = {
    "data": ("inputs_", "targets_", "classes_", "class_", "batch", "train_val", "val_inputs", "label_", "tokens_"),
    "loop": ("parameters_", "zero_grad_", "model_training", "steps_in_eval", "validation_in", "clip_after",
             "optimizer_steps"),
}  # fmt: skip


def extract(folders: list[Path], out: Path, workers: int = 2, older: list[Path] | None = None) -> int:
    """Write the rows of all labelled runs; how many there are. Of the `older` folders, which were recorded by an
    earlier capture, only what their logs show."""
    places = [(folder, True) for folder in folders] + [(folder, False) for folder in older or ()]
    tasks = [(*place, row) for place in places for row in labels.labelled(rows(place[0] / "journal.jsonl"))]
    tasks = [task for task in tasks if task[2]["verdict"] in COUNTED]
    count = 0
    with gzip.open(out, "wt", encoding="utf-8") as file, Pool(workers) as pool:
        for number, made in enumerate(pool.imap(seen, tasks, chunksize=8), 1):
            for row in made:
                file.write(json.dumps(row, separators=(",", ":")) + "\n")
            count += len(made)
            if number % 100 == 0:
                print(f"{number} of {len(tasks)} runs", file=sys.stderr, flush=True)
    return count


def seen(task: tuple[Path, bool, dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of one run: what its log shows at every level that it holds, and its record."""
    folder, recorded, row = task
    kept = {k: row.get(k) for k in KEPT}
    shown = (
        (level, run) for level, run in views(folder, row) if recorded or not level.startswith("capture")
    )
    return [{**kept, "level": level, **signs(run)} for level, run in shown]


def of_programs(folder: Path, workers: int = 2) -> list[dict[str, Any]]:
    """The rows of the labelled records of a folder of programs, at the level "program"."""
    tasks = [
        (folder, row)
        for row in outcome.labelled(rows(folder / "journal.jsonl"))
        if row["verdict"] in COUNTED
    ]
    with Pool(workers) as pool:
        return [row for row in pool.imap(program, tasks, chunksize=8) if row is not None]


def program(task: tuple[Path, dict[str, Any]]) -> dict[str, Any] | None:
    """The row of one recorded program; None where nothing can be read."""
    folder, row = task
    try:
        run = longest(pipeline.read_capture(folder / "runs" / str(row["id"]) / RECORD))
    except ReadError:
        return None
    return {**{k: row.get(k) for k in (*KEPT, "split", "severity")}, "level": "program", **signs(run)}


def save(made: list[dict[str, Any]], path: Path) -> None:
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        for row in made:
            file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")


def views(folder: Path, row: dict[str, Any]) -> Iterator[tuple[str, Run]]:
    """The run as it shows itself at each level."""
    try:
        run = longest(pipeline.read_all(folder / row["log"]))
    except ReadError:
        run = None
    if run is not None and ("train/loss" in run.series or row["style"] == "own"):
        for level in levels_of(run, row):
            yield level, reduced(run, level)
    place = folder / "runs" / str(row["id"]) / RECORD
    if (place.parent / WHOLE).exists():
        try:
            whole = longest(pipeline.read_capture(place))
        except ReadError:
            return
        yield "capture", whole
        for part, names in PARTS.items():
            yield f"capture-{part}", without_facts(whole, names)


def without_facts(run: Run, names: tuple[str, ...]) -> Run:
    """The run without the facts whose names begin so."""
    facts = {n: v for n, v in run.setup.facts.items() if not n.startswith(names)}
    return msgspec.structs.replace(run, setup=msgspec.structs.replace(run.setup, facts=facts))


def signs(run: Run) -> dict[str, Any]:
    """Values of the signs, and the scores that the hand-set weights give."""
    run = pipeline.prepare_run(run, Config())
    features = Features(run)
    outcomes = judge(run, features, catalogue(), {})
    found = signs_of(outcomes, facts_of(run, features), (), grades_of(run, features))
    hand = hand_scores(found)
    return {"view": view_of(run), "signs": {k: round(v, 3) for k, v in values_of(found).items()},
            "hand": {k: round(own, 3) for k, (own, _) in hand.items()},
            "rest": {k: round(rest, 3) for k, (_, rest) in hand.items() if round(rest, 3)}}  # fmt: skip


def hand_scores(signs: Mapping[str, Sign]) -> dict[str, tuple[float, float]]:
    """Log-odds of every cause by the hand-set weights alone, where fitting starts from: with what it explains, and
    what it loses for the rest."""
    open_ = findings_of(signs)
    found = {c.slug: (c.prior, *hand_terms(c, signs, open_)) for c in causes()}
    return {
        slug: (prior + sum(own.values()), sum(rest.values())) for slug, (prior, own, rest) in found.items()
    }


def load(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]

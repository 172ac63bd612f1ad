"""Scores the diagnoses of a folder of labelled logs, and prints the tables."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.gym.runner import rows
from benchmarks.gym.scoring import foreign, labels, tables
from benchmarks.gym.scoring.diagnoses import Record, records

TITLES = {
    "Verdicts of the runs": tables.verdicts,
    "Right causes": tables.ranking,
    "Healthy and sick": tables.health,
    "False alarms on healthy runs (medium or worse)": tables.alarms,
    "Causes, one by one (all that the log holds)": tables.by_cause,
    "First answers to faults (all that the log holds)": tables.confusion,
    "Faults that the diagnosis does not see": tables.unseen,
    "How early": tables.detection,
    "Calibration of the first answer": tables.calibration,
    "Record of each rule": tables.rules,
    "How logs are read": tables.reading,
    "Logs not read": tables.unread,
}


def score_folder(folder: Path, table: Path | None, *, detection: bool = False) -> None:
    """Diagnose all logs of a gym's folder (or of a folder of scripts with a labels file), print and write tables."""
    labelled = labels.labelled(rows(folder / "journal.jsonl")) or foreign.labelled(folder)
    scored, unread = diagnosed(folder, labelled, detection=detection)
    save(folder / "scored.jsonl", scored)
    text = report(labelled, scored, unread)
    print(text)
    if table is not None:
        table.write_text(text, encoding="utf-8")


def diagnosed(
    folder: Path, labelled: list[dict[str, Any]], *, detection: bool
) -> tuple[list[Record], list[tuple[dict[str, Any], str]]]:
    """The records of all logs that count, and the logs that could not be read with the reason."""
    scored: list[Record] = []
    unread: list[tuple[dict[str, Any], str]] = []
    for number, row in enumerate(labelled):
        if row["verdict"] not in ("healthy", "hurts", "harmless"):
            continue
        for found in records(folder, row, detection=detection):
            if isinstance(found, str):
                unread.append((row, found))
            else:
                scored.append(found)
        if number % 50 == 49:
            print(f"{number + 1} of {len(labelled)}", file=sys.stderr, flush=True)
    return scored, unread


def report(
    labelled: list[dict[str, Any]], scored: list[Record], unread: list[tuple[dict[str, Any], str]]
) -> str:
    """All tables as Markdown."""
    material = tables.Material(labelled, scored, unread, Counter(r.level for r in scored))
    return "\n\n".join(f"## {title}\n\n{table(material)}" for title, table in TITLES.items()) + "\n"


def save(path: Path, scored: list[Record]) -> None:
    """What was said of each log, a line each, for looking into."""
    with path.open("w", encoding="utf-8") as out:
        for found in scored:
            plain = {
                **dataclasses.asdict(found),
                "row": {k: found.row[k] for k in ("id", "verdict", "causes", "harm")},
            }
            plain["causes"] = plain["causes"][:5]
            out.write(json.dumps(plain) + "\n")

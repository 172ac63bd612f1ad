"""Edited scripts against the interventions that they were edited after: the same first losses?"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.gym.runner import note, rows
from benchmarks.repair.cases import LABELS, Case, case
from benchmarks.repair.runs import laid_out
from traindx import pipeline
from traindx.lab.conduct.attempts import conduct
from traindx.lab.edits import edit
from traindx.lab.judge.significance import SEED, compare
from traindx.vocabulary.edit import Advice
from traindx.vocabulary.setup import FACT_FIELDS, Fact, Setup

STEPS = 20  # losses that are compared
SECONDS = 180.0


def main(folder: Path, words: Sequence[str]) -> None:
    """Do what the journal lacks, and print the figures."""
    journal = folder / "edited.jsonl"
    done = {row["id"] for row in rows(journal)}
    for name, interventions in LABELS["edited"]:
        told = f"{name} {' '.join(interventions)}"
        if told not in done and (not words or any(word in told for word in words)):
            base, _, fault = name.partition(".")
            row = {"id": told, **tried(case("trap", name, base, [fault] if fault else []), interventions)}
            note(journal, row)
            print(
                f"{row['outcome']:>8} {told} {row['why'] or format(row['apart'], '.1e')}",
                file=sys.stderr,
                flush=True,
            )
    print(table(rows(journal)))


def tried(one: Case, interventions: list[str]) -> dict[str, Any]:
    """One script: recorded, edited after what the recording told, and run beside the intervention."""
    with tempfile.TemporaryDirectory(prefix="repair-") as place:
        project, out = laid_out(one.files, Path(place) / "project"), Path(place)
        command = [sys.executable, one.script]
        seen = conduct(
            command, [SEED], out=out / "seen", steps=STEPS, folder=project, threads=1, seconds=SECONDS
        )
        found = edit(one.files, one.script, "", interventions, facts=facts(pipeline.read(seen.out).setup))
        if isinstance(found, Advice):
            return {"outcome": "advice", "apart": None, "why": f"{found.place}: {found.write}: {found.why}"}
        if not found.after:
            return {"outcome": "nothing", "apart": None, "why": "it is as asked already"}
        result = compare(
            command, interventions, found.after, out, conduct=conduct, read=pipeline.read, steps=STEPS,
            folder=project, threads=1, seconds=SECONDS,
        )  # fmt: skip
    outcome = "same" if result.same else "broken" if result.broken else "apart"
    return {"outcome": outcome, "apart": result.apart, "why": result.why}


def facts(setup: Setup) -> dict[str, Fact]:
    """All that is known of a setup, in one mapping."""
    own = {name: setup.known(name) for name in FACT_FIELDS}
    return {**{k: v for k, v in own.items() if isinstance(v, (str, int, float, bool))}, **setup.facts}


def table(found: Sequence[dict[str, Any]]) -> str:
    edited = [row for row in found if row["outcome"] in ("same", "apart", "broken")]
    refused = [row for row in found if row["outcome"] not in ("same", "apart", "broken")]
    same, broken = (sum(row["outcome"] == what for row in edited) for what in ("same", "broken"))
    return (
        f"edits tried: {len(found)}, made: {len(edited)}, refused: {len(refused)}\n"
        f"  behave like their intervention (first {STEPS} losses to 1e-6): {same} of {len(edited)}; broken: {broken}"
    )

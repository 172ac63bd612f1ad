"""Experiments for the cause against none, on the scripts whose cause the ranking is least sure of."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.gym.programs.edits import all_edits
from benchmarks.gym.programs.manifest import PROGRAMS
from benchmarks.gym.programs.program import source_of
from benchmarks.gym.runner import note, rows
from benchmarks.repair.runs import TRAINDX, cpu_seconds, environment, laid_out

SURE = 0.8  # belief in the first cause from which a diagnosis is none of these
LIMIT = 900


def main(folder: Path, words: Sequence[str]) -> None:
    """Do what the journal lacks of the edits that are named by `words`, and print the figures."""
    journal = folder / "investigated.jsonl"
    done = {row["id"] for row in rows(journal)}
    for edit in all_edits():
        told = f"{edit.base}.{edit.name}"
        if told in words and told not in done and PROGRAMS[edit.base].runs_here:
            source = source_of(edit.base)
            for old, new in edit.swaps:
                source = source.replace(old, new)
            row = {"id": told, "cause": edit.cause, **tried(source, {edit.cause, *edit.also})}
            note(journal, row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    print(table(rows(journal)))


def tried(source: str, right: set[str]) -> dict[str, Any]:
    """One script through `traindx investigate`, and whether the first cause was right before and after."""
    with tempfile.TemporaryDirectory(prefix="repair-") as place:
        here = laid_out({"train.py": source}, Path(place) / "project")
        command = [*TRAINDX, "investigate", "--format", "json", "--", sys.executable, "train.py"]
        begun, used = time.monotonic(), cpu_seconds()
        done = subprocess.run(
            command, cwd=here, env=environment(), capture_output=True, text=True, timeout=LIMIT, check=False
        )
        spent = {"seconds": time.monotonic() - begun, "cpu": cpu_seconds() - used}
        if done.returncode not in (0, 1):
            return {"failed": done.stderr.strip()[-300:], **spent}
        run = json.loads(done.stdout)["runs"][0]
    trail = [(what, *max(shares.items(), key=lambda item: item[1])) for what, shares in run["belief"]]
    (_, before, sure), (_, after, later) = trail[0], trail[-1]
    return {
        "before": before, "sure": sure, "after": after, "later": later, "trail": trail,
        "right_before": before in right, "right_after": after in right,
        "experiments": len(run["trials"]), **spent,
    }  # fmt: skip


def table(found: Sequence[dict[str, Any]]) -> str:
    """The figures, of those whose first start left the ranking unsure."""
    unsure = [row for row in found if "failed" not in row and row["sure"] < SURE]
    if not unsure:
        return f"{len(found)} investigated, none with a first cause below {SURE:.0%}"
    before, after = (sum(row[name] for row in unsure) for name in ("right_before", "right_after"))
    seconds, used = (sorted(row[name] for row in unsure)[len(unsure) // 2] for name in ("seconds", "cpu"))
    made = sum(row["experiments"] for row in unsure)
    lost = sum(row["right_before"] and not row["right_after"] for row in unsure)
    return (
        f"{len(found)} investigated, {len(unsure)} with a first cause below {SURE:.0%}\n"
        f"  right cause first: {before} before, {after} after {made} experiments; {lost} lost\n"
        f"  median {seconds:.0f} s, {used:.0f} s of the processors; failed: {sum('failed' in row for row in found)}"
    )

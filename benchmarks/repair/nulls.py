"""Changes that do nothing, on healthy scripts: how many are confirmed, and how many are said to harm?

A rate that is a ten-thousandth higher or lower leaves what a script can learn as it is; the numbers are others within a
few hundred steps, as rounding is blown up. It goes the way of every change: first pair, proof over three seeds, the
steps until both end alike.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.gym.runner import note, rows
from benchmarks.repair.cases import cases
from benchmarks.repair.runs import environment, laid_out
from traindx.config import Config
from traindx.lab.conduct import attempts
from traindx.lab.conduct.journal import Journal
from traindx.lab.plan import Candidate
from traindx.lab.repair.bench import Bench
from traindx.lab.repair.options import Options
from traindx.lab.repair.search import Search

NOTHING = ("lr=*1.0001", "lr=*0.9999")
WANTED = 20


def main(folder: Path, words: Sequence[str]) -> None:
    """Do what the journal lacks, up to twenty, and print the figures."""
    journal = folder / "nulls.jsonl"
    done = {row["id"] for row in rows(journal)}
    os.environ.update(environment())
    for change in NOTHING:
        for case in (one for one in cases() if one.kind == "healthy"):
            told = f"{case.name} {change}"
            if (
                told not in done
                and len(done) < WANTED
                and (not words or any(word in told for word in words))
            ):
                done.add(told)
                row = {"id": told, **tried(case.files, case.script, change)}
                note(journal, row)
                print(f"{row['verdict']:>12} {told} {row['why']}", file=sys.stderr, flush=True)
    found = rows(journal)
    counts = Counter(row["verdict"] for row in found)
    print(
        f"changes that do nothing: {len(found)}; " + ", ".join(f"{n} {v}" for v, n in counts.most_common())
    )


def tried(files: Any, script: str, change: str) -> dict[str, Any]:
    """One change on one script, as `traindx fix` would prove it."""
    with tempfile.TemporaryDirectory(prefix="repair-") as place:
        here, proof = laid_out(files, Path(place) / "project"), Path(place) / "proof"
        proof.mkdir()
        before = Path.cwd()
        os.chdir(here)
        command = [sys.executable, script]
        starter = attempts.Starter(command, here, 1)
        try:
            bench = Bench(command, starter, Journal(proof, {"of": change}), budget=1800.0, jobs=2)
            return judged(Search(bench, Config(), Options()), change)
        finally:
            starter.warm.close()
            os.chdir(before)


def judged(search: Search, change: str) -> dict[str, Any]:
    """The verdict, the gains, and whether the first pair was the same to the last bit."""
    search.diagnose()
    search.prepare()
    ways = search.first_pairs(Candidate("nothing", "learning-rate-too-high", (change,), 0.5), [(change,)])
    if not ways:
        return {"verdict": "not compared", "why": str(search.untried), "gains": [], "signal": ""}
    found = search.prove(ways[0], beside=1)
    made = search.trials[-1]
    return {
        "verdict": found.verdict,
        "why": found.why,
        "gains": made.gains,
        "signal": ways[0].objective.signal,
    }

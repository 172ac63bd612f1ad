"""`python -m benchmarks.repair FOLDER [--cases NAME…] [--kinds KIND…]`: a row for each script into FOLDER's journal
(what is there is not done again), then the figures. What follows `--` goes to `traindx fix`. Instead of that, `--edits`
runs edited scripts against their interventions, `--nulls` changes that do nothing, `--investigate` experiments for
causes, and `--chances` fits what verdicts tell of causes on the journal that is there."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.gym.runner import note, rows
from benchmarks.repair import chances, edited, investigated, nulls
from benchmarks.repair.cases import Case, cases, with_seed
from benchmarks.repair.runs import Fixed, Known, fix, loaded, run
from benchmarks.repair.scoring import judged, table
from traindx.lab.conduct.warm import Warm

OTHERS = {
    "edits": edited.main, "nulls": nulls.main, "investigate": investigated.main, "chances": chances.main,
}  # fmt: skip
UNSEEN = (101, 102, 103)  # numbers of the runs whose seeds `traindx fix` never used


def measured(case: Case, options: list[str], known: Known) -> dict[str, Any]:
    """One script through `traindx fix`, and what came of it. A script that is returned as it was needs no run on
    unseen seeds to be no worse."""
    plain = run(case.files, case.script)
    found = fix(case.files, case.script, options)
    warm = loaded(case.twin or case.files, case.script)
    skills: dict[str, list[float]] = {"returned": returned(case, found, known, warm)}
    if case.causes or skills["returned"]:
        for name, files in (("faulty", case.files), ("twin", case.twin)):
            finals = [known.final(with_seed(files, n), case.script, (), warm) for n in UNSEEN]
            skills[name] = [case.skill(value) for value in finals]
    warm.close()
    return {
        "id": case.name, "kind": case.kind, "style": case.style, "faults": len(case.causes),
        "plain_seconds": plain.seconds, "plain_cpu": plain.cpu_seconds,
        "seconds": found.seconds, "cpu": found.cpu_seconds, "status": found.status, "words": found.words,
        **judged(case, found.document, skills),
    }  # fmt: skip


def returned(case: Case, found: Fixed, known: Known, warm: Warm) -> list[float]:
    """The skill of what was returned, on unseen seeds: the patched project, else the script under its interventions;
    nothing where nothing was."""
    interventions = () if found.files is not None else found.document.get("interventions", [])
    if found.files is None and not interventions:
        return []
    files = found.files or case.files
    return [case.skill(known.final(with_seed(files, n), case.script, interventions, warm)) for n in UNSEEN]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", nargs="*", default=[])
    parser.add_argument("--kinds", nargs="*", default=[])
    for other in OTHERS:
        parser.add_argument(f"--{other}", action="store_true")
    own = sys.argv[1:]
    cut = own.index("--") if "--" in own else len(own)
    given = parser.parse_args(own[:cut])
    given.folder.mkdir(parents=True, exist_ok=True)
    asked = [work for name, work in OTHERS.items() if getattr(given, name)]
    if asked:
        asked[0](given.folder, given.cases)
        return
    journal = given.folder / "journal.jsonl"
    done = {row["id"] for row in rows(journal)}
    known = Known(given.folder / "runs.jsonl")
    for case in cases():
        wanted = not given.cases or any(word in case.name for word in given.cases)
        if wanted and (not given.kinds or case.kind in given.kinds) and case.name not in done:
            row = measured(case, own[cut + 1 :], known)
            note(journal, row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    print(table(rows(journal)))


if __name__ == "__main__":
    main()

"""`python -m benchmarks.repair.foreign FOLDER [--repositories FOLDER] [--half developed|measured] [NAME…]`: small public
programs with one natural fault each, through `traindx fix`; those without a fault are to be left alone.

`foreign.json` names the programs by repository and commit, and the faults by the text that they replace. For each: what
`fix` says, whether its patch applies, and the share of the gap between the faulty and the healthy program that the
patched one closes, by the last number that it prints. What the folder holds is not run again."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.gym.scoring.tables import markdown
from benchmarks.world.__main__ import Program, prepare, start

HERE = Path(__file__).parent
BUDGET = "3m"
CLOSED = 0.8  # of the gap
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


class Fault(msgspec.Struct, frozen=True):
    """`edits`: old text -> new text of the program; none where it is healthy."""

    name: str
    program: str
    edits: dict[str, str] = {}

    @property
    def half(self) -> str:
        return ("developed", "measured")[hashlib.sha256(self.name.encode()).digest()[0] % 2]


class Row(msgspec.Struct):
    """`scores`: of the healthy, the faulty and the patched program."""

    verdict: str
    fixes: list[str]
    seconds: float
    patch: bool
    applies: bool
    scores: list[float | None]

    @property
    def closed(self) -> float | None:
        """The share of the gap that the patch closes. None where there is no gap, or no patch."""
        well, ill, now = self.scores
        if well is None or now is None or (ill is not None and well <= ill):
            return None
        return (now - (ill or 0.0)) / (well - (ill or 0.0))


class Manifest(msgspec.Struct):
    programs: list[Program]
    faults: list[Fault]


def score(here: Path, program: Program, home: Path) -> float | None:
    """The last number that a run prints; None where it ends with an error."""
    ran = start(program, here, home)
    found = NUMBER.findall(ran.out)
    return float(found[-1]) if found and ran.status == 0 else None


def tried(fault: Fault, program: Program, place: Path, repositories: Path) -> Row:
    """One fault through `traindx fix`, and the program as it was, with the fault, and patched."""
    faulty = msgspec.structs.replace(program, edits={**program.edits, **fault.edits})
    home = place / "home"
    well = score(prepare(program, place / "healthy", repositories), program, home) if fault.edits else None
    here = prepare(faulty, place / "faulty", repositories)
    ill = score(here, faulty, home) if fault.edits else None
    command = [
        sys.executable,
        "-m",
        "traindx",
        "fix",
        "--no-knowledge",
        "--budget",
        BUDGET,
        "-f",
        "json",
        "--",
    ]
    found: dict[str, Any] = json.loads(start(faulty, here, home, *command).out)
    row = Row(
        found["verdict"], found["applied"], found["seconds"], bool(found["patch"]), False, [well, ill, None]
    )
    if row.patch:
        patch = (here / found["patch"]).resolve()
        row.applies = subprocess.run(["git", "apply", str(patch)], cwd=here, check=False).returncode == 0
        row.scores[2] = score(here, faulty, home) if row.applies else None
    return row


def figures(rows: dict[str, Row], faults: list[Fault]) -> list[tuple[str, str]]:
    """What the rows count up to."""
    ill = [rows[f.name] for f in faults if f.edits and f.name in rows]
    well = [rows[f.name] for f in faults if not f.edits and f.name in rows]
    fixed = [row for row in ill if row.verdict == "fixed"]
    return [
        ("fixed and proven", f"{len(fixed)} of {len(ill)}"),
        (f"closing {CLOSED:.0%} of the gap", str(sum((row.closed or 0) >= CLOSED for row in fixed))),
        ("worse", str(sum(row.closed is not None and row.closed < 0 for row in ill))),
        ("patch applies", f"{sum(row.applies for row in fixed)} of {len(fixed)}"),
        ("healthy left alone", f"{sum(row.verdict == 'nothing-to-fix' for row in well)} of {len(well)}"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repositories", type=Path, default=Path("repositories"))
    parser.add_argument("--half", choices=("developed", "measured"))
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    manifest = msgspec.json.decode((HERE / "foreign.json").read_bytes(), type=Manifest)
    programs, rows = {one.name: one for one in manifest.programs}, dict[str, Row]()
    faults = [f for f in manifest.faults if not given.half or f.half == given.half]
    for fault in faults:
        kept = given.folder / f"{fault.name}.json"
        if not kept.exists() and (not given.names or fault.name in given.names):
            place = (given.folder / "places" / fault.name).resolve()
            row = tried(fault, programs[fault.program], place, given.repositories)
            kept.write_bytes(msgspec.json.encode(row))
        if kept.exists():
            rows[fault.name] = msgspec.json.decode(kept.read_bytes(), type=Row)
    head, table = (
        ("fault", "half", "verdict", "fixes", "patch applies", "gap closed", "seconds"),
        list[tuple[object, ...]](),
    )
    for fault in faults:
        if fault.name in rows:
            row = rows[fault.name]
            closed = "" if row.closed is None else f"{row.closed:.2f}"
            fixes = " ".join(row.fixes)
            table.append(
                (fault.name, fault.half, row.verdict, fixes, str(row.applies), closed, f"{row.seconds:.0f}")
            )
    sys.stdout.write(markdown(head, table) + "\n" + "".join(f"{n}: {v}\n" for n, v in figures(rows, faults)))


if __name__ == "__main__":
    main()

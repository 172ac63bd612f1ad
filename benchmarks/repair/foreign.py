"""`python -m benchmarks.repair.foreign FOLDER [--repositories FOLDER] [--half developed|measured] [NAME…]`: small public
programs with one natural fault each, through `traindx fix`; those without a fault are to be left alone.

`foreign.json` names the programs by repository and commit, and the faults by the text that they replace. For each: what
`fix` says, whether its patch applies to a fresh copy, whether that copy comes to what the trial with the same seed came
to, and the share of the gap between the faulty and the healthy program that it closes, by the last number that it
prints. What the folder holds is not run again. A program whose library is not installed is left out."""

from __future__ import annotations

import argparse
import hashlib
import math
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.gym.scoring.tables import markdown
from benchmarks.world.__main__ import Program, prepare, start, surroundings
from traindx import pipeline
from traindx.errors import ReadError
from traindx.lab.conduct.attempts import conduct
from traindx.lab.judge.objectives import level
from traindx.lab.plan import merge_interventions
from traindx.vocabulary.trial import FixReport

HERE = Path(__file__).parent
BUDGET = "2m"
LIMIT = 200  # seconds for one start
CLOSED = 0.8  # of the gap
REACHED = 0.9  # of the way from the level without to that with the fix, with the same seed
WELL = 0.95  # of the healthy program's score, for a saved model
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
LIBRARIES = {"lightning": "pytorch_lightning", "jax": "jax", "keras on tensorflow": "tensorflow"}
# The byte that puts all repositories whose faults were seen before into one half.
BYTE = 11


class Foreign(Program, frozen=True):
    """`reload`: code that scores the saved model in a bare Python, and prints that last."""

    reload: str = ""

    @property
    def half(self) -> str:
        return ("measured", "developed")[hashlib.sha256(self.repository.encode()).digest()[BYTE] % 2]


class Fault(msgspec.Struct, frozen=True):
    """`edits`, `elsewhere`: old text -> new text of the program and of other files; none where it is healthy. `kind`: what
    the new text does wrong."""

    name: str
    program: str
    edits: dict[str, str] = {}
    elsewhere: dict[str, dict[str, str]] = {}
    kind: str = "healthy"

    @property
    def ill(self) -> bool:
        return bool(self.edits or self.elsewhere)

    def planted(self, program: Foreign) -> Foreign:
        """The program with the fault."""
        both = {path: {**edits, **self.elsewhere.get(path, {})} for path, edits in program.elsewhere.items()}
        elsewhere = {**self.elsewhere, **both}
        return msgspec.structs.replace(program, edits={**program.edits, **self.edits}, elsewhere=elsewhere)


class Row(msgspec.Struct, kw_only=True):
    """`scores`: of the healthy, the faulty and the patched program, with one seed. `levels`: what the trials came to
    without the fix, with it, and the patched copy, with that seed. `reloaded`: the score of the saved model.
    `seconds`: of `traindx fix` as a user waits for it; `plain`: of the faulty script, started without traindx on the
    same machine just before."""

    verdict: str
    reason: str = ""
    fixes: list[str] = []
    seconds: float = 0.0
    plain: float = 0.0
    patch: bool = False
    applies: bool = False
    scores: list[float | None] = msgspec.field(default_factory=lambda: [None, None, None])
    levels: list[float] = []
    reloaded: float | None = None

    @property
    def closed(self) -> float | None:
        """The share of the gap that the patch closes. None where there is no gap, or no patch."""
        well, ill, now = self.scores
        if well is None or now is None or (ill is not None and well <= ill):
            return None
        return (now - (ill or 0.0)) / (well - (ill or 0.0))

    @property
    def reproduces(self) -> bool:
        """Whether the patched copy comes to what the trial came to."""
        if len(self.levels) < 3:
            return False
        before, arm, copy = self.levels
        gap = arm - before
        return math.isclose(copy, arm, rel_tol=1e-3) or (bool(gap) and (copy - before) / gap >= REACHED)


class Manifest(msgspec.Struct):
    programs: list[Foreign]
    faults: list[Fault]


class Ended(NamedTuple):
    score: float | None
    level: float


def last_number(out: str, status: int = 0) -> float | None:
    """The last number that a run prints; None where it ends with an error."""
    found = NUMBER.findall(out)
    return float(found[-1]) if found and status == 0 else None


def seeded(here: Path, program: Foreign, home: Path, seed: int, report: FixReport | None = None) -> Ended:
    """The last number that the program prints with that seed, and the level that the report compares."""
    out = home / "record"
    subprocess.run(["rm", "-rf", str(out)], check=True)
    command = [sys.executable, "-W", "ignore", program.script, *program.arguments]
    base = surroundings(program, home)
    done = conduct(command, [f"seed={seed}"], out=out, folder=here, base=base, seconds=LIMIT, threads=1)
    found = math.nan
    if report is not None and report.objective is not None:
        try:
            found = level(pipeline.read(out), report.objective, report.steps)
        except ReadError:
            found = math.nan
    return Ended(last_number(done.tail, 0 if done.ok else 1), found)


def well(program: Foreign, place: Path, repositories: Path, seed: int) -> float | None:
    """What the healthy program prints with that seed; it is run once."""
    kept = place / f"{program.name}-{seed}.json"
    if not kept.exists():
        here = prepare(program, place / f"{program.name}-healthy", repositories)
        kept.write_bytes(msgspec.json.encode(seeded(here, program, place / "home", seed).score))
    return msgspec.json.decode(kept.read_bytes())


def printed(folder: Path, seed: int, interventions: Collection[str] = ()) -> float | None:
    """What the program printed last in the trials with that seed and these interventions; None where none of them was
    whole."""
    for line in (folder / "trials.jsonl").read_text(encoding="utf-8").splitlines()[1:]:
        entry = msgspec.json.decode(line)
        same = (sorted(entry["interventions"]), entry["seed"], entry["steps"])
        if same == (sorted(interventions), seed, None) and entry["ok"]:
            log = folder / "records" / entry["record"] / "stdout.log"
            return last_number(log.read_text(encoding="utf-8", errors="replace"))
    return None


def tried(fault: Fault, program: Foreign, place: Path, repositories: Path, budget: str) -> Row:
    """One fault through `traindx fix`, and the program as it was, with the fault, and patched."""
    faulty = fault.planted(program)
    home = place / "home"
    here = prepare(faulty, place / "faulty", repositories)
    alone = start(faulty, prepare(faulty, place / "plain", repositories), home).seconds
    command = f"{sys.executable} -m traindx fix --no-knowledge --budget {budget} -f json --".split()
    said = start(faulty, here, home, *command)
    try:
        report = msgspec.json.decode(said.out, type=FixReport, strict=False)  # "Infinity" is a number
    except msgspec.DecodeError:
        return Row(verdict="error", reason=said.err.strip()[-300:], seconds=said.seconds, plain=alone)
    row = Row(
        verdict=report.verdict, reason=report.reason, fixes=list(report.applied), seconds=said.seconds,
        plain=alone, patch=bool(report.patch),
    )  # fmt: skip
    proofs = [t for t in report.trials if t.verdict == "confirmed" and t.before and t.after and t.seeds]
    seed = proofs[-1].seeds[0] if proofs else 0
    if fault.ill:
        row.scores[:2] = [
            well(program, place.parent, repositories, seed),
            printed(here / report.folder, seed),
        ]
        if row.scores[1] is None:
            row.scores[1] = seeded(here, faulty, home, seed).score
    if report.patch:
        copy = prepare(faulty, place / "patched", repositories)
        patch = str((here / report.patch).resolve())
        row.applies = subprocess.run(["git", "apply", patch], cwd=copy, check=False).returncode == 0
        ended = seeded(copy, faulty, home, seed, report) if row.applies else Ended(None, math.nan)
        row.scores[2] = ended.score
        row.levels = reached(report, row, here / report.folder, ended) if proofs else []
        if row.applies and program.reload:
            start(faulty, copy, home)
            bare = [sys.executable, "-c", program.reload]
            environment = surroundings(program, home)
            done = subprocess.run(
                bare, cwd=copy, env=environment, capture_output=True, text=True, check=False
            )
            row.reloaded = last_number(done.stdout, done.returncode)
    return row


def reached(report: FixReport, row: Row, folder: Path, copy: Ended) -> list[float]:
    """What the trials came to without the fix and with it, and what the patched copy came to: by what the program
    prints, where a trial was whole, else by the signal that they are compared by."""
    (*_, last) = (t for t in report.trials if t.verdict == "confirmed")
    arm = printed(folder, last.seeds[0], merge_interventions(last.on_top_of, last.interventions))
    if arm is not None and row.scores[1] is not None and copy.score is not None:
        return [row.scores[1], arm, copy.score]
    if last.before is None or last.after is None:
        return []
    return [last.before.values[0], last.after.values[0], copy.level]


def figures(rows: dict[str, Row], faults: list[Fault]) -> list[tuple[str, str]]:
    """What the rows count up to."""
    ill = [rows[f.name] for f in faults if f.ill and f.name in rows]
    well = [rows[f.name] for f in faults if not f.ill and f.name in rows]
    fixed = [row for row in ill if row.verdict == "fixed"]
    saved = [row for row in fixed if row.reloaded is not None and row.scores[0]]
    times = sorted(row.seconds / row.plain for row in ill if row.plain)
    return [
        ("fixed and proven", f"{len(fixed)} of {len(ill)}"),
        (f"closing {CLOSED:.0%} of the gap", str(sum((row.closed or 0) >= CLOSED for row in fixed))),
        ("worse", str(sum(row.closed is not None and row.closed < 0 for row in ill))),
        ("patch applies", f"{sum(row.applies for row in fixed)} of {len(fixed)}"),
        ("patch reproduces the trial", f"{sum(row.reproduces for row in fixed)} of {len(fixed)}"),
        ("saved model reaches the score", f"{sum(reaches(row) for row in saved)} of {len(saved)}"),
        ("healthy left alone", f"{sum(row.verdict == 'nothing-to-fix' for row in well)} of {len(well)}"),
        ("healthy not changed", f"{sum(row.verdict != 'fixed' for row in well)} of {len(well)}"),
        ("times as long as a plain training (median)", f"{times[len(times) // 2]:.1f}" if times else ""),
    ]


def reaches(row: Row) -> bool:
    """Whether the saved model scores as the healthy program does."""
    return row.reloaded is not None and row.reloaded >= WELL * (row.scores[0] or 0.0)


def by(
    rows: dict[str, Row], faults: list[Fault], group: Callable[[Fault], str]
) -> Iterator[tuple[str, ...]]:
    """Fixed, closed, applying and reproducing, of each group of faults."""
    for name in sorted({group(f) for f in faults if f.ill and f.name in rows}):
        values = dict(figures(rows, [f for f in faults if f.ill and group(f) == name]))
        yield (name, *list(values.values())[:5])


def report(manifest: Manifest, faults: list[Fault], rows: dict[str, Row]) -> str:
    programs = {one.name: one for one in manifest.programs}
    head = ("fault", "half", "framework", "verdict", "fixes", "applies", "reproduces", "closed", "seconds")
    table = list[tuple[object, ...]]()
    for fault in faults:
        if fault.name in rows:
            row, program = rows[fault.name], programs[fault.program]
            closed = "" if row.closed is None else f"{row.closed:.2f}"
            table.append((fault.name, program.half, program.framework, row.verdict, " ".join(row.fixes),
                          row.applies, row.reproduces, closed, f"{row.seconds:.0f}"))  # fmt: skip
    counted = ("", "fixed", "closed", "worse", "applies", "reproduces")
    groups: list[Callable[[Fault], str]] = [
        lambda f: programs[f.program].half,
        lambda f: programs[f.program].framework,
        lambda f: f.kind,
    ]
    parts = [markdown(head, table), *(markdown(counted, list(by(rows, faults, one))) for one in groups)]
    return "\n".join(parts) + "\n" + "".join(f"{name}: {value}\n" for name, value in figures(rows, faults))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repositories", type=Path, default=Path("repositories"))
    parser.add_argument("--budget", default=BUDGET, help="for each fix; more on a machine with other work")
    parser.add_argument("--half", choices=("developed", "measured"))
    parser.add_argument("--only-report", action="store_true")
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    manifest = msgspec.json.decode((HERE / "foreign.json").read_bytes(), type=Manifest)
    programs, rows = {one.name: one for one in manifest.programs}, dict[str, Row]()
    faults = [f for f in manifest.faults if given.half in (None, programs[f.program].half)]
    for fault in faults:
        kept, program = given.folder / f"{fault.name}.json", programs[fault.program]
        wanted = not given.only_report and (not given.names or fault.name in given.names)
        if wanted and not kept.exists() and find_spec(LIBRARIES.get(program.framework, "torch")):
            place = (given.folder / "places" / fault.name).resolve()
            place.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(
                msgspec.json.encode(tried(fault, program, place, given.repositories.resolve(), given.budget))
            )
        if kept.exists():
            rows[fault.name] = msgspec.json.decode(kept.read_bytes(), type=Row)
    sys.stdout.write(report(manifest, faults, rows))


if __name__ == "__main__":
    main()

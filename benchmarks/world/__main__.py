"""`python -m benchmarks.world FOLDER [--repositories FOLDER] [--half developed|measured] [--once] [NAME…]`: what the
folder lacks is run, plainly and under `traindx run`; then all that it holds is judged by the code of now. Programs that
ended with an error (a package or data is missing) show nothing of the judgement: they are counted apart."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import msgspec

from benchmarks.gym.scoring.tables import markdown
from benchmarks.world.data import WRITERS
from traindx import pipeline
from traindx.errors import ReadError
from traindx.reports.diagnosis.brief import cannot_tell

LIMIT = 400  # seconds for one start
HERE = Path(__file__).parent
COMMAND = re.compile(r"\s*(?:%[a-z%]|!)")  # of IPython or of the shell, in a notebook
NOT_STARTED = "did not start"
VERDICTS = ("healthy", "watch", "cannot tell", "sick", "failed", "not recorded", NOT_STARTED)


class Program(msgspec.Struct, frozen=True):
    """`arguments` and `edits` (old text -> new text, in the script) shorten it; `elsewhere`: edits of other files, by
    their place in the repository. `data`: what is put where, from the folder it starts in. `flaw`: what a reader finds
    wrong with it, "" for nothing. `needs`: the folders to take, where its own is not enough. A script that the
    repository lacks is the code of the notebook of that name."""

    name: str
    repository: str
    commit: str
    folder: str
    script: str
    kind: str
    framework: str
    arguments: list[str] = []
    edits: dict[str, str] = {}
    elsewhere: dict[str, dict[str, str]] = {}
    data: dict[str, str] = {}
    first: list[str] = []
    environment: dict[str, str] = {}
    needs: list[str] = []
    flaw: str = ""

    @property
    def half(self) -> str:
        return ("developed", "measured")[hashlib.sha256(self.repository.encode()).digest()[0] % 2]


def programs() -> list[Program]:
    return msgspec.json.decode((HERE / "programs.json").read_bytes(), type=list[Program])


class Start(msgspec.Struct):
    status: int
    seconds: float
    processor: float
    out: str
    err: str


class Row(msgspec.Struct):
    """`same`: what was printed is the same, or differs as two plain runs do. No `plain`: it was only recorded."""

    plain: Start | None
    seen: Start
    same: bool


def repository(program: Program, folder: Path) -> Path:
    """A clone of the repository that holds the commit."""
    for place in (
        folder / program.repository.replace("/", "+") / "repo",
        folder / program.repository.replace("/", "+"),
    ):
        if place.is_dir():
            return place
    place = folder / program.repository.replace("/", "+")
    address = f"https://github.com/{program.repository}"
    subprocess.run(
        ["git", "clone", "-q", "--filter=blob:none", "--no-checkout", address, str(place)], check=True
    )
    return place


def files(program: Program, clone: Path) -> Iterator[tuple[str, bytes]]:
    """The files of the folders that the program needs, at its commit; those that the clone lacks are left out."""
    git = ["git", "-c", "core.quotepath=false", "-C", str(clone)]  # names as they are, not escaped
    wanted = [*git, "ls-tree", "-r", program.commit, "--", *(program.needs or [program.folder])]
    listed = subprocess.run(wanted, capture_output=True, check=True, text=True).stdout
    entries = [line.split(maxsplit=3) for line in listed.splitlines() if " blob " in line]
    names = "".join(f"{entry[2]}\n" for entry in entries)
    packed = BytesIO(
        subprocess.run(
            [*git, "cat-file", "--batch"], input=names.encode(), capture_output=True, check=True
        ).stdout
    )
    for *_, path in entries:
        head = packed.readline().split()
        if len(head) == 3:
            yield path, packed.read(int(head[2]) + 1)[:-1]


def prepare(program: Program, place: Path, repositories: Path) -> Path:
    """The repository's files at the commit, shortened, with its data; the folder that the program starts in."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for path, content in files(program, repository(program, repositories)):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    here = place / program.folder
    script = here / program.script
    if not script.exists():
        script.write_text(code(script.with_suffix(".ipynb")), encoding="utf-8")
    edited = {script: program.edits, **{place / path: edits for path, edits in program.elsewhere.items()}}
    for file, edits in edited.items():
        text = file.read_text(encoding="utf-8")
        for old, new in edits.items():
            if old not in text:
                raise SystemExit(f"{program.name}: no {old!r} in {file.name}")
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
    for target, kind in program.data.items():
        WRITERS[kind](here / target)
    return here


def code(notebook: Path) -> str:
    """The code of a notebook as a script; commands of the shell and of IPython are left out."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    lines = "\n\n".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"
    ).splitlines()
    return "".join(f"{line}\n" for line in lines if not COMMAND.match(line))


def surroundings(program: Program, home: Path) -> dict[str, str]:
    """The environment of a start."""
    quiet = {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONHASHSEED": "0"}
    home.mkdir(exist_ok=True)
    environment = {**os.environ, **quiet, "HOME": str(home), **program.environment}
    places = [program.environment.get("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")]
    if any(places):  # the program's own folder, then packages that were put there for it
        environment["PYTHONPATH"] = os.pathsep.join(place for place in places if place)
    return environment


def start(program: Program, here: Path, home: Path, *under: str, limit: float = LIMIT) -> Start:
    environment = surroundings(program, home)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    for script in program.first:
        subprocess.run([sys.executable, script], cwd=here, env=environment, check=True, capture_output=True)
    command = [*under, sys.executable, "-W", "ignore", program.script, *program.arguments]
    try:
        done = subprocess.run(
            command, cwd=here, env=environment, capture_output=True, timeout=limit, check=False
        )
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        status, out, err = 124, late.stdout or b"", late.stderr or b""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Start(
        status,
        time.monotonic() - began,
        used,
        out.decode("utf-8", "replace"),
        err.decode("utf-8", "replace"),
    )


def run(program: Program, folder: Path, repositories: Path, once: bool) -> Row:
    """Once plainly, once under `traindx run`; plainly again where the two differ. `once`: only recorded."""
    place = folder / program.name
    starts = []
    record = place / "record"
    shutil.rmtree(record, ignore_errors=True)
    under = (sys.executable, "-m", "traindx", "run", "-q", "--propagate-exit", "--out", str(record), "--")
    for prefix in (under,) if once else ((), under, ()):
        if len(starts) == 2 and starts[1].out.startswith(starts[0].out):
            break
        here = prepare(program, place / "project", repositories)
        starts.append(start(program, here, place / "project" / "home", *prefix))
    shutil.rmtree(place / "project")
    if once:
        return Row(None, starts[0], True)
    same = starts[1].out.startswith(starts[0].out) or starts[0].out != starts[2].out
    return Row(starts[0], starts[1], same)


def untrained(status: int, err: str) -> str:
    """Why a program did not train here, in its last words; "" for one that did, or that was stopped at the limit."""
    return (err.strip() or f"status {status}").splitlines()[-1][:100] if status not in (0, 124) else ""


def judged(program: Program, folder: Path, row: Row) -> tuple[str, str, str]:
    """Verdict, leading causes and decision, by the code of now: of the record, or of what was printed."""
    why = untrained(row.seen.status, row.seen.err)
    if why:
        return NOT_STARTED, why, ""
    try:
        said = pipeline.diagnose(longest_of(folder / program.name / "record")).first
    except (ReadError, ValueError) as error:
        return "not recorded", str(error)[:60], ""
    silent = cannot_tell(said)
    causes = ", ".join(f"{h.cause} {h.probability:.2f}" for h in said.hypotheses[:3])
    seen = ", ".join(f"{f.slug} ({f.severity})" for f in said.findings[:3])
    return (
        "cannot tell" if silent else said.health,
        causes,
        f"{seen}; {said.decision.action}: {said.decision.reason}",
    )


def longest_of(record: Path):
    from benchmarks.gym.scoring.diagnoses import longest

    return longest(pipeline.read_capture(record))


def report(wanted: list[Program], folder: Path) -> str:
    lines, counts = [], dict.fromkeys(VERDICTS, 0)
    for program in wanted:
        kept = folder / program.name / "row.json"
        if not kept.exists():
            continue
        row = msgspec.json.decode(kept.read_bytes(), type=Row)
        health, causes, seen = judged(program, folder, row)
        counts[health] += not program.flaw
        cost = f"{row.seen.processor / max(row.plain.processor, 0.01):.2f}" if row.plain else ""
        ended = f"{row.plain.status if row.plain else ''}/{row.seen.status}"
        lines.append((program.half[0], program.name, program.kind, ended, "yes" if row.same else "**no**",
                      cost, health, program.flaw, causes, seen))  # fmt: skip
    head = ("half", "program", "kind", "status", "same", "cost", "health", "flaw", "causes", "seen")
    well = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"{markdown(head, lines)}\n\nprograms without a flaw: {well}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repositories", type=Path)
    parser.add_argument("--half", choices=("developed", "measured"))
    parser.add_argument("--only-judge", action="store_true")
    parser.add_argument("--once", action="store_true", help="only recorded: no plain run, so no cost")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_intermixed_args()
    folder = asked.folder.resolve()
    wanted = [
        p for p in programs() if asked.half in (None, p.half) and (not asked.names or p.name in asked.names)
    ]
    for program in wanted if not asked.only_judge else []:
        kept = folder / program.name / "row.json"
        if kept.exists():
            continue
        print(f"{program.name} …", file=sys.stderr, flush=True)
        try:
            row = run(program, folder, (asked.repositories or folder / "repositories").resolve(), asked.once)
        except (subprocess.CalledProcessError, SystemExit) as error:
            print(f"{program.name}: {error}", file=sys.stderr, flush=True)
            continue
        kept.write_bytes(msgspec.json.encode(row))
        made = row.plain or row.seen
        why = json.dumps(made.err[-200:]) if made.status else ""
        print(f"  {made.status} {made.seconds:.0f} s", why, file=sys.stderr, flush=True)
    print(report(wanted, folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())

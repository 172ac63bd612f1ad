"""Records programs and edited programs, a process each, as `benchmarks.gym.runner` does its own."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.gym import captured
from benchmarks.gym.programs.edits import all_edits
from benchmarks.gym.programs.manifest import PROGRAMS
from benchmarks.gym.programs.program import Edit, Found, final_value, found, reseeded, source_of, split
from benchmarks.gym.runner import memory, note, rows

LIMIT = 180  # seconds for one run
QUICK = (
    "digits_mlp",
    "moons_raw_tensors",
    "wine_numpy_batches",
    "quality_as_number",
    "review_bag",
    "qat_2bit",
)


@dataclass(frozen=True)
class Job:
    """One run of a base, edited or not."""

    base: str
    edit: Edit | None
    seed: int

    @property
    def group(self) -> str:
        return f"{self.base}.{self.edit.name if self.edit else 'clean'}"

    @property
    def id(self) -> str:
        return f"{self.group}.s{self.seed}"

    @property
    def source(self) -> str:
        text = source_of(self.base)
        return reseeded(self.edit.applied(text) if self.edit else text, self.seed)


@dataclass(frozen=True)
class FoundJob:
    """The run of a program after a published fault."""

    program: Found
    edit: None = None

    @property
    def id(self) -> str:
        return f"found.{Path(self.program.script).stem}"

    @property
    def source(self) -> str:
        return self.program.source


def jobs(bases: Iterable[str] = (), seeds: int = 2, edits: int | None = None) -> Iterator[Job]:
    """All programs, then their edits (or so many of them), seed after seed; without those whose packages are
    missing."""
    chosen = [name for name in (bases or PROGRAMS) if PROGRAMS[name].runs_here]
    taken = in_turn(edit for edit in all_edits() if edit.base in chosen)[:edits]
    for seed in range(seeds):
        yield from (Job(name, None, seed) for name in chosen)
        yield from (Job(edit.base, edit, seed) for edit in taken)


def in_turn(edits: Iterable[Edit]) -> list[Edit]:
    """The edits, cause after cause, in an order that is always the same and follows nothing."""
    by_cause: dict[str, list[Edit]] = {}
    for edit in sorted(edits, key=lambda e: hashlib.sha256(f"{e.base}.{e.name}".encode()).digest()):
        by_cause.setdefault(edit.cause, []).append(edit)
    rounds = zip_longest(*by_cause.values())
    return [edit for turn in rounds for edit in turn if edit is not None]


def found_jobs() -> Iterator[FoundJob]:
    """All programs after published faults."""
    return (FoundJob(program) for program in found())


def run_all(todo: Iterable[Job | FoundJob], folder: Path, workers: int = 1) -> None:
    """Run what the folder's journal lacks."""
    import sklearn.datasets
    import sklearn.metrics  # noqa: F401
    import torch

    captured.preload()
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    journal = folder / "journal.jsonl"
    done = {row["id"] for row in rows(journal)}
    left = [job for job in todo if job.id not in done]
    running: dict[int, Job | FoundJob] = {}
    while left or running:
        while left and len(running) < workers:
            job = left.pop(0)
            running[start(job, folder / "runs" / job.id)] = job
        pid, status = os.wait()
        if pid in running:
            job = running.pop(pid)
            row = row_of(job, folder, status)
            note(journal, row)
            told = f"{row['id']}: {row.get('final')} in {row.get('seconds', 0):.0f} s"
            print(f"{told}, {len(left) + len(running)} left", file=sys.stderr, flush=True)


def start(job: Job | FoundJob, folder: Path) -> int:
    """Fork a process for the job; its id."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(job.source, encoding="utf-8")
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        status = child(job, folder.resolve())
    finally:
        os._exit(status)


def child(job: Job | FoundJob, folder: Path) -> int:
    """The program under capture; 0 when it came to its end."""
    os.chdir(folder)
    signal.alarm(LIMIT)
    for name, number in (("stdout.log", 1), ("stderr.log", 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = os.fdopen(1, "w", encoding="utf-8"), os.fdopen(2, "w", encoding="utf-8")
    script = str(folder / "train.py")
    captured.begin(folder, script, job.edit.outside if job.edit else ())
    main = type(sys)("__main__")  # multiprocessing and pickle look the program's names up there
    main.__file__ = script
    sys.modules["__main__"] = main
    began, held, status = time.process_time(), memory(), 0
    try:
        exec(compile(job.source, script, "exec"), main.__dict__)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever a program dies of belongs into its log)
        traceback.print_exc()
        traceback.print_exc(file=sys.stdout)
        sys.last_value = error
        status = 1
    seconds, grown = (
        time.process_time() - began,
        memory() - held,
    )  # a busy machine is not the program's fault
    sys.stdout.flush()
    sys.stderr.flush()
    captured.end(folder, status)
    outcome = {"status": status, "seconds": seconds, "steps": 1, "grown": grown}
    (folder / "outcome.json").write_text(json.dumps(outcome), encoding="utf-8")
    return status


def row_of(job: Job | FoundJob, folder: Path, status: int) -> dict[str, Any]:
    """The journal's row of a finished run, in the words of the gym's own."""
    place = folder / "runs" / job.id
    kept = place / "outcome.json"
    outcome = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {"status": status or 1}
    final = final_value((place / "stdout.log").read_text(encoding="utf-8", errors="replace"))
    if final is not None and outcome["status"] == 0:
        outcome["final"] = final
    about = about_found(job) if isinstance(job, FoundJob) else about_base(job, outcome)
    return {
        "id": job.id, "variant": 0, "skeleton": "own", "onset": 0.0, "strength": None, "style": "own",
        "level": "capture", "lr": None, "validated": True, "script": f"runs/{job.id}/train.py",
        "log": f"runs/{job.id}/stdout.log", **outcome, **about,
    }  # fmt: skip


def about_found(job: FoundJob) -> dict[str, Any]:
    """What is known of a program after a published fault."""
    name = Path(job.program.script).stem
    return {
        "group": job.id, "twin": "", "setting": name, "task": "found", "seed": 0,
        "fault": None if job.program.causes[0] == "healthy" else name,
        "cause": job.program.causes[0], "also": job.program.causes[1:], "second": (), "harm_in": None,
        "severity": "found", "pattern": None, "split": job.program.split,
    }  # fmt: skip


def about_base(job: Job, outcome: dict[str, Any]) -> dict[str, Any]:
    """What is known of a base program or of an edit of one, and its skill where it came to its end."""
    base, edit = PROGRAMS[job.base], job.edit
    fault = edit if edit is not None and edit.cause != "healthy" else None
    skill = {"skill": base.skill(outcome["final"])} if "final" in outcome else {}
    if not skill and fault is not None and fault.harm == "end":
        skill = {"skill": 0.0}
    return {
        "group": job.group, "twin": f"{job.base}.clean" if fault else "", "setting": job.base, "task": base.task,
        "seed": job.seed, "fault": fault.name if fault else None, "cause": edit.cause if edit else "healthy",
        "also": edit.also if edit else (), "second": edit.second if edit else (),
        "harm_in": fault.harm if fault else None, "severity": edit.severity if edit else None,
        "pattern": base.pattern, "split": split(job.base), **skill,
    }  # fmt: skip

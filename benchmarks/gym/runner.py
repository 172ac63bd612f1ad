"""Runs the jobs: each script in a process of its own, as it stands; what came out goes into a journal.

The processes are forked from one that has the libraries loaded, which saves the seconds of importing them. A job
that is in the journal is not run again. A folder holds `journal.jsonl` and, for every run, a folder with `train.py`
and what it printed or wrote.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from benchmarks.gym import captured
from benchmarks.gym.fitting import exam
from benchmarks.gym.plan import Job

LIMIT = 120  # seconds for one run


def run_all(jobs: list[Job], folder: Path, workers: int = 1) -> None:
    """Run what the journal lacks, and say how far it is."""
    import sklearn.datasets  # noqa: F401  (loaded once, before forking)
    import torch

    captured.preload()
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    journal = folder / "journal.jsonl"
    done = {row["id"] for row in rows(journal)}
    todo = [job for job in jobs if job.id not in done]
    running: dict[int, Job] = {}
    started, finished = time.monotonic(), 0
    while todo or running:
        while todo and len(running) < workers:
            job = todo.pop(0)
            running[start(job, folder / "runs" / job.id)] = job
        pid, status = os.wait()
        if pid in running:
            job = running.pop(pid)
            note(journal, row_of(job, folder, status))
            finished += 1
            tell(finished, len(todo) + len(running), time.monotonic() - started, job)


def rows(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a journal (a last one may be cut off)."""
    if not path.exists():
        return []
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    return [json.loads(line) for line in whole.splitlines() if line]


def note(journal: Path, row: dict[str, Any]) -> None:
    with journal.open("a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")


def tell(finished: int, left: int, seconds: float, job: Job) -> None:
    rest = seconds / finished * left
    line = f"{finished} done, {left} left, about {rest / 60:.1f} min: {job.id}"
    print(line, file=sys.stderr, flush=True)


def start(job: Job, folder: Path) -> int:
    """Fork a process for the job; its id."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(job.source, encoding="utf-8")
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        status = child(job, folder)
    finally:
        os._exit(status)


def child(job: Job, folder: Path) -> int:
    """The script, then its exam; 0 when the script came to its end."""
    os.chdir(folder)
    signal.alarm(LIMIT)
    os.nice(5)
    for name, number in (("stdout.log", 1), ("stderr.log", 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    script = str(folder.resolve() / "train.py")
    space: dict[str, Any] = {"__name__": "__main__", "__file__": script}
    captured.begin(folder.resolve(), script)
    began, held, status = time.monotonic(), memory(), 0
    try:
        exec(compile(job.source, script, "exec"), space)
    except Exception as error:  # noqa: BLE001  (whatever a script dies of belongs into its log)
        traceback.print_exc()
        traceback.print_exc(file=sys.stdout)  # most logs hold both streams
        sys.last_value = error
        status = 1
    seconds, grown = time.monotonic() - began, memory() - held
    sys.stdout.flush()
    captured.end(folder.resolve(), status)
    (folder / "exam.json").write_text(
        json.dumps({**examine(space, job, seconds, status), "grown": grown}), encoding="utf-8"
    )
    return status


def memory() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def examine(space: dict[str, Any], job: Job, seconds: float, status: int) -> dict[str, Any]:
    """What the model is worth, what its script says of it, and how long a step took."""
    if job.recipe.kind != "own" and ("model" not in space or "x_test" not in space):
        return {"status": status}
    if job.recipe.kind == "own":
        return {
            "status": status,
            "skill": exam.skill(space, "own"),
            "told": None,
            "steps": 1,
            "seconds": seconds,
        }
    told, steps = exam.told(space, job.recipe.kind), max(1, space.get("step", 1))
    return {
        "status": status,
        "skill": exam.skill(space, job.recipe.kind),
        "told": told,
        "true": None if told is None else exam.accuracy(space, job.recipe.kind),
        "losses": exam.losses(space),
        "steps": steps,
        "seconds": seconds,
    }


def row_of(job: Job, folder: Path, status: int) -> dict[str, Any]:
    """The journal's row of a finished run."""
    place = folder / "runs" / job.id
    result = place / "exam.json"
    outcome = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {"status": status or 1}
    log = place / (job.log.file or "stdout.log")
    fault = job.fault
    return {
        "id": job.id, "group": job.group, "twin": job.twin, "setting": job.recipe.setting, "task": job.recipe.task,
        "variant": job.variant, "seed": job.seed, "skeleton": job.skeleton, "fault": fault.name if fault else None,
        "cause": fault.cause if fault else "healthy", "also": fault.also if fault else (),
        "second": fault.second if fault else (),
        "harm_in": fault.harm if fault else None, "onset": fault.onset if fault else None, "strength": job.strength,
        "pattern": job.recipe.pattern, "style": job.style, "level": job.shown.level, "lr": job.recipe.lr,
        "validated": job.log.val and job.style != "own",
        "script": f"runs/{job.id}/train.py", "log": str(log.relative_to(folder)), **outcome,
    }  # fmt: skip

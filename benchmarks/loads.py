"""`python -m benchmarks.loads FOLDER [--count 20]`: does the verdict depend on how busy the machine is? Programs of the
gym, half of them with a fault, each run under `traindx run` beside 0, 4 and 8 processes that only compute."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.gym.programs.runner import Job, jobs
from benchmarks.gym.scoring.tables import markdown
from traindx import pipeline

LOADS = (0, 4, 8)
LIMIT = 900  # seconds for one start, which 8 others slow down


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes that compute, as long as the block lasts."""
    beside = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in beside:
            process.kill()
            process.wait()


def chosen(count: int) -> list[Job]:
    """Programs by the hash of their names: healthy ones and faulty ones in turn, of different bases."""
    ordered = sorted(jobs(seeds=1), key=lambda job: hashlib.sha256(job.id.encode()).digest())
    taken: dict[str, Job] = {}
    for job in ordered:
        faulty = sum(other.edit is not None for other in taken.values())
        wanted = job.edit is not None if faulty < len(taken) - faulty else job.edit is None
        if wanted and job.base not in taken and len(taken) < count:
            taken[job.base] = job
    return list(taken.values())


def verdict(job: Job, place: Path) -> str:
    """Verdict, leading cause and advice of a start."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "train.py").write_text(job.source, encoding="utf-8")
    outside = [option for change in (job.edit.outside if job.edit else ()) for option in ("--with", change)]
    command = [sys.executable, "-m", "traindx", "run", "-q", *outside, "--out", "record"]
    command += ["--", sys.executable, "train.py"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    subprocess.run(command, cwd=place, env=environment, timeout=LIMIT, capture_output=True, check=False)
    said = pipeline.diagnose(place / "record").first
    first = said.hypotheses[0].cause if said.hypotheses else ""
    return " · ".join((said.health, first, said.decision.action))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    rows = []
    for job in chosen(options.count):
        row = [job.group]
        for load in LOADS:
            with busy(load):
                row.append(verdict(job, options.folder / f"{job.id}.{load}"))
        rows.append(row)
        print(*row, sep=" | ", file=sys.stderr, flush=True)
    print(markdown(["program", *(f"load {load}" for load in LOADS)], rows))
    same = sum(len({verdict.split(" · ")[0] for verdict in row[1:]}) == 1 for row in rows)
    whole = sum(len(set(row[1:])) == 1 for row in rows)
    print(f"\nthe same verdict: {same} of {len(rows)}; cause and advice as well: {whole}")


if __name__ == "__main__":
    main()

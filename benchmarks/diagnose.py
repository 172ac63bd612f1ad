"""How long a diagnosis takes, and how much memory: `python -m benchmarks.diagnose [--table FILE]`.

Made runs of 300 to 1 M steps with ten signals through rules and ranking, and through the whole pipeline; the command
line as a process, against a bare interpreter (CPU seconds of the child, the median of several); peak memory of a
diagnosis against the size of its numbers.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from traindx import causes, pipeline, rules
from traindx.config import Config
from traindx.features.shared import Features
from traindx.vocabulary.run import Run, series

SIZES = (300, 3_000, 100_000, 1_000_000)


def made(n: int) -> Run:
    """A healthy run of `n` steps with ten signals."""
    noise = np.random.default_rng(0)
    t = np.arange(n) / n
    loss = (0.3 + 2 * (1 + 30 * t) ** -0.9) * (1 + 0.03 * noise.standard_normal(n))
    signals = {
        "train/loss": loss,
        "train/accuracy": 1 - 0.9 * np.exp(-5 * t) + 0.01 * noise.standard_normal(n),
        "lr": 1e-3 * (1 - t),
        "grad_norm": np.exp(0.3 * noise.standard_normal(n)),
        "time/step": 0.1 + 0.01 * noise.standard_normal(n),
        "time/data": 0.01 + 0.001 * noise.standard_normal(n),
        "mem/device": np.full(n, 5e9),
        "throughput": 100 + noise.standard_normal(n),
        "loss_scale": np.full(n, 65536.0),
    }
    built = {name: series(np.arange(n), values) for name, values in signals.items()}
    built["val/loss"] = series(np.arange(0, n, 50), loss[::50] + 0.1)
    return Run(id="made", source="made", format="made", series=built)


def cpu(work: Callable[[], object], times: int = 5) -> float:
    """Median CPU seconds of `work`."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return float(np.median(taken))


def judged_and_ranked(run: Run) -> object:
    features = Features(run)
    return causes.rank(rules.judge(run, features), run, features)


def child_cpu(command: list[str], times: int = 7) -> float:
    """Median CPU seconds (user and system) of a child process."""
    taken = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return float(np.median(taken))


def trainer_state(folder: Path) -> Path:
    """A trainer_state.json of 60 rows."""
    rows = [
        {"step": 5 * i, "epoch": i / 30, "loss": 2.0 / (1 + i / 9), "learning_rate": 1e-4}
        for i in range(1, 61)
    ]
    path = folder / "trainer_state.json"
    path.write_text(json.dumps({"global_step": 300, "max_steps": 300, "log_history": rows}))
    return path


def peak(run: Run) -> tuple[float, float]:
    """(bytes of the run's numbers, peak bytes that diagnosing it allocates)."""
    size = sum(s.values.nbytes + s.steps.nbytes for s in run.series.values())
    tracemalloc.start()
    pipeline.diagnose(run)
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size, top


def table() -> str:
    lines = ["| points | rules and ranking | everything | memory / numbers |", "|---|---|---|---|"]
    for n in SIZES:
        run = pipeline.prepare_run(made(n), Config())
        judged, whole = (
            cpu(lambda run=run: judged_and_ranked(run)),
            cpu(lambda run=run: pipeline.diagnose(run), 3),
        )
        size, top = peak(run)
        lines.append(f"| {n:,} | {1e3 * judged:.1f} ms | {1e3 * whole:.1f} ms | {top / size:.2f} |")
    bare = child_cpu([sys.executable, "-c", "pass"])
    command = [sys.executable, "-m", "traindx.cli.main"]
    with tempfile.TemporaryDirectory() as folder:
        state = trainer_state(Path(folder))
        helping = child_cpu([*command, "--help"])
        diagnosing = child_cpu([*command, "diagnose", str(state)])
    lines += ["", "| process | CPU | over a bare interpreter |", "|---|---|---|"]
    lines += [f"| bare interpreter | {1e3 * bare:.0f} ms | |"]
    lines += [f"| `traindx --help` | {1e3 * helping:.0f} ms | {1e3 * (helping - bare):.0f} ms |"]
    lines += [
        f"| `traindx diagnose trainer_state.json` | {1e3 * diagnosing:.0f} ms | {1e3 * (diagnosing - bare):.0f} ms |"
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=Path)
    arguments = parser.parse_args()
    text = table()
    arguments.table.write_text(text) if arguments.table else print(text)


if __name__ == "__main__":
    main()

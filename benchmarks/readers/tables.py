"""Tables and JSON Lines beside pyarrow, DuckDB, polars and pandas.

    pip install pyarrow duckdb polars pandas
    python benchmarks/readers/tables.py [ROWS]      # prints Markdown; 1 000 000 rows by default

Large files: medians of interleaved rounds in one process, everything imported and warm, each peer
left in its own frame (no conversion to numpy asked of it). Cold: a fresh process for each, CPU
seconds with all imports. Memory: rise of the peak resident size in a fresh process that has
imported what it needs, over the size of the numbers as float64.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("step", "epoch", "loss", "lr", "grad_norm", "time")
ROUNDS = 7
SMALL_ROWS = 1000

TRAINDX = """
from pathlib import Path
from traindx.readers.formats import csv_table
from traindx.readers.formats import jsonl
from traindx.readers.raw import HEAD_BYTES, Source
def read(path):
    source = Source(path, Path(path))
    with source.open() as stream:
        source = Source(path, Path(path), head=stream.read(HEAD_BYTES))
    return (jsonl if ".jsonl" in path else csv_table).read(source)
"""
PEERS = {
    "traindx": TRAINDX,
    "pyarrow": "import pyarrow.csv as c, pyarrow.json as j\n"
    "def read(path): return (j.read_json if '.jsonl' in path else c.read_csv)(path)",
    "duckdb": "import duckdb, pyarrow\n"
    "def read(path):\n"
    "    kind = 'read_json' if '.jsonl' in path else 'read_csv'\n"
    "    return duckdb.sql(f\"SELECT * FROM {kind}('{path}')\").to_arrow_table()",
    "polars": "import polars\n"
    "def read(path): return (polars.read_ndjson if '.jsonl' in path else polars.read_csv)(path)",
    "pandas": "import pandas\n"
    "def read(path): return pandas.read_json(path, lines=True) if '.jsonl' in path else pandas.read_csv(path)",
}
MEASURE_MEMORY = """
import sys
{code}
import numpy, pyarrow.csv
read(sys.argv[2])
def peak():
    with open('/proc/self/status') as f:
        return next(int(l.split()[1]) for l in f if l.startswith('VmHWM'))
def now():
    with open('/proc/self/status') as f:
        return next(int(l.split()[1]) for l in f if l.startswith('VmRSS'))
with open('/proc/self/clear_refs', 'w') as f:
    f.write('5')
before = now()
kept = read(sys.argv[1])
print((peak() - before) * 1024)
"""


def rows(count: int) -> list[tuple[float, ...]]:
    """A training's rows: counters, a noisy falling loss, a rate, a norm and a time."""
    rng = np.random.default_rng(0)
    i = np.arange(count)
    loss = 2.3 * np.exp(-3 * i / count) + 0.1 * rng.standard_normal(count)
    norm, seconds = np.exp(0.3 * rng.standard_normal(count)), 0.01 * rng.random(count)
    columns = (10 * i, i / 5e4, loss, 1e-3 * np.cos(1.5 * i / count), norm, seconds)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def write(folder: Path, count: int, stem: str) -> dict[str, str]:
    """The same rows as CSV, gzipped CSV and JSON Lines; paths by kind."""
    table = rows(count)
    text = ",".join(NAMES) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in table)
    lines = "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in table)
    paths = {
        "CSV": folder / f"{stem}.csv",
        "CSV.gz": folder / f"{stem}.csv.gz",
        "JSONL": folder / f"{stem}.jsonl",
    }
    paths["CSV"].write_text(text)
    paths["CSV.gz"].write_bytes(gzip.compress(text.encode(), 1))
    paths["JSONL"].write_text(lines)
    return {kind: str(path) for kind, path in paths.items()}


def installed() -> dict[str, str]:
    return {name: code for name, code in PEERS.items() if importlib.util.find_spec(name)}


def warm(readers: dict[str, Callable[[str], object]], path: str) -> dict[str, float]:
    """Median seconds of each reader on a file, in rounds that take turns."""
    taken: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(ROUNDS):
        for name, read in readers.items():
            begun = time.perf_counter()
            read(path)
            taken[name].append(time.perf_counter() - begun)
    return {name: statistics.median(times) for name, times in taken.items()}


def cold(code: str, path: str) -> float:
    """Median CPU seconds of a fresh process that imports and reads."""
    script = f"import sys\n{code}\nread(sys.argv[1])\nimport time\nprint(time.process_time())"
    return statistics.median(float(output(script, path)) for _ in range(5))


def output(script: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def memory(code: str, path: str, small: str) -> float:
    """Bytes by which the peak resident size rises while reading; a small file was read before."""
    return float(output(MEASURE_MEMORY.replace("{code}", code), path, small))


def loaded(code: str) -> Callable[[str], object]:
    space: dict[str, Callable[[str], object]] = {}
    exec(code, space)
    return space["read"]


def report(count: int) -> None:
    peers = installed()
    numbers = count * len(NAMES) * 8
    with tempfile.TemporaryDirectory() as work:
        large, small = write(Path(work), count, "large"), write(Path(work), SMALL_ROWS, "small")
        readers = {name: loaded(code) for name, code in peers.items()}
        times = {kind: warm(readers, path) for kind, path in large.items()}
        print(f"{count} rows x {len(NAMES)}; {os.cpu_count()} cores; Python {sys.version.split()[0]}\n")
        print(
            "| | CSV s | CSV.gz s | JSONL s | peak/numbers CSV | JSONL | cold, 1000 rows: CSV CPU s | JSONL |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for name, code in peers.items():
            cells = [f"{times[kind][name]:.3f}" for kind in large]
            cells += [
                f"{memory(code, large[kind], small[kind]) / numbers:.1f}x" for kind in ("CSV", "JSONL")
            ]
            cells += [f"{cold(code, small[kind]):.3f}" for kind in ("CSV", "JSONL")]
            print(f"| {name} | " + " | ".join(cells) + " |")
        others = [name for name in peers if name != "traindx"]
        for kind in large if others else ():
            best = min(others, key=lambda name: times[kind][name])
            print(
                f"\n{kind}: traindx takes {times[kind]['traindx'] / times[kind][best]:.2f}x the time of {best}."
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    report(parser.parse_args().rows)


if __name__ == "__main__":
    main()

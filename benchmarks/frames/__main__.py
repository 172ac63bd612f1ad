"""See the package."""

from __future__ import annotations

import argparse
import importlib
import os
from pathlib import Path
from types import SimpleNamespace

import traindx
from benchmarks.frames.cells import CELLS
from traindx.capture.framework import frameworks
from traindx.capture.launch.attach import Process

OF = {
    "torch": "torch",
    "lightning": "torch",
    "hf": "torch",
    "keras": "keras",
    "nnx": "jax",
    "equinox": "jax",
}


def attached(framework: str, out: Path) -> Process:
    """Record what this process trains, as `traindx run` does."""
    out.mkdir(parents=True)
    process = Process({"out": str(out), "folder": os.getcwd()})
    process.watch = SimpleNamespace(wanted={}, last=[])
    next(known for known in frameworks() if known.name == OF[framework]).attach(process)
    return process


def record(cell: str, framework: str, out: Path) -> None:
    """Train a cell in this process."""
    program = importlib.import_module(f"benchmarks.frames.{framework}_net")
    process = attached(framework, out)
    program.train(CELLS[cell])
    process.end()


def train(folder: Path, framework: str, names: list[str]) -> None:
    name = f"keras-{os.environ.get('KERAS_BACKEND', 'tensorflow')}" if framework == "keras" else framework
    if framework in ("nnx", "equinox"):  # before the programs take functions out of it
        import jax  # noqa: F401
    for cell in names or list(CELLS):
        out = folder / name / cell
        if not out.exists():
            record(cell, framework, out)
            print(name, cell, flush=True)


def table(folder: Path, names: list[str]) -> None:
    """Of each cell and framework: the cause that is first, and the health."""
    frameworks = names or sorted(path.name for path in folder.iterdir() if path.is_dir())
    right = dict.fromkeys(frameworks, 0)
    sick = dict.fromkeys(frameworks, 0)
    print("| |", " | ".join(frameworks), "|")
    print("|---|" + "---|" * len(frameworks))
    for cell in CELLS.values():
        row = []
        for framework in frameworks:
            place = folder / framework / cell.name
            if not any(file.stat().st_size for file in place.glob("steps-*.arrows")):
                row.append("-")
                continue
            found = traindx.diagnose(traindx.read(place)).first
            first = found.hypotheses[0]
            good = first.cause in cell.causes
            right[framework] += good
            sick[framework] += cell.healthy and found.health not in ("healthy", "watch")
            row.append(f"{'' if good else '**'}{first.cause} {first.probability:.2f}{'' if good else '**'}")
        print(f"| {cell.name} |", " | ".join(row), "|", flush=True)
    print("| right |", " | ".join(f"{right[f]}/{len(CELLS)}" for f in frameworks), "|")
    print("| healthy called sick |", " | ".join(str(sick[f]) for f in frameworks), "|")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(importlib.import_module("benchmarks.frames").__doc__))
    verbs = parser.add_subparsers(dest="verb", required=True)
    training = verbs.add_parser("train", help="train and record the cells of one framework below a folder")
    training.add_argument("folder", type=Path)
    training.add_argument("framework", choices=list(OF))
    training.add_argument("names", nargs="*", help="of the cells; all by default")
    judging = verbs.add_parser("table", help="diagnose what was recorded below a folder")
    judging.add_argument("folder", type=Path)
    judging.add_argument("names", nargs="*", help="of the frameworks; all by default")
    asked = parser.parse_args()
    if asked.verb == "table":
        table(asked.folder, asked.names)
    else:
        train(asked.folder, asked.framework, asked.names)


if __name__ == "__main__":
    main()

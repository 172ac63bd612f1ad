"""Makes docs/capture-scripts.md: runs every script of tests/scripts and says what was recovered.

python -m tests.capture.launch.table            needs torch, and the libraries that styles name; some minutes
python -m tests.capture.launch.table NAME ...   renews the rows of these
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.capture.launch.launching import Launched, launched
from tests.capture.launch.styles import STATUS, STYLES, Style
from tests.capture.launch.styles_frameworks import FRAMEWORKS
from traindx.vocabulary.run import Run

SCRIPTED = {**STYLES, **FRAMEWORKS}
PAGE = Path(__file__).parents[3] / "docs" / "capture-scripts.md"
HEAD = """\
<!-- Made by `python -m tests.capture.launch.table` from runs of the scripts in tests/scripts: run it again there. -->

# What `traindx run` recovers from unmodified scripts

Each script in `tests/scripts` and `tests/scripts/frameworks` ran once under `traindx run`. It also writes its own
losses, learning rates and validation values, which are compared with the record. "exact" means equal to the last
digit of the record (a loss is recorded in the precision it was computed in), "printed" that only the printed digits
are known, and "-" that the script has none. The last column has the facts that tests check, from `setup.json`.

| style | script | train loss | lr | validation | setup |
|---|---|---|---|---|---|
"""
TAIL = """
Not recorded. Where it matters, the record or the report says so:

- A hand-written validation loss is known if it uses a loss function of PyTorch, or is printed, logged or written to a
  CSV file. Otherwise there is no `val/loss`.
- What runs inside a compiled function (`torch.compile` of a function, not of a module) has no per-module values.
- Hand-written steps (`p -= lr * p.grad`) have no learning rate.
- A training in a forked process, while another one is already recorded.
- Python started with `-I`, `-E` or `-S`, because it ignores `PYTHONPATH`.
"""


def written() -> dict[str, str]:
    """The rows of the page as it is, by the style they are of."""
    rows = {
        line[2:].split(" | ")[0]: line
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if "` |" in line
    }
    return {name: rows[style.title] for name, style in SCRIPTED.items() if style.title in rows}


def row(name: str, style: Style, done: Launched) -> str:
    truth, run = done.truth(style.truth), done.run()
    cells = [agreement(run, "train/loss", truth.get("loss")), agreement(run, "lr", truth.get("lr"))]
    named = [(s, k) for s, k in style.signals.items() if s.startswith("val/")]
    validation = [f"{signal} {agreement(run, signal, truth.get(key))}" for signal, key in named]
    facts = ", ".join(f"{key} {shown(run.setup.known(key))}" for key in style.facts)
    title = f"{style.title} | `{style.script or name}`"
    return f"| {title} | {cells[0]} | {cells[1]} | {', '.join(validation) or '-'} | {facts} |"


def agreement(run: Run, signal: str, truth: list[float] | None) -> str:
    """How well a signal agrees with the script's own numbers."""
    if truth is None:
        return "-"
    if signal not in run.series:
        return "missing"
    found = run.series[signal].values
    if len(found) != len(truth):
        return f"{len(found)} of {len(truth)} points"
    gap = float((np.abs(found - truth) / np.maximum(np.abs(truth), 1e-3)).max())
    return "exact" if gap < 2e-7 else "printed" if gap < 1e-3 else f"off by {gap:.2g}"


def shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def main(names: list[str]) -> None:
    rows = written()
    for name in names or SCRIPTED:
        with tempfile.TemporaryDirectory() as folder:
            done = launched(name, Path(folder))
            if done.status != STATUS.get(name, 0):
                sys.exit(f"{name} ended with status {done.status}: {done.err.decode()[-2000:]}")
            rows[name] = row(name, SCRIPTED[name], done)
    table = "\n".join(rows[name] for name in SCRIPTED)
    PAGE.write_text(f"{HEAD}{table}\n{TAIL}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

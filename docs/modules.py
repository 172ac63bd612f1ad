"""docs/gradients-and-activations.md: how to read the tables of modules, shown on recorded trainings.

    python -m docs.modules              # redraw docs/images/modules from docs/traces
    python -m docs.modules --record     # record the trainings again (needs torch), then redraw

The page itself is made by `docs.generate` from the traces. The pictures are not part of its check: another version
of the plotting library draws other bytes. A trace holds at most about 80 rows of each signal, in three digits.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from docs import modules_text
from traindx import pipeline, rules
from traindx.cli.module_tables import LIMITS, limits, module_findings
from traindx.config import Config
from traindx.features.per_module.table import SIGNALS, Kind, ModuleTable, table
from traindx.reports.documents import modules
from traindx.reports.figures import modules as figures_modules
from traindx.vocabulary.run import Floats, Panel, Run, frozen_array, series
from traindx.vocabulary.setup import Setup

ROOT = Path(__file__).parents[1]
TRACES, IMAGES = ROOT / "docs" / "traces", ROOT / "docs" / "images" / "modules"
ROWS, DIGITS, DPI, WIDTH = 80, 3, 100, 96
SERIES = ("train/loss", "val/loss", "val/accuracy", "grad_norm", "lr")
FACTS = ("classes", "loss", "loss_name", "optimizer", "lr", "batch_size", "depth")


class Case(NamedTuple):
    """One training and which of its tables the page shows."""

    script: str
    kinds: tuple[Kind, ...]


CASES = {
    "healthy": Case("classifier.py", ("gradients", "activations")),
    "deep-sigmoid": Case("record_deep_sigmoid.py", ("gradients",)),
    "deep-sigmoid-normalized": Case("record_deep_sigmoid.py --normalized", ("gradients",)),
    "dead-relus": Case("record_dead_relus.py", ("gradients", "activations")),
    "exploding-rnn": Case("record_exploding_rnn.py", ("gradients",)),
}


def record(name: str) -> None:
    """Run the script under capture and keep a compact trace of it."""
    script, *options = CASES[name].script.split()
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "traindx.cli.main",
            "run",
            "--quiet",
            "--out",
            f"{folder}/run",
            "--",
        ]
        command += [sys.executable, str(ROOT / "examples" / script), *options]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{name}: {done.stderr}")
        (run,) = pipeline.read_capture(f"{folder}/run")
    TRACES.mkdir(exist_ok=True)
    text = json.dumps(trace(run, CASES[name].kinds), separators=(",", ":")) + "\n"
    (TRACES / f"{name}.json").write_text(text, encoding="utf-8")


def trace(run: Run, kinds: tuple[Kind, ...]) -> dict[str, Any]:
    """A run as builtins: its curves, and the signals of the tables that are shown; of more than 80 rows those
    nearest to evenly spaced steps, and those with a module's largest value."""
    made: dict[str, Any] = {"series": {}, "panels": {}}
    for name in sorted(set(SERIES) & set(run.series)):
        line = run.series[name]
        made["series"][name] = [line.steps.astype(int).tolist(), short(line.values)]
    for name in sorted({signal for kind in kinds for signal in SIGNALS[kind]} & set(run.panels)):
        panel = run.panels[name]
        keep = spread(panel.steps, panel.values, ROWS)
        made["panels"][name] = [
            panel.steps[keep].astype(int).tolist(),
            panel.modules,
            short(panel.values[keep]),
        ]
    facts = {name: run.setup.known(name) for name in FACTS}
    made["facts"] = {name: value for name, value in facts.items() if value is not None}
    return made


def spread(steps: Floats, values: Floats, most: int) -> np.ndarray:
    if len(steps) <= most:
        return np.arange(len(steps))
    even = np.searchsorted(steps, np.linspace(steps[0], steps[-1], most)).clip(0, len(steps) - 1)
    peaks = np.argmax(np.where(np.isfinite(values), values, -np.inf), axis=0)
    return np.unique(np.r_[np.arange(3), even, peaks])


def short(values: Floats) -> Any:
    if values.ndim == 2:
        return [short(row) for row in values]
    return [float(f"{v:.{DIGITS}g}") for v in values]


@cache
def traced(name: str) -> Run:
    """The training of a committed trace."""
    found = json.loads((TRACES / f"{name}.json").read_text(encoding="utf-8"))
    return Run(
        id=name,
        source=f"examples/{CASES[name].script}",
        format="traindx",
        framework="torch",
        series={n: series(steps, values) for n, (steps, values) in found["series"].items()},
        panels={
            n: Panel(frozen_array(steps), tuple(names), frozen_array(values))
            for n, (steps, names, values) in found["panels"].items()
        },
        setup=Setup().with_facts(found["facts"], "capture"),
    )


def shown(name: str, kind: Kind) -> ModuleTable:
    found = table(traced(name), kind, limits())
    assert found is not None
    return found


def printed(name: str, kind: Kind) -> str:
    """The table as a terminal shows it."""
    text = modules.render([(shown(name, kind), module_findings(traced(name), kind, Config()))], width=WIDTH)
    return f"```\n{text}```\n"


def picture(name: str, kind: Kind) -> str:
    return f"{name}-{kind}.png"


def draw() -> list[Path]:
    """The pictures of all cases."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, case in CASES.items():
        for kind in case.kinds:
            figure = figures_modules.figure(shown(name, kind))
            paths.append(IMAGES / picture(name, kind))
            figure.savefig(paths[-1], dpi=DPI, metadata={"Software": "traindx"})
    return paths


def flags() -> str:
    """Every flag with its limit and where that is from."""
    defaults = {rule.slug: rule.thresholds for rule in rules.catalogue()}
    lines = [
        "| flag | what is seen | healthy ends at | asked by | where the limit is from |",
        "|---|---|---|---|---|",
    ]
    for word, (what, limit) in modules_text.FLAGS.items():
        if limit is None:
            lines.append(f"| **{word}** | {what} | | | |")
            continue
        slug, key = LIMITS[limit]
        own = defaults[slug][key]
        lines.append(
            f"| **{word}** | {what} | {own:g} {own.unit} | [{slug}](rules.md#{slug}) | {own.basis}: {own.source} |"
        )
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page: its text with a table and a picture wherever it asks for one."""
    text = modules_text.PAGE.replace("{flags}", flags())
    for name, case in CASES.items():
        for kind in case.kinds:
            alt = modules_text.ALT[f"{name}-{kind}"]
            text = text.replace(f"{{table {name} {kind}}}", printed(name, kind))
            text = text.replace(
                f"{{figure {name} {kind}}}", f"![{alt}](images/modules/{picture(name, kind)})\n"
            )
    return text


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--record"]):
        print(__doc__)
        return 2
    for name in CASES if arguments else ():
        record(name)
    print(f"{len(draw())} pictures in {IMAGES}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

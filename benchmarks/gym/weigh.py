"""The verbs that make the shipped weights: signs, fit, compare."""

from __future__ import annotations

import datetime
import hashlib
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from benchmarks.gym import crossval, evidence, fit
from traindx.causes.catalogue import catalogue

SIGNS = Path(__file__).with_name("signs.jsonl.gz")
WEIGHTS = Path(__file__).parents[2] / "traindx" / "causes" / "weights.json"


def signs(options: Namespace) -> None:
    print(f"{evidence.extract(options.folders, SIGNS, options.workers)} rows in {SIGNS}")


def fitted(date: str) -> dict[str, Any]:
    """The weights that the kept signs give."""
    data = hashlib.sha256(SIGNS.read_bytes()).hexdigest()
    rows = [r for r in evidence.load(SIGNS) if r["verdict"] in ("healthy", "hurts")]
    return fit.shipped(fit.fit(fit.table(rows, [c.slug for c in catalogue()])), data, len(rows), date)


def write(options: Namespace) -> None:
    made = fitted(datetime.date.today().isoformat())
    WEIGHTS.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(made['weights'])} signs with weights, from {made['rows']} rows, in {WEIGHTS}")


def compare(options: Namespace) -> None:
    whole, told = crossval.crossvalidate(evidence.load(SIGNS))
    print(crossval.comparison(whole, told))
    for level in ("capture", "loss+val"):
        print(f"\nWrong first answers of the fitted ranking, {crossval.NAMES[level]}:\n")
        print(crossval.confused(whole, told["hand + fitted"], level))
    if options.figure:
        draw(whole, told["hand + fitted"], options.figure)


def draw(whole: fit.Table, p: fit.Floats, file: Path) -> None:
    """The reliability diagram: told probability against share that is right, a line for each level."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    right = (whole.right | whole.second)[range(len(p)), p.argmax(1)]
    for level in crossval.LEVELS:
        at = [i for i, row in enumerate(whole.rows) if row["level"] == level]
        if at:
            points = crossval.reliability(p[at], right[at])
            axes.plot([t for t, _, _ in points], [r for _, r, _ in points], "o-", label=crossval.NAMES[level])
    axes.set(xlabel="probability told of the first answer", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False)
    figure.savefig(file)


VERBS = {"signs": signs, "fit": write, "compare": compare}

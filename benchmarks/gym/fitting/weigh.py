"""The verbs that make the shipped weights: signs, fit, compare."""

from __future__ import annotations

import datetime
import hashlib
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from benchmarks.gym.fitting import crossval, evidence, fit
from traindx import rules
from traindx.causes.catalogue import catalogue
from traindx.causes.evidence import CLEAR

SIGNS = Path(__file__).with_name("signs.jsonl.gz")
DRAWN = 10  # runs from which a point of the reliability diagram means something
SPEAKS = 0.5  # log-odds from which a rule counts as one of a cause's
WEIGHTS = Path(__file__).parents[3] / "traindx" / "causes" / "data" / "weights.json"
RECORDS = WEIGHTS.with_name("records.json")


def signs(options: Namespace) -> None:
    print(f"{evidence.extract(options.folders, SIGNS, options.workers, options.logs_of)} rows in {SIGNS}")


def fitted(date: str) -> dict[str, Any]:
    """The weights that the kept signs give."""
    data = hashlib.sha256(SIGNS.read_bytes()).hexdigest()
    rows = [r for r in evidence.load(SIGNS) if r["verdict"] in ("healthy", "hurts")]
    return fit.shipped(fit.fit(fit.table(rows, [c.slug for c in catalogue()])), data, len(rows), date)


def write(options: Namespace) -> None:
    made = fitted(datetime.date.today().isoformat())
    WEIGHTS.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(made['weights'])} signs with weights, from {made['rows']} rows, in {WEIGHTS}")
    RECORDS.write_text(json.dumps(recorded(), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def recorded() -> dict[str, Any]:
    """What rules and causes were right in, on the records of held-out settings."""
    whole, told = crossval.crossvalidate(evidence.load(SIGNS), ["hand + fitted"])
    at = [i for i, row in enumerate(whole.rows) if row["level"] == "capture"]
    p, causes = told["hand + fitted"], {}
    for i in at:
        row = whole.rows[i]
        if row["second"]:
            continue
        order, right = p[i].argsort()[::-1], whole.right[i]
        kept = causes.setdefault(row["cause"], {"first": 0, "three": 0, "runs": 0})
        kept["runs"] += 1
        kept["first"] += int(right[order[0]])
        kept["three"] += int(right[order[:3]].any())
    return {"causes": causes, "rules": rule_records([whole.rows[i] for i in at])}


def rule_records(rows: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Of each rule: in how many runs of its causes, and in how many healthy ones, it fired where it could look."""
    kept: dict[str, dict[str, int]] = {}
    for rule in rules.catalogue():
        own = {c.slug for c in catalogue() for k, w in c.weights.items()
               if k.split(":")[0] == rule.slug and w.fired >= SPEAKS and c.slug != "healthy"}  # fmt: skip
        looked = [r for r in rows if rule.slug in r["signs"] or CLEAR + rule.slug in r["signs"]]
        ill, well = [r for r in looked if own & set(r["causes"])], [r for r in looked if r["verdict"] == "healthy"]
        if looked:
            kept[rule.slug] = {"fired": sum(rule.slug in r["signs"] for r in ill), "faulty": len(ill),
                               "alarmed": sum(rule.slug in r["signs"] for r in well), "healthy": len(well)}  # fmt: skip
    return kept


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
            seen = [(told, real) for told, real, runs in points if runs >= DRAWN]
            axes.plot([t for t, _ in seen], [r for _, r in seen], "o-", label=crossval.NAMES[level])
    axes.set(xlabel="probability told of the first answer", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False)
    figure.savefig(file)


VERBS = {"signs": signs, "fit": write, "compare": compare}

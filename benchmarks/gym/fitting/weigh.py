"""The verbs that make the shipped weights: signs, fit, compare."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import zlib
from argparse import Namespace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks.gym.fitting import crossval, evidence, fit, pairs, tempering
from traindx import rules
from traindx.causes.catalogue import catalogue
from traindx.causes.ranking.distance import Homes
from traindx.causes.ranking.fitted import VIEWS
from traindx.causes.ranking.rank import STEP, Members
from traindx.causes.ranking.signs import CLEAR

SIGNS = Path(__file__).with_name("signs.jsonl.gz")
PROGRAMS = SIGNS.with_name("programs.jsonl.gz")
DRAWN = 10  # runs from which a point of the reliability diagram means something
SPEAKS = 0.5  # log-odds from which a rule counts as one of a cause's
WEIGHTS = Path(__file__).parents[3] / "traindx" / "causes" / "data" / "weights.json"
RECORDS, HOMES, MEMBERS = (WEIGHTS.with_name(f"{name}.json") for name in ("records", "homes", "members"))
RANKING = "hand + fitted"


def signs(options: Namespace) -> None:
    print(f"{evidence.extract(options.folders, SIGNS, options.workers, options.logs_of)} rows in {SIGNS}")


def of_programs(options: Namespace) -> None:
    """The signs of recorded programs."""
    made = evidence.of_programs(options.folder, options.workers)
    evidence.save(made, PROGRAMS)
    print(f"{len(made)} rows in {PROGRAMS}")


def all_rows() -> list[dict[str, Any]]:
    """The rows of the gym and of the programs."""
    return [*evidence.load(SIGNS), *evidence.load(PROGRAMS)]


@cache
def held_out() -> tuple[fit.Table, fit.Floats, list[fit.Model]]:
    """All rows, probabilities[n, c] by weights that have not seen a row's setting, and these weights."""
    whole = crossval.table_of(all_rows())
    models = crossval.without_each(whole)
    return whole, crossval.unseen(whole, models), models


def fitted(date: str) -> tuple[dict[str, Any], Homes, Members]:
    """The weights, the homes and the members that the kept signs give; the half of the programs that decides is not
    among them."""
    data = hashlib.sha256(SIGNS.read_bytes() + PROGRAMS.read_bytes()).hexdigest()
    rows = [r for r in all_rows() if r["verdict"] in ("healthy", "hurts") and r.get("split") != "held"]
    table = fit.table(rows, [c.slug for c in fit.fitted_causes()])
    whole, told, models = held_out()
    temper, _ = crossval.with_temper(whole, told)
    model = fit.fit(table)
    made = {**fit.shipped(model, data, len(rows), date), "temper": msgspec.to_builtins(temper)}
    return made, tempering.homes_of(rows, table.keys), members_of(models, model)


def packed_differences(differences: fit.Floats) -> str:
    """Differences of weights[member, key, cause] as they are kept."""
    whole = np.clip(np.rint(differences / STEP), -127, 127).astype(np.int8)
    return base64.b64encode(zlib.compress(whole.tobytes(), 9)).decode("ascii")


def members_of(models: list[fit.Model], main: fit.Model) -> Members:
    """How far the fits without a fifth of the settings are from the one with all, for recordings."""
    view, place = VIEWS.index("modules"), {key: i for i, key in enumerate(main.keys)}
    keys = [i for i, key in enumerate(models[0].keys) if key in place]
    at = [place[models[0].keys[i]] for i in keys]
    weights = packed_differences(np.array([m.weights[keys] - main.weights[at] for m in models]))
    scale, surprise = (tuple(round(float(getattr(m, name)[view] - getattr(main, name)[view]), 3) for m in models)
                       for name in ("scale", "surprise"))  # fmt: skip
    base = tuple(tuple(round(float(b), 3) for b in m.base[view] - main.base[view]) for m in models)
    return Members(tuple(models[0].keys[i] for i in keys), main.causes, scale, surprise, base, weights)


def write(options: Namespace) -> None:
    made, homes, members = fitted(datetime.date.today().isoformat())
    MEMBERS.write_bytes(msgspec.json.format(msgspec.json.encode(members), indent=0) + b"\n")
    HOMES.write_text(json.dumps(msgspec.to_builtins(homes), indent=0) + "\n", encoding="utf-8")
    WEIGHTS.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(made['weights'])} signs with weights, from {made['rows']} rows, in {WEIGHTS}")
    RECORDS.write_text(json.dumps(recorded(), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def recorded() -> dict[str, Any]:
    """What rules and causes were right in, on the records of held-out settings."""
    whole, p, _ = held_out()
    at = [i for i, row in enumerate(whole.rows) if row["level"] == "capture"]
    causes: dict[str, dict[str, int]] = {}
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
        ill, well = (
            [r for r in looked if own & set(r["causes"])],
            [r for r in looked if r["verdict"] == "healthy"],
        )
        if looked:
            kept[rule.slug] = {"fired": sum(rule.slug in r["signs"] for r in ill), "faulty": len(ill),
                               "alarmed": sum(rule.slug in r["signs"] for r in well), "healthy": len(well)}  # fmt: skip
    return kept


def compare(options: Namespace) -> None:
    whole, p, models = held_out()
    _, others = crossval.crossvalidate(all_rows(), [name for name in crossval.MODELS if name != RANKING])
    told = {name: p if name == RANKING else others[name] for name in crossval.MODELS}
    _, cooled = crossval.with_temper(whole, told[RANKING])
    print("Programs by many hands, split by base program:\n")
    print(crossval.programs(whole, {**told, f"{RANKING}, by distance": cooled}))
    print("\nThe gym, by settings held out:\n")
    print(crossval.comparison(whole, told))
    at = [i for i, row in enumerate(whole.rows) if row["level"] == "capture" and whole.second[i].any()]
    told_two = pairs.with_second(whole, p, at, models, [int(f) for f in crossval.folds(whole.rows)])
    print(
        f"\nBoth of a pair in two, without what the first explains: {pairs.both(whole, told_two, at)} of {len(at)}"
    )
    for level in ("capture", "loss+val"):
        print(f"\nWrong first answers of the fitted ranking, {crossval.NAMES[level]}:\n")
        print(crossval.confused(whole, told[RANKING], level))
    if options.figure:
        draw(whole, cooled, options.figure)


def draw(whole: fit.Table, p: fit.Floats, file: Path) -> None:
    """The reliability diagram: told probability against share that is right, a line for each level."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 4.6), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    right = (whole.right | whole.second)[range(len(p)), p.argmax(1)]
    for level in (*crossval.LEVELS, crossval.PROGRAM):
        at = [i for i, row in enumerate(whole.rows) if row["level"] == level and row.get("split") != "fit"]
        if at:
            points = crossval.reliability(p[at], right[at])
            seen = [(told, real) for told, real, runs in points if runs >= DRAWN]
            axes.plot([t for t, _ in seen], [r for _, r in seen], "o-", label=crossval.NAMES[level])
    axes.set(
        xlabel="probability told of the first answer", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1)
    )
    axes.legend(frameon=False)
    figure.savefig(file)


VERBS = {"signs": signs, "fit": write, "compare": compare}

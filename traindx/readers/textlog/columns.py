"""Selected lines to columns, by name; and what the names of a few tools mean."""

import re

import numpy as np
from msgspec.structs import replace

from traindx.readers.names.aliases import role_of, split_of, words_of
from traindx.readers.names.by_shape import role_by_shape
from traindx.readers.raw import RawColumn
from traindx.readers.textlog.shapes import Shape, join_arrays
from traindx.readers.textlog.tokens import in_common_unit
from traindx.readers.textlog.words import COUNTERS, evidence
from traindx.vocabulary import Floats

STEP_RATE = re.compile(r"^[munµ]?s/(?:it|iter|iteration|step|batch)$", re.IGNORECASE)
RANKED = re.compile(r"^rank/(\d+)/(.+)$")
BOOST = re.compile(
    r"^(training|train|learn|validation|valid|eval|test)(?:_?(\d+))?(?:'s_|-|:)(.+)$", re.IGNORECASE
)


BAR = re.compile(r"\d%\|[^|]*\| *\d+/\d+ \[")
EPOCH = 3  # the rank of an epoch among the counters
MANY = 20  # rows after which an unknown name with one value only is no measurement


def columns_of(shapes: list[Shape], *, by_epoch: bool) -> tuple[dict[str, RawColumn], dict[str, str]]:
    """Columns by name, rows ascending, each with its own steps; and the unit of each column. The
    epoch is a column too, unless it is the axis (`by_epoch`)."""
    parts: dict[str, list[tuple[Shape, int]]] = {}
    for shape in shapes:
        for i in shape.metrics():
            parts.setdefault(shape.fields[i].name, []).append((shape, i))
        for i, field in enumerate(shape.fields):
            if field.kind == "counter" and field.rank == EPOCH and not by_epoch and shape.side != "val":
                parts.setdefault("epoch", []).append((shape, i))
    columns, units = {}, {}
    frames: dict[tuple[int, ...], RawColumn] = {}
    for name, places in parts.items():
        key = tuple(id(s) for s, _ in places)
        if key not in frames:
            frames[key] = frame([s for s, _ in places])
        values, unit = values_of(name, places)
        fraction = any(s.sample and not s.fields[i].whole for s, i in places)
        if len(parts) > 1 and not fraction and is_label(name, values):
            continue  # a line number, a size: it never says anything
        columns[name] = without_echoes(replace(frames[key], values=values), name, places)
        if unit:
            units[name] = unit
    return columns, units


def frame(shapes: list[Shape]) -> RawColumn:
    """Rows, steps and times of the lines of several kinds, in order; shared by all their columns."""
    rows, steps = join_arrays([s.rows for s in shapes]), join_arrays([s.steps for s in shapes])
    times = join_arrays([s.times for s in shapes]) if all(s.times is not None for s in shapes) else None
    if len(shapes) > 1:
        order = np.argsort(rows, kind="stable")
        rows, steps, times = rows[order], steps[order], None if times is None else times[order]
    return RawColumn(np.empty(0), rows, steps, times)


def without_echoes(column: RawColumn, name: str, places: list[tuple[Shape, int]]) -> RawColumn:
    """A held-out metric of a progress bar, which shows the last validation again at every step: the rows where
    it changes, and the last of each epoch, because two validations may agree."""
    bars = [s for s, _ in places if BAR.search(s.sample)]
    counters = [next((i for i, f in enumerate(s.fields) if f.rank == EPOCH), None) for s in bars]
    if len(bars) < len(places) or None in counters or split_of(words_of(name)) != "val":
        return column
    epochs, _ = values_of("epoch", [(s, i) for s, i in zip(bars, counters, strict=True) if i is not None])
    kept = np.append(np.diff(epochs) != 0, True)
    kept[1:] |= ~np.isclose(column.values[1:], column.values[:-1], rtol=0, atol=0, equal_nan=True)
    kept[0] = True
    times = None if column.times is None else column.times[kept]
    steps = None if column.steps is None else column.steps[kept]
    return RawColumn(column.values[kept], column.rows[kept], steps, times)


def values_of(name: str, places: list[tuple[Shape, int]]) -> tuple[Floats, str]:
    """Values of a column in the order of the file, in one unit, and that unit."""
    factors, unit = in_common_unit([s.units.get(name, "") for s, _ in places])
    pieces = [
        s.data[:, i] * f if f != 1.0 else s.data[:, i] for (s, i), f in zip(places, factors, strict=True)
    ]
    values: Floats = join_arrays(pieces)
    if len(places) > 1:
        values = values[np.argsort(join_arrays([s.rows for s, _ in places]), kind="stable")]
    return values, unit


def is_label(name: str, values: Floats) -> bool:
    """Whether a column of an unknown name is a line number or a size: one integer throughout."""
    telling = re.search(r"scale|norm|loss|rate|size|mem|step|grad", name, re.IGNORECASE)
    same = len(values) >= MANY and float(values[0]).is_integer() and bool((values == values[0]).all())
    return bool(same and not telling and evidence(name) == 0)


def bits_to_nats(columns: dict[str, RawColumn], units: dict[str, str]) -> str:
    """Bring a loss in bits to nats where the other losses are in nats: nanoGPT forks print
    `loss 6.15 BPC` and `val loss 4.28` of the same model. Returns what was done, or nothing."""
    losses = [
        n for n in columns if n.lower() in ("loss", "train_loss", "val_loss", "train_Loss", "val/loss")
    ]
    in_bits = [n for n in losses if units.get(n, "").lower() in ("bpc", "bpb", "bits")]
    if not in_bits or len(in_bits) == len(losses):
        return ""
    for name in in_bits:
        old = columns[name]
        columns[name] = RawColumn(old.values * np.log(2.0), old.rows, old.steps, old.times)
        units.pop(name)
    others = ", ".join(n for n in losses if n not in in_bits)
    return f"{', '.join(in_bits)} is printed in bits and was brought to nats, the unit of {others}"


def roles_of(columns: dict[str, RawColumn], units: dict[str, str]) -> dict[str, str]:
    """Canonical names that the alias table could not know from a name alone."""
    names = list(columns)
    roles = {n: "time/step" for n in names if STEP_RATE.match(n)}
    boosted = {n: m for n in names if (m := BOOST.match(n))}
    first_is_train = any(m[1].lower() == "validation" and m[2] == "1" for m in boosted.values())
    for name, found in boosted.items():
        side, number, metric = found[1].lower(), found[2], found[3].lower()
        if number is None and "'s_" not in name:
            continue
        train = side in ("training", "train", "learn") or (
            side == "validation" and number == "0" and first_is_train
        )
        if number in (None, "0", "1"):
            roles.setdefault(name, f"{'train' if train else 'val'}/{metric}")
    for name in names:
        of_rank = RANKED.match(name)
        if of_rank and role_of(of_rank[2]).signal:
            roles[name] = f"rank/{of_rank[1]}/{role_of(of_rank[2]).signal}"
    for train, held in (("trl", "tel"), ("tr", "vl"), ("tr", "va")):  # llm.c and the like
        if train in columns and (held in columns or train == "trl"):
            roles |= {n: c for n, c in ((train, "train/loss"), (held, "val/loss")) if n in columns}
    if [n for n in names if n not in COUNTERS] == ["value"]:
        roles["value"] = role_by_shape(
            columns["value"].values, counted=True
        )  # `76980 nan`, `epoch 0, batch 40: 4.98`: counters and a loss
    if {"learn", "test"} & set(names) and "loss" not in names:
        roles |= {n: c for n, c in (("learn", "train/loss"), ("test", "val/loss")) if n in names}
    if "loss" in columns and "train_loss" in columns and units.get("loss") == units.get("train_loss"):
        often, seldom = (
            ("loss", "train_loss")
            if len(columns["loss"].rows) > len(columns["train_loss"].rows)
            else ("train_loss", "loss")
        )
        roles |= {often: "train/loss", seldom: "train/loss_estimate"}
    return roles

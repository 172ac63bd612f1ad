"""Templates that hold the same fields, put together: one matrix of numbers for each kind of line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from traindx.readers.textlog.grammar import Field, is_loose
from traindx.readers.textlog.records import Records
from traindx.readers.textlog.tokens import in_common_unit
from traindx.readers.textlog.variants import Variant
from traindx.readers.textlog.words import evidence, role_of_key
from traindx.vocabulary import Floats, Ints

WORD = re.compile(r"[A-Za-z']+")
STATED = re.compile(r"[:=]\s*[-+]?\.?\d")
SMALL = """a an the we i
you it this that these those was were is are be been has have had will would can could of for with
without and or but not in on to from by as than then which when where while our my your their its if so use used
using run about"""
SMALL_WORDS = frozenset(SMALL.split())
LEAST_SMALL = 4
CHINESE, LEAST_CHINESE = re.compile(r"[\u4e00-\u9fff]"), 12  # characters of a sentence
PARAMETER = re.compile(r"\w\.(?:weight|kernel)$")
UNDER = 4  # lines below a heading that belong to it
MOSTLY = 0.7  # of the lines of a kind are below a heading, which then heads something else


class Shape(msgspec.Struct):
    """A kind of line. `rows[n]` line numbers, ascending; `data[n, k]`; `times[n]` or None.
    `steps[n]` is set when the step axis is known; `late`: printed before its step line; `lead`:
    the words before the first key; `sample`: the first of the lines, where they are lines;
    `rank`: the process that printed it."""

    fields: tuple[Field, ...]
    rows: Ints
    data: Floats
    side: str = ""
    times: Floats | None = None
    closing: bool = False
    late: bool = False
    steps: Floats | None = None
    lead: str = ""
    sample: str = ""
    rank: int = -1
    units: dict[str, str] = msgspec.field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def metrics(self) -> list[int]:
        """Positions of the metric fields."""
        return [i for i, f in enumerate(self.fields) if f.kind == "metric" and f.name]

    def strength(self) -> int:
        """The best evidence among its metrics that this is a record of training (see `words`)."""
        return max(
            (evidence(self.fields[i].name) for i in self.metrics() if not is_loose(self.fields[i])),
            default=0,
        )

    def subset(self, mask: Ints | np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Shape:
        """The same kind of line, of the rows chosen."""
        times = None if self.times is None else self.times[mask]
        steps = None if self.steps is None else self.steps[mask]
        return msgspec.structs.replace(
            self, rows=self.rows[mask], data=self.data[mask], times=times, steps=steps
        )


def shapes_of(variants: Iterable[Variant], records: Records) -> list[Shape]:
    """All kinds of lines that hold numbers, in the order of their first line."""
    groups: dict[tuple[object, ...], list[Variant]] = {}
    for variant in variants:
        key = (
            tuple((f.name, f.kind) for f in variant.fields),
            variant.parsed.side,
            variant.parsed.lead,
            variant.parsed.rank,
            variant.parsed.closing,
        )
        groups.setdefault(key, []).append(variant)
    found = [merge_variants(group) for group in groups.values()]
    for fields, (rows, values) in records.kinds.items():
        data = np.frombuffer(values, dtype=np.float64).reshape(len(rows), len(fields))
        found.append(Shape(fields, np.frombuffer(rows, dtype=np.int64), data, late=fields in records.late))
    return sorted(found, key=lambda s: int(s.rows[0]))


def merge_variants(variants: list[Variant]) -> Shape:
    """One shape from templates with the same fields, in common units, by line number."""
    first = variants[0]
    finished = [v.finish() for v in variants]
    units: dict[str, str] = {}
    scales = np.ones((len(variants), len(first.fields)))
    for i, f in enumerate(first.fields):
        factors, unit = in_common_unit([v.fields[i].unit for v in variants])
        scales[:, i] = [factor * v.fields[i].factor for factor, v in zip(factors, variants, strict=True)]
        if unit:
            units[f.name] = unit
    for (part, _), scale in zip(finished, scales, strict=True):
        if (scale != 1.0).any():
            part *= scale
    stamps = [t for _, t in finished if t is not None]
    times = join_arrays(stamps) if len(stamps) == len(finished) else None
    rows, data = (
        join_arrays([np.frombuffer(v.rows, dtype=np.int64) for v in variants]),
        join_arrays([part for part, _ in finished]),
    )
    shape = Shape(first.fields, rows, data, first.parsed.side, times, first.parsed.closing)
    if len(variants) > 1:
        shape = shape.subset(np.argsort(rows, kind="stable"))
    shape.units, shape.lead, shape.rank, shape.sample = (
        units,
        first.parsed.lead,
        first.parsed.rank,
        first.sample,
    )
    return divide_counts(shape)


def by_heading(shapes: Iterable[Shape], headings: Mapping[str, Sequence[int]]) -> list[Shape]:
    """The kinds of lines, those apart that are just below a heading of the held-out side (`Validation:`): they
    look like those below `Training:`. A line that counts steps is of its own record where all are so."""
    if not headings["val"]:
        return list(shapes)
    found = []
    for shape in shapes:
        above = {
            side: np.append(-UNDER - 1, rows)[np.searchsorted(rows, shape.rows)]
            for side, rows in headings.items()
        }
        held = (shape.rows - above["val"] <= UNDER) & (above["val"] > above["train"])
        counts = any(f.kind == "counter" for f in shape.fields)
        if shape.side or not shape.metrics() or not held.any() or (counts and held.mean() > MOSTLY):
            found.append(shape)
            continue
        fields = tuple(
            f._replace(name=f"val/{f.name}") if f.kind == "metric" and not role_of_key(f.name) else f
            for f in shape.fields
        )
        units = {f"val/{name}": unit for name, unit in shape.units.items()}
        found.append(
            msgspec.structs.replace(shape.subset(held), fields=fields, side="val", units=shape.units | units)
        )
        if not held.all():
            found.append(shape.subset(~held))
    return found


def of_gradients(shapes: Iterable[Shape]) -> Iterable[Shape]:
    """The kinds of lines of a log that speaks of gradients: there `fc1.weight: 0.0021`, as a loop over the parameters
    prints it, is the norm of a gradient."""
    for shape in shapes:
        (name, *more) = [f.name for f in shape.fields if f.name] or ["", ""]
        if not more and PARAMETER.search(name):
            fields = tuple(f._replace(name=f"grad_norm/{f.name}") if f.name else f for f in shape.fields)
            shape = msgspec.structs.replace(shape, fields=fields)
        yield shape


def is_prose(shape: Shape) -> bool:
    """Whether a kind of line that comes once is a sentence that mentions numbers: it has the small words of
    one, and no number follows a colon or an equals sign."""
    if len(shape) > 1 or not shape.sample:
        return False
    if len(CHINESE.findall(shape.sample)) >= LEAST_CHINESE and not STATED.search(shape.sample):
        return True
    small = sum(word.lower() in SMALL_WORDS for word in WORD.findall(shape.sample))
    return small >= LEAST_SMALL and not STATED.search(shape.sample)


def join_arrays(parts: list[Any]) -> Any:
    """Arrays end to end; a single one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def divide_counts(shape: Shape) -> Shape:
    """`Accuracy: 98/100` as 0.98: a metric with a divisor after it is the quotient."""
    for i, f in enumerate(shape.fields):
        if f.kind == "divisor":
            whole = shape.data[:, i]
            shape.data[:, i - 1] = np.divide(
                shape.data[:, i - 1], whole, out=np.full(len(whole), np.nan), where=whole != 0
            )
    return shape

"""What is known of a base program, and of an edit of one."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from benchmarks import PROGRAM_FILES

BASES, FOUND = PROGRAM_FILES / "bases", PROGRAM_FILES / "found"
NUMBER = re.compile(r"[-+]?(?:nan|inf|\d+\.?\d*(?:e[-+]?\d+)?)", re.IGNORECASE)
SEEDS = re.compile(
    r"((?:manual_seed|default_rng|RandomState|random\.seed|seed_everything|set_random_seed)\("
    r"|\bSEED = |\bseed=|\"--seed\", type=int, default=)(\d+)"
)
APART = 1000  # between the seeds of one program's runs

Severity = Literal["mild", "clear", "gross", "lookalike"]
Harm = Literal["model", "report", "time", "memory", "end"]


@dataclass(frozen=True)
class Base:
    """A program. `trivial` is what its metric says of a trivial predictor, `best` of a very good model (less than
    `trivial` where less is better). `rate`, `zero` and `step` are texts that stand in it once: the learning rate, the
    clearing of gradients, the step of the optimizer; "" where it has none that could be changed alone. `needs` are
    the packages beyond torch, numpy and scikit-learn. `pattern`: the benign shape that it shows."""

    task: str
    trivial: float
    best: float
    rate: str = ""
    zero: str = ""
    step: str = ""
    needs: tuple[str, ...] = ()
    pattern: str | None = None

    @property
    def runs_here(self) -> bool:
        return all(find_spec(name) is not None for name in self.needs)

    def skill(self, value: float) -> float:
        """0 for the trivial predictor, 1 for the best; 0 where it is not a number."""
        share = (value - self.trivial) / (self.best - self.trivial)
        return min(1.0, max(0.0, share)) if share == share else 0.0


@dataclass(frozen=True)
class Edit:
    """A change of a base: `swaps` are (text, replacement), each text standing there exactly once; `outside` are
    interventions as of `traindx run --with`. `also` are answers that are right as well, `second` the right answers
    for the other fault of a pair. A look-alike has the cause `healthy`. `dies`: it ends with an error."""

    base: str
    name: str
    cause: str
    severity: Severity
    swaps: tuple[tuple[str, str], ...] = ()
    outside: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    harm: Harm = "model"

    def applied(self, source: str) -> str:
        """The edited program; ValueError where a text does not stand there exactly once."""
        for text, replacement in self.swaps:
            if source.count(text) != 1:
                raise ValueError(
                    f"{self.base}.{self.name}: {source.count(text)} times in the program: {text!r}"
                )
            source = source.replace(text, replacement)
        return source


@dataclass(frozen=True)
class Found:
    """A faulty program after a published fault; `after` says which. It has no twin: `causes` are by description."""

    script: str
    causes: tuple[str, ...]
    split: Literal["fit", "held"]
    after: str

    @property
    def source(self) -> str:
        return (FOUND / self.script).read_text(encoding="utf-8")


def found() -> list[Found]:
    listed = json.loads((FOUND / "labels.json").read_text(encoding="utf-8"))
    return [
        Found(entry["script"], tuple(entry["causes"]), entry["split"], entry["after"]) for entry in listed
    ]


def source_of(base: str) -> str:
    return (BASES / f"{base}.py").read_text(encoding="utf-8")


def reseeded(source: str, number: int) -> str:
    """The program with all its seeds moved, for the run of that number; run 0 is the program as it stands."""
    return SEEDS.sub(lambda m: f"{m[1]}{int(m[2]) + APART * number}", source)


def split(name: str) -> Literal["fit", "held"]:
    """Where a program belongs, by its name alone."""
    return "fit" if hashlib.sha256(name.encode()).digest()[0] % 2 else "held"


def final_value(printed: str) -> float | None:
    """The last number of the last line that says "final"; None where there is no such line."""
    said = [line for line in printed.splitlines() if "final" in line.lower()]
    found = NUMBER.findall(said[-1]) if said else []
    return float(found[-1]) if found else None


def edit(base: str, name: str, cause: str, severity: Severity, *texts: str, also: tuple[str, ...] = (),
         harm: Harm = "model", second: tuple[str, ...] = ()) -> Edit:  # fmt: skip
    """An edit of a base by texts and their replacements, in turn."""
    swaps = tuple(zip(texts[::2], texts[1::2], strict=True))
    return Edit(base, name, cause, severity, swaps, also=also, second=second, harm=harm)

"""The scripts of the benchmark: each a small project, its clean twin, and what is right to say of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from benchmarks import PROGRAM_FILES
from benchmarks.gym.programs.edits import all_edits
from benchmarks.gym.programs.manifest import PROGRAMS
from benchmarks.gym.programs.program import APART, reseeded, source_of

HERE = Path(__file__).parent
LABELS: dict[str, Any] = json.loads((HERE / "labels.json").read_text(encoding="utf-8"))
PROJECTS = LABELS["projects"]
CONFIG_SEED = re.compile(r"(\bseed\"?\s*[:=]\s*)(\d+)")

Kind = Literal["faulty", "double", "healthy", "trap"]
Files = dict[str, str]


@dataclass(frozen=True)
class Case:
    """`files` is the project, `twin` the same without the fault, `script` what is run. `causes` holds, for each fault,
    the answers that are right. `trivial` and `best` are what the last number of its line "final" says of a trivial
    predictor and of a very good model."""

    name: str
    kind: Kind
    style: str
    script: str
    files: Mapping[str, str]
    twin: Mapping[str, str]
    causes: tuple[tuple[str, ...], ...]
    trivial: float
    best: float

    def skill(self, value: float | None) -> float:
        """0 for the trivial predictor, 1 for the best; 0 where there is no number."""
        if value is None or value != value:
            return 0.0
        return min(1.0, max(0.0, (value - self.trivial) / (self.best - self.trivial)))


def cases() -> Iterator[Case]:
    """All of them whose packages are installed."""
    named: list[tuple[Kind, str, list[str]]] = [
        *(("faulty", name, [name]) for name in LABELS["faulty"]),
        *(
            ("double", "+".join([pair[0], *(p.partition(".")[2] for p in pair[1:])]), pair)
            for pair in LABELS["double"]
        ),
        *(("healthy", name, [name]) for name in LABELS["healthy"]),
        *(("trap", name, [name]) for name in LABELS["trap"]),
    ]
    for kind, name, edits in named:
        base = edits[0].partition(".")[0]
        if base in PROJECTS or PROGRAMS[base].runs_here:
            yield case(kind, name, base, [edit.partition(".")[2] for edit in edits if "." in edit])


def case(kind: Kind, name: str, base: str, edits: list[str]) -> Case:
    clean, script = project(base)
    files, causes = dict(clean), []
    for edit in edits:
        swaps, right = fault(base, script, edit)
        for path, old, new in swaps:
            if files[path].count(old) != 1:
                raise ValueError(f"{name}: {files[path].count(old)} times in {path}: {old!r}")
            files[path] = files[path].replace(old, new)
        causes.append(right)
    faulty = kind in ("faulty", "double")
    trivial, best = worth(base)
    style = PROJECTS[base]["style"] if base in PROJECTS else LABELS["styles"].get(base, "another")
    return Case(
        name,
        kind,
        style,
        script,
        files,
        clean if faulty else files,
        tuple(causes) if faulty else (),
        trivial,
        best,
    )


def project(base: str) -> tuple[Files, str]:
    """The clean files of a project, and what is run."""
    if base not in PROJECTS:
        return {"train.py": source_of(base)}, "train.py"
    folder = PROGRAM_FILES / "repair" / base
    return {
        p.name: p.read_text(encoding="utf-8") for p in sorted(folder.iterdir()) if p.is_file()
    }, PROJECTS[base]["script"]


@cache
def by_name() -> dict[str, Any]:
    return {f"{edit.base}.{edit.name}": edit for edit in all_edits()}


def fault(base: str, script: str, name: str) -> tuple[list[tuple[str, str, str]], tuple[str, ...]]:
    """The swaps of an edit, as (file, text, replacement), and the causes that are right to name."""
    if base in PROJECTS:
        known = PROJECTS[base]["edits"][name]
        return [tuple(swap) for swap in known["swaps"]], (known["cause"],)
    edit = by_name()[f"{base}.{name}"]
    return [(script, old, new) for old, new in edit.swaps], (edit.cause, *edit.also)


def worth(base: str) -> tuple[float, float]:
    if base in PROJECTS:
        return PROJECTS[base]["trivial"], PROJECTS[base]["best"]
    return PROGRAMS[base].trivial, PROGRAMS[base].best


def with_seed(files: Mapping[str, str], number: int) -> Files:
    """The project with all its seeds moved, for the run of that number."""
    moved = {path: reseeded(text, number) for path, text in files.items() if path.endswith(".py")}
    rest = {
        path: CONFIG_SEED.sub(lambda m: f"{m[1]}{int(m[2]) + APART * number}", text)
        for path, text in files.items()
        if not path.endswith(".py")
    }
    return {**moved, **rest}

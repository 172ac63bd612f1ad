"""`python -m benchmarks.check.recorded FOLDER [--repair] [NAME…]`: the scripts under `traindx run`, and what the
ranking says of their records.

What the folder lacks is recorded; then all that it holds is diagnosed, by the weights of now. `--repair`: the cases of
`benchmarks.repair` whose program no weight was fitted on, too. Which causes are right to name was written down before
any run (`causes.json`); of two scripts no cause of the catalogue is right.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import PROGRAM_FILES
from benchmarks.check.__main__ import HERE, scripts
from benchmarks.gym.programs.program import split
from benchmarks.gym.scoring.diagnoses import longest
from benchmarks.gym.scoring.tables import markdown
from benchmarks.repair.cases import PROJECTS, cases
from traindx import pipeline
from traindx.errors import ReadError

CAUSES: dict[str, list[str]] = json.loads((HERE / "causes.json").read_text(encoding="utf-8"))
LIMIT = 600  # seconds for one script
SURE = 0.95


class Script(NamedTuple):
    """`faults`: for each fault, the causes that are right to name; none for a healthy script."""

    name: str
    source: str
    files: dict[str, str]
    script: str
    faults: tuple[tuple[str, ...], ...]
    healthy: bool


class Said(NamedTuple):
    """What was said of a script: the place of the first right cause (0: none), and whether each fault is among the
    first two."""

    of: Script
    health: str
    causes: tuple[tuple[str, float], ...]
    place: int
    both: bool


def own() -> Iterator[Script]:
    shared = {"sets.py": (PROGRAM_FILES / "check" / "sets.py").read_text(encoding="utf-8")}
    for name in scripts():
        text = (PROGRAM_FILES / "check" / f"{name}.py").read_text(encoding="utf-8")
        faults = (tuple(CAUSES[name]),) if name in CAUSES else ()
        yield Script(
            name, "check", {**shared, f"{name}.py": text}, f"{name}.py", faults, name.startswith("healthy_")
        )


def of_repair() -> Iterator[Script]:
    """Of projects, and of base programs in the half that decides."""
    for case in cases():
        base = case.name.partition(".")[0].partition("+")[0]
        if base in PROJECTS or split(base) == "held":
            well = case.kind in ("healthy", "trap")
            yield Script(
                case.name, "repair", dict(case.files), case.script, () if well else case.causes, well
            )


def record(script: Script, folder: Path) -> None:
    """Run it as a user would."""
    place = folder / script.name
    if (place / "status").exists():
        return
    (place / "project").mkdir(parents=True, exist_ok=True)
    for name, text in script.files.items():
        (place / "project" / name).write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "traindx.cli.main",
        "run",
        "-q",
        "-f",
        "json",
        "--out",
        str(place / "record"),
    ]
    with (
        (place / "said.json").open("w", encoding="utf-8") as said,
        (place / "stderr.log").open("w") as errors,
    ):
        done = subprocess.run(
            [*command, "--", sys.executable, script.script], cwd=place / "project", stdout=said, stderr=errors,
            timeout=LIMIT, check=False,
        )  # fmt: skip
    (place / "status").write_text(str(done.returncode), encoding="utf-8")
    print(script.name, done.returncode, file=sys.stderr, flush=True)


def diagnosed(script: Script, folder: Path) -> Said | None:
    """What is said of the record now; None where nothing was recorded."""
    try:
        said = pipeline.diagnose(longest(pipeline.read_capture(folder / script.name / "record"))).first
    except ReadError:
        return None
    names = [h.cause for h in said.hypotheses]
    right = {cause for fault in script.faults for cause in fault}
    place = next((i for i, name in enumerate(names, 1) if name in right), 0)
    both = all(set(fault) & set(names[:2]) for fault in script.faults)
    return Said(
        script, said.health, tuple((h.cause, h.probability) for h in said.hypotheses[:3]), place, both
    )


def report(found: list[Said]) -> str:
    head = (
        "scripts",
        "n",
        "healthy / watch / sick or failed",
        "right cause first",
        "in three",
        "both of two",
        "right where sure",
    )
    groups = {
        f"{source}, {kind}": [s for s in found if s.of.source == source and s.of.healthy == (kind == "healthy")]
        for source in ("check", "repair") for kind in ("faulty", "healthy")
    }  # fmt: skip
    each = [
        (s.of.name, s.health, s.place or "-", ", ".join(f"{c} {p:.2f}" for c, p in s.causes)) for s in found
    ]
    summary = markdown(head, [row(name, group) for name, group in groups.items() if group])
    return summary + "\n\n" + markdown(("script", "health", "right", "said"), each)


def row(name: str, group: list[Said]) -> tuple[object, ...]:
    called = [
        sum(s.health in words for s in group) for words in (("healthy",), ("watch",), ("sick", "failed"))
    ]
    ill, pairs = [s for s in group if any(s.of.faults)], [s for s in group if len(s.of.faults) == 2]
    sure = [s for s in group if s.causes[0][1] >= SURE and (s.of.healthy or any(s.of.faults))]
    right = sum(s.causes[0][0] == "healthy" if s.of.healthy else s.place == 1 for s in sure)
    told = (
        f"{sum(s.place == 1 for s in ill)} of {len(ill)}",
        f"{sum(0 < s.place <= 3 for s in ill)} of {len(ill)}",
    )
    first = f"healthy in {sum(s.causes[0][0] == 'healthy' for s in group)}"
    return (name, len(group), " / ".join(map(str, called)), *(told if ill else (first, "")),
            f"{sum(s.both for s in pairs)} of {len(pairs)}" if pairs else "", f"{right} of {len(sure)}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repair", action="store_true")
    options = parser.parse_args()
    chosen = [*own(), *(of_repair() if options.repair else ())]
    chosen = [s for s in chosen if not options.names or any(word in s.name for word in options.names)]
    for script in chosen:
        record(script, options.folder.resolve())
    print(report([said for s in chosen if (said := diagnosed(s, options.folder)) is not None]))


if __name__ == "__main__":
    main()

"""See the package."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import traindx
from benchmarks.kinds.cases import HEALTHY, PROGRAMS, SCRIPTS, Case
from benchmarks.kinds.faults import FAULTS

QUIET = {"OMP_NUM_THREADS": "1"}
LANGUAGE_MODEL = "sft_sorting"


def train(folder: Path, names: list[str], *, recorded: bool) -> None:
    """Every script as a user would start it, one after the other; those of preferences start from one model."""
    started = folder / "sft.pt"
    if not started.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(SCRIPTS / f"{LANGUAGE_MODEL}.py")], cwd=folder, check=True)
    for case in (*HEALTHY, *FAULTS):
        out = folder / f"{case.script}.{case.name}"
        if (out / ("run" if recorded else "printed.log")).exists() or (names and out.name not in names):
            continue
        out.mkdir(parents=True, exist_ok=True)
        script = out / f"{case.script}.py"
        script.write_text(case.text(), encoding="utf-8")
        if PROGRAMS[case.script].kind == "preference":
            shutil.copy(SCRIPTS / f"{LANGUAGE_MODEL}.py", out)
            shutil.copy(started, out)
        command = [sys.executable, script.name]
        if recorded:
            command = [sys.executable, "-m", "traindx", "run", "-q", "--out", "run", "--", *command]
        done = subprocess.run(
            command, cwd=out, env={**os.environ, **QUIET}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        (out / "printed.log").write_text(done.stdout, encoding="utf-8")
        (out / "errors.txt").write_text(done.stderr, encoding="utf-8")
        print(out.name, done.returncode, achieved(out), flush=True)


def achieved(out: Path) -> dict[str, float]:
    """What a training wrote of itself at its end; empty where it did not come so far."""
    check = out / "check.json"
    return json.loads(check.read_text(encoding="utf-8")) if check.exists() else {}


def well(case: Case, out: Path) -> bool:
    """Whether a training reached every bound of its script."""
    numbers = achieved(out)
    return all(numbers.get(name, 0.0) >= bound for name, bound in PROGRAMS[case.script].bounds.items())


def checks(folder: Path) -> None:
    """What each training achieved, and those that are not what they are meant to be."""
    for case in (*HEALTHY, *FAULTS):
        out = folder / f"{case.script}.{case.name}"
        if out.exists():
            wrong = "" if well(case, out) == (not case.causes) else "  <- not as meant"
            print(out.name, achieved(out), wrong)


def table(folder: Path, source: str) -> None:
    """Of each training: its health, the first cause and the findings; then the counts, by kind and half."""
    counts: dict[tuple[str, str], list[int]] = {}
    print("| training | half | health | first cause | findings |\n|---|---|---|---|---|")
    for case in (*HEALTHY, *FAULTS):
        out = folder / f"{case.script}.{case.name}"
        if not (out / source).exists() or well(case, out) == bool(case.causes):
            continue
        found = traindx.diagnose(traindx.read(out / source)).first
        first = found.hypotheses[0]
        slugs = [finding.slug for finding in found.findings if finding.severity not in ("info", "low")]
        ill = found.health in ("sick", "failed")
        half = "held" if case.held else "developed"
        row = counts.setdefault(
            (PROGRAMS[case.script].kind, half if case.causes else "healthy"), [0, 0, 0, 0]
        )
        named = first.cause in case.causes or bool(set(case.findings) & set(slugs[:1]))
        right = named and found.health != "healthy" if case.causes else found.health == "healthy"
        for place, seen in enumerate((True, right, found.health == "healthy", ill)):
            row[place] += seen
        mark = "" if right else "**"
        print(f"| {out.name} | {half if case.causes else 'healthy'} | {found.health} | {mark}{first.cause} "
              f"{first.probability:.2f}{mark} | {', '.join(slugs[:4])} |", flush=True)  # fmt: skip
    print("\n| kind | half | trainings | right | called healthy | called sick |\n|---|---|---|---|---|---|")
    for (kind, half), row in sorted(counts.items()):
        print(f"| {kind} | {half} |", " | ".join(map(str, row)), "|")


def main() -> None:
    parser = argparse.ArgumentParser(description="Kinds of training other than supervised learning.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, about in (
        ("train", "run every script, and keep what it prints"),
        ("record", "run every script under `traindx run`"),
        ("checks", "print what each training achieved"),
        ("table", "diagnose the trainings"),
    ):
        known = verbs.add_parser(verb, help=about)
        known.add_argument("folder", type=Path, help="where the trainings are")
        if verb in ("train", "record"):
            known.add_argument("names", nargs="*", help="of the trainings; all by default")
        elif verb == "table":
            known.add_argument(
                "source", nargs="?", choices=("run", "log"), default="run", help="what is read"
            )
    asked = parser.parse_args()
    if asked.verb == "table":
        table(asked.folder, "printed.log" if asked.source == "log" else "run")
    elif asked.verb == "checks":
        checks(asked.folder)
    else:
        train(asked.folder, asked.names, recorded=asked.verb == "record")


if __name__ == "__main__":
    main()

"""See the package."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import traindx
from benchmarks.quantized.cases import FAULTS, SCRIPTS, TWINS


def train(folder: Path, names: list[str]) -> None:
    """Every script as a user would start it, one after the other."""
    texts = {f"{name}.healthy": (SCRIPTS / f"{name}.py").read_text(encoding="utf-8") for name in TWINS}
    texts |= {f"{fault.script}.{fault.name}": fault.text() for fault in FAULTS}
    for name, text in texts.items():
        out = folder / name
        if out.exists() or (names and name not in names):
            continue
        out.mkdir(parents=True)
        script = out / f"{name.partition('.')[0]}.py"
        script.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "traindx", "run", "--out", str(out / "run"), "--format", "json"]
        told = subprocess.run(
            [*command, "--output", str(out / "diagnosis.json"), "--", sys.executable, str(script)],
            env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        (out / "printed.txt").write_text(told.stdout + told.stderr, encoding="utf-8")
        print(name, told.returncode, flush=True)


def table(folder: Path) -> None:
    """Of each script: its health, the first cause, and what was found of quantization."""
    causes = {f"{name}.healthy": ("healthy",) for name in TWINS}
    causes |= {f"{fault.script}.{fault.name}": fault.causes for fault in FAULTS}
    right = healthy = 0
    print("| script | health | first cause | findings |\n|---|---|---|---|")
    for name, wanted in causes.items():
        if not (folder / name / "run").exists():
            continue
        told = traindx.diagnose(traindx.read(folder / name / "run")).first
        first = told.hypotheses[0]
        good = first.cause in wanted
        right += good and wanted != ("healthy",)
        healthy += wanted == ("healthy",) and told.health != "sick"
        found = ", ".join(finding.slug for finding in told.findings[:5])
        print(f"| {name} | {told.health} | {'' if good else '**'}{first.cause} {first.probability:.2f}"
              f"{'' if good else '**'} | {found} |", flush=True)  # fmt: skip
    print(f"\n{right} of {len(FAULTS)} faults named first, {healthy} of {len(TWINS)} twins not called sick")


def main() -> None:
    parser = argparse.ArgumentParser(description="Quantized trainings, healthy and with faults.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    training = verbs.add_parser("train", help="run every script under `traindx run`")
    training.add_argument("folder", type=Path, help="for the recordings")
    training.add_argument("names", nargs="*", help="of the scripts; all by default")
    judging = verbs.add_parser("table", help="diagnose the recordings")
    judging.add_argument("folder", type=Path, help="of the recordings")
    asked = parser.parse_args()
    if asked.verb == "table":
        table(asked.folder)
    else:
        train(asked.folder, asked.names)


if __name__ == "__main__":
    main()

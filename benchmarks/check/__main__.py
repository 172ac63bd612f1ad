"""`python -m benchmarks.check [NAME…] [--seconds] [-o FILE]`: run the check over all scripts, print a table.

Needs an environment with torch. Each script runs in a copy of the folder; that the copy is the same
afterwards is part of what is measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks import PROGRAM_FILES

HERE = Path(__file__).parent
LABELS: dict[str, list[str]] = json.loads((HERE / "labels.json").read_text(encoding="utf-8"))
LIMIT = 600  # seconds for one script


class Scored(NamedTuple):
    """What one script came to: `failed` checks with their messages, `right` whether that is as it should be."""

    name: str
    failed: dict[str, str]
    not_run: dict[str, str]
    right: bool
    seconds: float
    cause: str
    changed: bool


def scripts() -> list[str]:
    return sorted(
        p.stem for p in (PROGRAM_FILES / "check").glob("*.py") if p.stem.startswith(("faulty_", "healthy_"))
    )


def state(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*.*")
    }


def checked(name: str, folder: Path, options: list[str]) -> Scored:
    """Run `traindx check` on one script."""
    before = state(folder)
    command = [sys.executable, "-m", "traindx.cli.main", "check", "-q", "-f", "json", *options]
    began = time.monotonic()
    done = subprocess.run(
        [*command, "--", sys.executable, f"{name}.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    seconds = time.monotonic() - began
    if done.returncode == 2:
        return Scored(
            name, {"?": done.stderr.strip()[-200:]}, {}, False, seconds, "", state(folder) != before
        )
    report = json.loads(done.stdout)
    failed = {c["slug"]: c["message"] for c in report["checks"] if c["status"] == "failed"}
    not_run = {c["slug"]: c["message"] for c in report["checks"] if c["status"] == "not-run"}
    wanted = LABELS.get(name, [])
    right = bool(set(failed) & set(wanted)) if wanted else not failed
    first = report["diagnosis"]["hypotheses"][0]
    cause = f"{first['cause']} {first['probability']:.0%}"
    return Scored(name, failed, not_run, right, seconds, cause, state(folder) != before)


def row(found: Scored) -> str:
    mark = "ok " if found.right else "NOT"
    changed = " FILES CHANGED" if found.changed else ""
    failed = ", ".join(found.failed) or "-"
    return f"{mark} {found.name:<28} {found.seconds:5.0f} s  {failed}  [{found.cause}]{changed}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("-o", "--output", type=Path)
    given, options = parser.parse_known_args()
    results = []
    with tempfile.TemporaryDirectory(prefix="check-") as temporary:
        folder = Path(temporary) / "scripts"
        shutil.copytree(PROGRAM_FILES / "check", folder, ignore=shutil.ignore_patterns("__pycache__"))
        for name in scripts():
            if not given.names or any(word in name for word in given.names):
                results.append(checked(name, folder, options))
                print(row(results[-1]), flush=True)
    for kind in ("faulty", "healthy"):
        these = [r for r in results if r.name.startswith(kind)]
        if these:
            typical = sorted(r.seconds for r in these)[len(these) // 2]
            print(f"{kind}: {sum(r.right for r in these)} of {len(these)} right, {typical:.0f} s typically")
    print(f"peak memory of a script: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MB")
    if given.output:
        given.output.write_text(json.dumps([r._asdict() for r in results], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

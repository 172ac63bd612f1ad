"""Renew the diagnosis and the picture at the top of README.md from a fresh `traindx demo`.

    python -m docs.readme

Not part of `docs.generate --check`: a training that diverges ends in other digits on another
machine. A test compares what the README shows with its own run in what must not differ.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(<!-- demo: .*? -->\n).*?(<!-- /demo -->)", re.DOTALL)
WIDTH = "96"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "traindx.cli.main", "demo", "--no-color", "--figures", folder]
        shell = {"COLUMNS": WIDTH, "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=shell)
        shutil.copyfile(Path(folder) / "overview.png", ROOT / "docs" / "images" / "demo.png")
    truth = next(line for line in done.stderr.splitlines() if line.startswith("What was wrong"))
    readme = ROOT / "README.md"
    block = f"```\n$ traindx demo\n{shown(done.stdout)}\n\n{wrapped(truth)}\n```\n"
    readme.write_text(
        BLOCK.sub(lambda m: m[1] + block + m[2], readme.read_text(encoding="utf-8")), encoding="utf-8"
    )


def shown(report: str) -> str:
    """The report's screen, without what says that there is more."""
    return report.split("\n\n More with --full")[0].rstrip()


def wrapped(line: str) -> str:
    import textwrap

    return textwrap.fill(line, int(WIDTH))


if __name__ == "__main__":
    main()

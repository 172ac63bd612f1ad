"""Lay out the public logs of the manifest: `python -m benchmarks.metamorphic.public MIRRORS OUT`.

MIRRORS holds git repositories as owner+repository (a clone, or a folder that holds one as `repo`). Each file is taken
from the commit that `manifest.json` names, into OUT/owner+repository/HASH/file. No log is part of this repository.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
from pathlib import Path

MANIFEST = Path(__file__).with_name("manifest.json")


def committed(mirrors: Path, repository: str, commit: str, path: str) -> bytes | None:
    """A file as it was committed; None where the repository or the commit is not there."""
    named = repository.replace("/", "+", 1)
    place = next((p for p in (mirrors / named / "repo", mirrors / named) if p.is_dir()), None)
    if place is None:
        return None
    shown = subprocess.run(["git", "-C", str(place), "show", f"{commit}:{path}"], capture_output=True)
    return None if shown.returncode else shown.stdout


def lay_out(mirrors: Path, out: Path) -> tuple[int, list[str]]:
    """How many files were taken, and the repositories that are not there or lack their commit."""
    taken, absent = 0, []
    for repository, entry in json.loads(MANIFEST.read_text()).items():
        for path in entry["paths"]:
            data = committed(mirrors, repository, entry["commit"], path)
            if data is None:
                absent.append(repository)
                break
            folder = out / repository.replace("/", "+", 1) / hashlib.sha256(path.encode()).hexdigest()[:8]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / Path(path).name).write_bytes(data)
            taken += 1
    return taken, absent


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    taken, absent = lay_out(asked.mirrors, asked.out)
    print(
        f"{taken} logs; {len(absent)} repositories are not there" + "".join(f"\n{name}" for name in absent)
    )
    return int(bool(absent))


if __name__ == "__main__":
    raise SystemExit(main())

"""Bring together the public logs that `collected.json` names: `python -m benchmarks.collected CLONES FOLDER`.

CLONES holds one clone of each repository, `owner+name` (a bare one, or its parent folder `owner+name/repo`). FOLDER gets
the logs and their labels in the form that `python -m benchmarks.readings FOLDER` scores; `says.json` is to be copied
there. No text of others is kept here: repository, commit, path, size, checksum and what a practitioner says of the log.
What is missing, or is another file by now, is named and left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.metamorphic.public import committed

MANIFEST = Path(__file__).with_suffix(".json")


def original(clones: Path, case: Mapping[str, Any]) -> bytes | None:
    """The file as it was committed, cut to the size that was labelled; None if it cannot be had."""
    whole = committed(clones, case["repo"], case["commit"], case["path"])
    data = (whole or b"")[: case["bytes"]]
    return data if hashlib.sha256(data).hexdigest() == case["sha256"] else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    labels, missing = [], []
    for case in json.loads(MANIFEST.read_text()):
        data = original(options.clones, case)
        if data is None:
            missing.append(f"{case['repo']}: {case['path']}")
            continue
        target = options.folder / case["label"]["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        labels.append(case["label"])
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "labels.json").write_text(json.dumps(labels, indent=1))
    print(f"{len(labels)} logs, {len(missing)} missing", *missing, sep="\n  ")


if __name__ == "__main__":
    main()

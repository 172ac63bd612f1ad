"""Where the makers put what they made: logs under tests/logs/<format>, what the tool reported
in-process (the oracle) under tests/logs/oracles/<name>.json."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

LOGS = Path(__file__).resolve().parent.parent


def fresh(name: str) -> Path:
    """An empty folder tests/logs/<name>."""
    folder = LOGS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def oracle(name: str, value: object) -> None:
    """Keep what the tool said while it ran. NaN and infinities stay as Python writes them."""
    folder = LOGS / "oracles"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(value, indent=1) + "\n")

"""The folder's diary, from which the launcher learns what happened in the script's process."""

import contextlib
import os
from json import dumps  # the function itself: a script may replace it in its module
from pathlib import Path
from typing import Any

from traindx.redaction import redact_facts


def write_stage(out: Path, stage: str, **more: Any) -> None:
    """Append one line. A full disk is reported when the record is written."""
    line = dumps({"stage": stage, "pid": os.getpid(), **redact_facts(more)}) + "\n"
    with contextlib.suppress(OSError), open(out / ".launch", "ab", buffering=0) as diary:
        diary.write(line.encode())

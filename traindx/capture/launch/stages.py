"""How far the processes of a launched command got, and why nothing was recorded."""

import contextlib
import json
import os
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from traindx.capture.framework import Framework, frameworks
from traindx.capture.launch.command import Ended
from traindx.capture.launch.folder import DIARY

DIARY_BYTES, LAST_BYTES = 1 << 20, 4 << 10
PRINTED = ("stdout.log", "stderr.log")
NO_MEMORY = b"std::bad_alloc"  # what C++ says before it ends a process
# Sent by people and batch systems that want a script to end.
ASKING = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGXCPU,
)


def stages(folder: Path) -> list[dict[str, Any]]:
    """The lines of a folder's diary: `{"stage", "pid", ...}` each, in order."""
    try:
        data = (folder / DIARY).read_bytes()[:DIARY_BYTES]
    except OSError:
        return []
    entries = []
    for line in data.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # the last line of a process that was killed
        if isinstance(entry, dict):
            entries.append(entry)
    return entries


def has_records(folder: Path) -> bool:
    """Whether any process wrote numbers."""
    return any(file.stat().st_size > 0 for file in folder.glob("steps-*.arrows"))


def steps_over(folder: Path) -> bool:
    """Whether a process has made the last step that was asked for, and is on its way out."""
    return any(entry.get("stage") in ("steps", "profiled") for entry in stages(folder))


def read_stop_reason(folder: Path) -> dict[str, Any]:
    """How `--stop-on` ended the script: `steps` and `why`; empty where it did not."""
    return next((entry for entry in stages(folder) if entry.get("stage") == "stopped-on"), {})


def experiment_stopped(folder: Path) -> str:
    """Why an intervention ended the script, or "" where none did."""
    ends = (entry for entry in stages(folder) if entry.get("stage") == "experiment")
    return next((str(entry.get("why")) for entry in ends), "")


def why_nothing(
    folder: Path, command: Sequence[str], ended: Ended, recordable: Sequence[Framework] = ()
) -> str:
    """One sentence on why a command left no record. `recordable`: frameworks that would have left one (none:
    any)."""
    entries = stages(folder)
    reached = {str(entry.get("stage")) for entry in entries}
    failed = next((entry for entry in entries if entry.get("stage") == "failed"), None)
    end = f"; {describe_end(ended)}" if ended.shell_status else ""
    if failed is not None:
        return f"capture could not be started in the script's process ({failed.get('why')}){end}"
    if not entries and folder.is_dir() and shutil.disk_usage(folder).free < DIARY_BYTES:
        return f"there is no room left on the disk of {folder}{end}"
    if not (folder / DIARY).exists():
        return f"{folder} was removed while the script ran{end}"
    if "python" not in reached and "launcher" not in reached:
        return (
            f"no Python process was seen: is {command[0]} a Python program? (options -I, -E and -S of Python "
            f"keep traindx out){end}"
        )
    known = recordable or frameworks()
    imported = [framework for framework in known if framework.imported in reached]
    if not imported:
        names = ", ".join(framework.name for framework in known)
        what = names if len(known) == 1 else f"a framework whose trainings are recorded ({names})"
        return f"the script never imported {what}{end}"
    if "forked" in reached or "second" in reached:
        return f"the training ran in a process that the script forked, next to the one that is recorded{end}"
    reasons = (why for framework in imported for stage, why in framework.untrained if stage in reached)
    names = " and ".join(framework.name for framework in imported)
    return next(reasons, f"{names} was imported, but nothing was trained by it that can be recorded") + end


def why_no_trace(entries: list[dict[str, Any]], skip: int) -> str:
    """Why a script left no trace, from its diary; "" where its steps are not the reason."""
    short = next((entry for entry in entries if entry.get("stage") == "short"), None)
    if short is None:
        return ""
    steps = int(short.get("steps", 0))
    if not steps:
        return "no optimizer of PyTorch made a step"
    return (
        f"the script ended after {steps} optimizer steps, before the first that was to be traced; try --skip 0"
        + ("" if skip else " --steps 1")
    )


def describe_end(ended: Ended) -> str:
    """The end of the script, in words."""
    if ended.signal:
        return f"the script was killed by {signal.Signals(ended.signal).name}"
    return f"the script ended with status {ended.status}"


def note_end(folder: Path, ended: Ended) -> None:
    """Add to the store what only the launcher sees: a status that is not 0, or a deadly signal."""
    if not ended.shell_status or not has_records(folder):
        return
    events = [event for file in folder.glob("events-*.jsonl") for event in file.read_bytes().splitlines()]
    if any(b'"crash"' in line or b'"stopped"' in line or b'"out-of-memory"' in line for line in events):
        return
    kind, code = ("stopped", "terminated") if ended.signal in ASKING else ("crash", "exit-status")
    message = describe_end(ended)
    if ended.signal == signal.SIGABRT and any(
        last_output(folder, name).count(NO_MEMORY) for name in PRINTED
    ):
        kind, message = "out-of-memory", f"{message}, {NO_MEMORY.decode()}"
    event = {"kind": kind, "message": message, "time": time.time(), "place": "", "code": code}
    with (
        contextlib.suppress(OSError),
        open(last_events(folder), "ab") as file,
    ):  # of a full disk the user knows
        file.write(json.dumps({**event, "step": None}).encode() + b"\n")


def last_output(folder: Path, name: str) -> bytes:
    """The end of what was printed."""
    try:
        with open(folder / name, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LAST_BYTES))
            return file.read()
    except FileNotFoundError:
        return b""


def last_events(folder: Path) -> Path:
    """The events file to add to: the one that was written last, if its last line is whole."""
    files = sorted(folder.glob("events-0-*.jsonl"), key=lambda file: file.stat().st_mtime)
    whole = files and files[-1].read_bytes().endswith(b"\n")
    return files[-1] if whole else folder / "events-0-0.jsonl"

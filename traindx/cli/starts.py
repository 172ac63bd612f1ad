"""A script that a command starts once (`run`, `memory`, `profile`): where its record goes, and the end without one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from traindx.capture.launch.command import Ended, Request, check_program, launch
from traindx.capture.launch.folder import run_folder
from traindx.capture.launch.stages import recorded
from traindx.cli.options import Output
from traindx.cli.streams import note
from traindx.errors import ConfigError

RUNS = Path("traindx-runs")


def start_options(what: str = "record") -> Callable[[Any], Any]:
    """The command to start, and `--out` for `what` is kept of it."""
    out = click.option(
        "--out", "folder_name", metavar="DIR", help=f"Keep the {what} in DIR. Default: {RUNS}/<script>-<time>."
    )
    command = click.argument("command", nargs=-1, required=True, metavar="-- COMMAND…")
    return lambda verb: command(out(verb))


class Start:
    """A start of `command`, recorded in the folder that the user named, or in one of its own under `RUNS`. Raises
    ConfigError where there is no such program."""

    def __init__(self, command: Sequence[str], folder_name: str | None) -> None:
        check_program(command[0])
        self.command = command
        self.named = bool(folder_name)
        self.folder = Path(folder_name) if folder_name else run_folder(command, RUNS)

    def launch(self, request: Request, out: Output) -> Ended:
        """Run it to its end. The script's output goes to stdout unless that is to hold a document for programs."""
        on_stdout = out.path is not None or out.format == "text"
        try:
            return launch(self.command, request, stdout=1 if on_stdout else 2)
        except ConfigError:
            self.clear()
            raise

    def nothing(self, why: str) -> int:
        """Say why there is nothing to tell; the exit status."""
        note(f"traindx: {why}")
        if not recorded(self.folder):
            self.clear()
        return 2

    def clear(self) -> None:
        """Leave no folder behind, unless it is the user's own."""
        if not self.named:
            shutil.rmtree(self.folder, ignore_errors=True)

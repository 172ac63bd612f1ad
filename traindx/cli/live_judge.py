"""`traindx run` judges the run while it goes on, in a separate process: its options, its start and its end."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
from types import TracebackType

import click
import msgspec

from traindx.capture.launch.command import Request
from traindx.capture.launch.folder import STOP_FILE
from traindx.capture.launch.output import HOME, STARTED
from traindx.cli.options import price_option, with_resolved_options
from traindx.cli.streams import note
from traindx.config import Config
from traindx.errors import ConfigError
from traindx.vocabulary import SEVERITIES, Severity

PATIENCE = 60.0  # seconds for the last look at a run, where its events are kept

LIVE_OPTIONS = (
    click.option(
        "--live/--no-live", default=None,
        help="Print findings on stderr while the script trains, and at a terminal a status line. Default: at a terminal.",
    ),
    click.option("--events", metavar="FILE", help="Append traindx.event/1 documents to FILE as JSON Lines while it trains."),
    click.option(
        "--stop-on", type=click.Choice(SEVERITIES), metavar="LEVEL",
        help="End the script cleanly when a finding of this severity or above is reported. Exit status 3.",
    ),
    price_option,
)  # fmt: skip


def has_status_line() -> bool:
    """Whether a line can be drawn below the script's output, and nothing else writes there: not the reader of a pipe."""
    piped = stat.S_ISFIFO(os.fstat(1).st_mode) or stat.S_ISSOCK(os.fstat(1).st_mode)
    return sys.stderr.isatty() and not piped and os.environ.get("TERM", "dumb") != "dumb"


class Judging:
    """The judge of one start. `begin` starts it where anybody wants to hear of it; leaving the context ends it.
    Nothing of it changes the script, its output or its exit status, unless `stop_on` asks for that."""

    def __init__(
        self, live: bool | None, events: str | None, stop_on: Severity | None, price: float | None
    ) -> None:
        self.live, self.events, self.stop_on, self.price = live, events, stop_on, price
        self.process: subprocess.Popen[bytes] | None = None
        self.opened = contextlib.ExitStack()  # descriptors
        self.lifeline = self.kept = -1

    def refuse(self, why: str) -> None:
        """Raises ConfigError where live judging was asked for. `why` there is none."""
        if self.live or self.events or self.stop_on:
            option = "--stop-on" if self.stop_on else "--events" if self.events else "--live"
            raise ConfigError(
                f"{option}: a run in a scratch copy is not judged live ({why}); add --in-place"
            )

    def begin(self, request: Request, config: Config, quiet: bool, notes: int) -> None:
        """Start it, now that the script has begun to be recorded as in `request`. `notes`: a descriptor for lines at
        the terminal."""
        live = (sys.stderr.isatty() and not quiet) if self.live is None else self.live
        if not (live or self.events or self.stop_on):
            return
        reported = max(config.severity, self.stop_on or config.severity, key=SEVERITIES.index)
        config = config.override(severity=reported)
        try:
            self.start(request, config, notes if live else -1)
        except OSError as error:  # too many processes or files: the script trains nevertheless
            note(f"traindx: the run is not judged while it goes on ({error.strerror})")

    def start(self, asked: Request, config: Config, notes: int) -> None:
        folder = asked.out.absolute()
        theirs, self.lifeline = os.pipe()
        self.opened.callback(os.close, theirs)
        self.opened.callback(os.close, self.lifeline)
        request = {
            "home": str(HOME), "module": "traindx.live.judge", "lifeline": theirs, "out": str(folder), "notes": notes,
            "status": notes >= 0 and has_status_line(), "steps": asked.steps, "events": self.kept,
            "config": msgspec.to_builtins(config), "stop_on": self.stop_on, "stop_file": str(folder / STOP_FILE),
            "price": self.price,
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", STARTED],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[number for number in (theirs, notes, self.kept) if number >= 0],
        )
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self.process.stdin as words:
            words.write(json.dumps(request).encode())

    def __enter__(self) -> Judging:
        """Open the file of events, before the script is started. Raises ConfigError where it cannot be written."""
        if self.events is not None:
            try:
                self.kept = os.open(self.events, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            except OSError as error:
                raise ConfigError(f"--events {self.events}: cannot be written: {error.strerror}") from error
            self.opened.callback(os.close, self.kept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it. Where its events are kept, it looks at the whole run first."""
        with self.opened:
            if self.process is None:
                return
            if self.events is not None and kind is None:
                with contextlib.suppress(BrokenPipeError, subprocess.TimeoutExpired):
                    os.write(self.lifeline, b".")
                    self.process.wait(PATIENCE)
            self.process.kill()
            self.process.wait()


live_options = with_resolved_options("judging", Judging, LIVE_OPTIONS)

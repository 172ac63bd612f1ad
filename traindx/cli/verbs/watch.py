"""`traindx watch`: follow runs that are still being written, and report what happens to them."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from traindx.cli.options import config_options
from traindx.cli.streams import note, stdout_colors
from traindx.config import Config
from traindx.errors import ConfigError, ReadError
from traindx.vocabulary.diagnosis import SEVERITIES

if TYPE_CHECKING:
    from traindx.live.follow import Follower
    from traindx.vocabulary.live import LiveEvent

EXAMPLES = """\b
Examples:
  traindx watch runs                                  a view of every run below the folder; q ends it
  traindx watch train.log | tee events.txt            one line for each event
  traindx watch runs --json --quiet-until high        for scripts and agents: wakes up for news only
  traindx watch runs --json --once --since CURSOR     the events after a cursor, then exit
  traindx watch train.log --once                      the state now, then exit

\b
Exit status:
  0  nothing at or above the severity asked for
  1  findings
  2  could not work: nothing to follow, or bad options
"""


@click.command(epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@config_options
@click.option(
    "--json", "as_json", is_flag=True, help="Print one traindx.event/1 document a line and nothing else."
)
@click.option("--once", is_flag=True, help="Report the state now, then exit.")
@click.option("--until-done", is_flag=True, help="Exit when every run has ended.")
@click.option(
    "--since", metavar="CURSOR", help="First print the events after this cursor of an earlier event."
)
@click.option(
    "--quiet-until",
    type=click.Choice(SEVERITIES),
    metavar="LEVEL",
    help="Print only findings of at least this severity, failures and the advice to stop.",
)
@click.option("--no-color", is_flag=True, help="No colors, as with NO_COLOR set.")
def watch(
    paths: tuple[str, ...], config: Config, as_json: bool, once: bool, until_done: bool, since: str | None,
    quiet_until: str | None, no_color: bool,
) -> int:  # fmt: skip
    """Follow training runs that are still being written.

    PATH is a log file or a folder in which runs are or will appear. A finding is reported once, when it has lasted
    long enough to be believed, and again only when it gets worse or is resolved. Nothing is changed in PATH; events
    are kept in the user's folder for program state, so that a restart repeats none.
    """
    from traindx.live.follow import Follower
    from traindx.live.journal import Journal, home

    try:
        journal = Journal(home(paths))
    except OSError as error:
        raise ConfigError(f"the journal of events cannot be written: {error}") from error
    with contextlib.closing(journal):
        earlier = journal.since(since) if since else []
        settled = once and not since
        keep = journal.show if settled else journal.add
        follower = Follower(paths, config, keep, journal.states, settled=settled)
        follower.search()
        if not follower.followed and (once or not any(path.is_dir() for path in follower.paths)):
            raise ReadError(
                paths[0], "there is nothing to follow", hint="name a log, or a folder in which runs appear"
            )
        try:
            report(
                follower, Printer(as_json, quiet_until), earlier, once, until_done, stdout_colors(no_color)
            )
        finally:  # also after Ctrl-C, the usual end of it
            journal.save(follower.unreported())
    return follower.status()


def report(
    follower: Follower, printer: Printer, earlier: list[LiveEvent], once: bool, until_done: bool, color: bool
) -> None:
    """Print what is asked for: the state now, lines as things happen, or a view at a terminal."""
    from traindx.live.follow import POLL

    printer.print(earlier)
    if once:
        printer.print(follower.poll())
        return
    if sys.stdout.isatty() and not printer.as_json:
        from traindx.live.screen import show

        show(follower, until_done=until_done, color=color)
        return
    note("Following; Ctrl-C ends it.", quiet=not sys.stderr.isatty())
    while not printer.closed:
        begun = time.monotonic()
        printer.print(follower.poll())
        if until_done and follower.done:
            return
        time.sleep(max(POLL - (time.monotonic() - begun), 0.05))


def short_name(event: LiveEvent) -> str:
    """A run as a person at the terminal knows it: its path from here, or its name."""
    try:
        return os.path.relpath(event.run) if os.path.isabs(event.run) else event.run
    except ValueError:  # on another drive
        return event.run


class Printer:
    """One line for each event on stdout. `closed`: nobody reads any more (`| head`)."""

    def __init__(self, as_json: bool, least: str | None) -> None:
        self.as_json = as_json
        self.levels = SEVERITIES[: SEVERITIES.index(least) + 1] if least else None
        self.closed = False

    def print(self, events: Iterable[LiveEvent]) -> None:
        for event in events:
            if self.wanted(event) and not self.closed:
                try:
                    print(self.line(event), flush=True)
                except BrokenPipeError:
                    self.closed = True

    def wanted(self, event: LiveEvent) -> bool:
        if self.levels is None or event.kind == "run-failed":
            return True
        if event.finding is not None:
            return event.finding.severity in self.levels
        return event.decision is not None and event.decision.action == "stop"

    def line(self, event: LiveEvent) -> str:
        if self.as_json:
            from traindx.reports.json import line

            return line(event)
        from traindx.live.screen import event_line

        return event_line(event, short_name(event))

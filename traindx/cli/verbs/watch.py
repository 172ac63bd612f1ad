"""`traindx watch`: follow runs that are still being written, and report what happens to them."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from traindx.cli.api import (
    Config,
    ConfigError,
    ReadError,
    click,
    config_options,
    note,
    price_option,
    stdout_colors,
)
from traindx.config import Alerts
from traindx.vocabulary import SEVERITIES, Severity

if TYPE_CHECKING:
    from traindx.live.episodes import State
    from traindx.live.follow import Follower, Keep
    from traindx.live.journal import Journal
    from traindx.vocabulary.live import LiveEvent

EXAMPLES = """\b
Examples:
  traindx watch runs                                  a view of every run below the folder; q ends it
  traindx watch train.log | tee events.txt            one line for each event
  traindx watch runs --json --quiet-until high        for scripts and agents: prints only what is new
  traindx watch runs --json --once --since CURSOR     the events after a cursor, then exit
  traindx watch train.log --once                      the state now, then exit
  traindx watch runs --on critical ./page-me.sh       an alert, with the events as JSON on its stdin
  traindx watch runs --notify 'ntfy://$NTFY_TOPIC'    the same by apprise: Slack, mail, Discord, Teams, ...

\b
Exit status:
  0  nothing at or above the severity asked for
  1  findings
  2  error: nothing to follow, or bad options
"""


@click.command(epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@config_options
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one traindx.event/1 JSON document per line and nothing else.",
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
@click.option(
    "--on",
    nargs=2,
    type=(click.Choice(SEVERITIES), str),
    multiple=True,
    metavar="SEVERITY COMMAND",
    help="Run COMMAND for findings of at least this severity, failures and the advice to stop: one line of JSON for"
    " each event on its stdin, no shell. Repeatable.",
)
@click.option(
    "--notify",
    multiple=True,
    metavar="URL",
    help="Send the same events to a service through Apprise. Secrets as '$VARIABLE' in the URL, or @FILE. Repeatable.",
)
@price_option
@click.option(
    "--alerts",
    "from_settings",
    is_flag=True,
    help="Send the alerts that the settings file names. Without it, settings that come with a project start no command"
    " and send nothing.",
)
@click.option("--no-color", is_flag=True, help="No colors, as with NO_COLOR set.")
def watch(
    paths: tuple[str, ...], config: Config, as_json: bool, once: bool, until_done: bool, since: str | None,
    quiet_until: Severity | None, on: tuple[tuple[Severity, str], ...], notify: tuple[str, ...], price: float | None,
    from_settings: bool, no_color: bool,
) -> int:  # fmt: skip
    """Follow training runs that are still being written.

    PATH is a log file or a folder in which runs are or will appear. A finding is reported once, when it has lasted
    long enough to be believed, and again only when it gets worse or is resolved. Nothing is changed in PATH; events
    are kept in ~/.local/state (or XDG_STATE_HOME), so that a restart repeats none of them.
    """
    from traindx.live.follow import Follower
    from traindx.live.journal import Journal, journal_folder

    try:
        journal = Journal(journal_folder(paths))
    except OSError as error:
        raise ConfigError(f"the journal of events cannot be written: {error}") from error
    alerts = chosen_alerts(config.alerts, on, notify, from_settings)
    with contextlib.closing(journal), send_events(journal, alerts) as add:
        earlier = journal.since(since) if since else []
        settled = once and not since and not (alerts.on or alerts.notify)
        keep = journal.show if settled else add
        follower = Follower(paths, config, keep, journal.states, settled=settled, price=price)
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


def chosen_alerts(
    settings: Alerts, on: tuple[tuple[Severity, str], ...], notify: tuple[str, ...], from_settings: bool
) -> Alerts:
    """The targets of the command line, and those of the settings file where that was asked for: it may have come with
    a project from elsewhere, and its commands and addresses could run or reveal anything."""
    if from_settings:
        on, notify = (*settings.on, *on), (*settings.notify, *notify)
    elif settings.on or settings.notify:
        note("The settings file names alerts. They are sent with --alerts only.")
    return msgspec.structs.replace(settings, on=on, notify=notify)


@contextlib.contextmanager
def send_events(journal: Journal, alerts: Alerts) -> Iterator[Keep]:
    """Keeps each event in the journal, and sends what is to be sent. Raises ConfigError for targets that cannot work."""
    if not (alerts.on or alerts.notify):
        yield journal.add
        return
    from traindx.live.alerts.delivery import Courier
    from traindx.live.alerts.targets import targets

    view = sys.stdout.isatty()  # which a line on stderr would tear
    complaints: list[str] = []
    complain = complaints.append if view else note
    courier = Courier(journal.folder, journal.events, targets(alerts), alerts, complain)

    def add(event: LiveEvent, key: str, state: State) -> LiveEvent:
        kept = journal.add(event, key, state)
        courier.news.set()
        return kept

    try:
        yield add
    finally:
        courier.close()
        for complaint in dict.fromkeys(complaints):
            note(complaint)


def report(
    follower: Follower, printer: Printer, earlier: list[LiveEvent], once: bool, until_done: bool, color: bool
) -> None:
    """Print what is asked for: the state now, lines as things happen, or a view at a terminal."""
    from traindx.live.follow import POLL

    printer.print(earlier)
    if once:
        seen = follower.poll()
        printer.print(event for event in seen if printer.as_json or event.kind != "run-started")
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
    from traindx.live.screen import known_as

    path = known_as(event.run, event.source)
    try:
        return os.path.relpath(path) if os.path.isabs(path) else path
    except ValueError:  # on another drive
        return event.run


class Printer:
    """One line for each event on stdout. `closed`: nobody reads any more (`| head`)."""

    def __init__(self, as_json: bool, least: Severity | None) -> None:
        self.as_json, self.least = as_json, least
        self.closed = False

    def print(self, events: Iterable[LiveEvent]) -> None:
        for event in events:
            if (self.least is None or event.reaches(self.least)) and not self.closed:
                try:
                    print(self.line(event), flush=True)
                except BrokenPipeError:
                    self.closed = True

    def line(self, event: LiveEvent) -> str:
        if self.as_json:
            from traindx.reports.json import line

            return line(event)
        from traindx.live.screen import event_line

        return event_line(event, short_name(event))

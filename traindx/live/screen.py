"""The terminal view of `traindx watch`: one row a run, the latest events, and a page for the run that is selected."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import textwrap
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from traindx import pipeline
from traindx.features.shared import Features
from traindx.live.episodes import is_over
from traindx.live.follow import POLL, Followed, Follower
from traindx.live.waiting import outlook, pace_of, steps_left
from traindx.reports.labels import axis, duration, number, step, visible
from traindx.vocabulary import SEVERITIES, Floats, Run, RunDiagnosis
from traindx.vocabulary.live import LiveEvent

if TYPE_CHECKING:
    from rich.console import RenderableType

BARS = "▁▂▃▄▅▆▇█"
TREND_CELLS = 12
SENTENCE_LINES = 3  # that a sentence below the table may take
RECENT = 200  # events that are kept for the lower half
COLORS = {"healthy": "green", "watch": "yellow", "sick": "red", "failed": "bold red"}
KEYS = {"\x1b[A": "up", "\x1b[B": "down", "k": "up", "j": "down", "\r": "open", "\n": "open", "\x1b": "back",
        "\x7f": "back", "q": "quit", "e": "explain", "\x03": "quit", "\x1b[5~": "page-up", "\x1b[6~": "page-down",
        " ": "page-down", "b": "page-up"}  # fmt: skip
HELP = {"": "q quit · ↑↓ select · enter whole page · e explain", "page": "q quit · esc back · ↑↓ scroll"}


def show(follower: Follower, *, until_done: bool = False, color: bool = True) -> None:
    """Follow until `q`, Ctrl-C, or with `until_done` until every run has ended."""
    from rich.console import Console
    from rich.live import Live

    console = Console(no_color=not color, highlight=False)
    view = View(follower)
    live = Live(console=console, screen=True, auto_refresh=False, vertical_overflow="crop")
    with contextlib.suppress(KeyboardInterrupt), single_keys() as keys, live:
        due = 0.0
        while not (view.quit or (until_done and follower.done)):
            if time.monotonic() >= due:
                view.events.extend(follower.poll())
                due = time.monotonic() + POLL
            live.update(view.draw(console.size.width, console.size.height), refresh=True)
            view.press(keys(max(due - time.monotonic(), 0.05)))


@contextlib.contextmanager
def single_keys() -> Iterator[Callable[[float], str]]:
    """A function that waits so many seconds for a key and returns it; "" for none."""
    import termios
    import tty

    if not sys.stdin.isatty():
        yield wait_without_keys
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def key(seconds: float) -> str:
        ready, _, _ = select.select([descriptor], [], [], seconds)
        return os.read(descriptor, 16).decode("utf-8", "replace") if ready else ""

    try:
        tty.setcbreak(descriptor)
        yield key
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def wait_without_keys(seconds: float) -> str:
    time.sleep(seconds)
    return ""


class Row(NamedTuple):
    """One run of the view. `pace` in steps a second, None where unknown."""

    run: Run
    diagnosis: RunDiagnosis
    pace: float | None
    followed: Followed


class View:
    """What is shown, and what a key does to it."""

    def __init__(self, follower: Follower) -> None:
        self.follower = follower
        self.events: deque[LiveEvent] = deque(maxlen=RECENT)
        self.selected, self.scroll = 0, 0
        self.page: list[str] | None = None
        self.quit = False

    def rows(self) -> list[Row]:
        """The runs, the worst first."""
        rows = [
            Row(run, diagnosis, one.pace(run), one)
            for one in self.follower.followed.values()
            for run, diagnosis in zip(one.runs, one.diagnoses, strict=True)
        ]
        order = ("failed", "sick", "watch", "healthy")
        return sorted(rows, key=lambda row: (order.index(row.diagnosis.health), row.run.source, row.run.id))

    def press(self, key: str) -> None:
        action, rows = KEYS.get(key, ""), self.rows()
        if action == "quit":
            self.quit = True
        elif action == "back":
            self.page = None
        elif self.page is not None:
            move = {"up": -1, "down": 1, "page-up": -20, "page-down": 20}.get(action, 0)
            self.scroll = min(max(self.scroll + move, 0), max(len(self.page) - 1, 0))
        elif action in ("up", "down"):
            self.selected = min(
                max(self.selected + (1 if action == "down" else -1), 0), max(len(rows) - 1, 0)
            )
        elif rows and action in ("open", "explain"):
            row = rows[min(self.selected, len(rows) - 1)]
            self.scroll, self.page = (
                0,
                whole_page(row.run) if action == "open" else explanation_pages(row.diagnosis),
            )

    def draw(self, width: int, height: int) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        footer = Text(HELP["page" if self.page is not None else ""][: width - 1], style="dim")
        if self.page is not None:
            lines = self.page[self.scroll : self.scroll + height - 2]
            return Group(*(Text.from_ansi(line, no_wrap=True) for line in lines), footer)
        rows = self.rows()
        if not rows:
            return Group(Text("Waiting for the first run.", style="dim"), footer)
        self.selected = min(self.selected, len(rows) - 1)
        lines = self.advice(rows[self.selected], width - 1)
        room = max(height - 5 - len(lines), 3)
        shown = min(len(rows), max(room - min(len(self.events), room // 2), 1))
        first = max(self.selected - shown + 1, 0)
        names = short_names([known_as(row.run.id, row.run.source) for row in rows])
        parts: list[RenderableType] = [
            self.table(rows[first : first + shown], names, first, width),
            Text(""),
        ]
        parts += [Text(line, no_wrap=True) for line in lines]
        parts.append(Text(""))
        for event in list(self.events)[-(room - shown) :] if room > shown else []:
            line = event_line(event, names.get(known_as(event.run, event.source), event.run))
            parts.append(Text(line, style=style_of(event), no_wrap=True, overflow="ellipsis"))
        return Group(*parts, footer)

    def advice(self, row: Row, width: int) -> list[str]:
        """What is wrong with a run, what to do, what waiting costs, and how far it is, in lines of `width` characters."""
        run, diagnosis, pace, followed = row
        primary = next((f for f in diagnosis.findings if SEVERITIES.index(f.severity) <= 2), None)
        decision = diagnosis.decision
        ahead = () if is_over(diagnosis) else self.follower.outlook(followed, run, diagnosis)
        sentences = [
            primary.message if primary else f"Nothing found at step {step(run.last_step)}.",
            f"{decision.action.capitalize()}: {decision.reason}",
            " ".join(outlook(*ahead, decision, axis(diagnosis.run))) if ahead else "",
            progress(run, pace),
        ]
        return [
            line
            for one in sentences
            for line in textwrap.wrap(visible(one), width, max_lines=SENTENCE_LINES)
        ]

    def table(self, rows: list[Row], names: dict[str, str], first: int, width: int) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        name = max(min(width - 62, max(len(n) for n in names.values())), 8)
        columns = (
            ("", 1),
            ("run", name),
            ("health", 7),
            ("step", 9),
            ("loss", 9),
            ("trend", TREND_CELLS),
            ("left", 8),
        )
        for title, size in columns:
            table.add_column(title, width=size, no_wrap=True, overflow="ellipsis")
        for place, (run, diagnosis, pace, _) in enumerate(rows, first):
            curve, title = Features(run).objective, names[known_as(run.id, run.source)]
            table.add_row(
                ">" if place == self.selected else "",
                Text(visible(title), style="bold" if place == self.selected else ""),
                Text(diagnosis.health, style=COLORS[diagnosis.health]),
                step(run.last_step),
                number(float(curve.raw.values[-1])) if curve is not None else "",
                sparkline(curve.values) if curve is not None else "",
                time_left(run, pace),
            )
        return table


def known_as(run: str, source: str) -> str:
    """A run by its path, where its name is only the end of that: several folders may have a run of this name."""
    return os.path.abspath(source) if os.path.basename(source) == run else run


def short_names(ids: list[str]) -> dict[str, str]:
    """Runs without the folders that all of them share."""
    shared = os.path.commonpath(ids) if len(ids) > 1 and all(map(os.path.isabs, ids)) else ""
    return {i: os.path.relpath(i, shared) if shared else os.path.basename(i) or i for i in ids}


def progress(run: Run, pace: float | None) -> str:
    """How far a run is: "Step 630 of 1,800, 9.8 steps a second."."""
    planned = run.setup.number("planned_steps")
    place = f"Step {step(run.last_step)}" + (f" of {step(planned)}" if planned else "")
    return f"{place}, {number(float(f'{pace:.2g}'))} steps a second." if pace else f"{place}."


def whole_page(run: Run) -> list[str]:
    return pipeline.diagnose(run).to_text(full=True, width=78).splitlines()


def explanation_pages(diagnosis: RunDiagnosis) -> list[str]:
    """The pages of the primary finding and of the first cause."""
    from traindx import causes, rules

    slugs = [f.slug for f in diagnosis.findings[:1]]
    pages = [
        f"{rule.code} {rule.slug}\n\n{rule.page}" for rule in rules.list_entries() if rule.slug in slugs
    ]
    known = {cause.slug: cause.page for cause in causes.catalogue()}
    first = diagnosis.hypotheses[0] if diagnosis.hypotheses else None
    pages += [f"{first.title}\n\n{known[first.cause]}"] if first and first.cause in known else []
    return "\n\n".join(pages or ["Nothing to explain: no finding."]).splitlines()


def sparkline(values: Floats, cells: int = TREND_CELLS) -> str:
    """The finite `values[n]` as bars: the mean of each of `cells` equal parts, between their least and most."""
    if len(values) == 0:
        return ""
    parts = np.array([part.mean() for part in np.array_split(values, min(cells, len(values)))])
    low, high = float(parts.min()), float(parts.max())
    level = (parts - low) / (high - low) if high > low else np.zeros(len(parts))
    return "".join(BARS[int(x)] for x in np.round(level * (len(BARS) - 1)))


def time_left(run: Run, pace: float | None) -> str:
    """How long the rest of the planned steps takes, by the logged times, or else at `pace` steps a second; "" where
    that is unknown."""
    pace, left = pace_of(run, pace), steps_left(run)
    return duration(left / pace / 60) if left and pace else ""


def event_line(event: LiveEvent, name: str) -> str:
    """An event as one line, under the name by which a person knows the run."""
    at = "" if event.step is None else f" step {step(event.step)}"
    label = f"{event.finding.severity.upper()}: " if event.finding and event.kind != "resolved" else ""
    return visible(f"{event.at[11:19]}  {name}{at}: {label}{event.text}")


def style_of(event: LiveEvent) -> str:
    if event.kind in ("resolved", "run-ended", "run-started"):
        return "dim" if event.kind == "run-started" else "green"
    severe = event.finding is not None and event.finding.severity in ("critical", "high")
    return "red" if severe or event.kind == "run-failed" else "yellow"

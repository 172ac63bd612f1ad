"""What `traindx fix` and `traindx investigate` share: options, the plan with its price, progress lines."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from traindx.atomic_write import name_folder_in_errors
from traindx.cli.options import FENCE_OPTIONS, state_limits, with_resolved_options
from traindx.cli.streams import note
from traindx.errors import ConfigError
from traindx.reports.labels import percent

if TYPE_CHECKING:
    from traindx.lab.conduct.experiment import Reach
    from traindx.lab.conduct.journal import Journal
    from traindx.lab.plan import Candidate
    from traindx.lab.repair.bench import Bench, Start
    from traindx.lab.repair.search import Search
    from traindx.vocabulary import Hypothesis

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
JOBS = 2


class Starts(msgspec.Struct, frozen=True):
    """How the script is started. `budget` in seconds, `folder` for everything that is written (None: a new one)."""

    steps: int | None
    budget: float
    jobs: int
    folder: str | None
    reach: Reach
    executor: str = "local"
    address: str | None = None

    @contextmanager
    def bench(self, command: tuple[str, ...], journal: Journal, lines: ProgressLines) -> Iterator[Bench]:
        """Where the arms are run."""
        from traindx.lab.repair.bench import Bench

        lines.budget = self.budget
        state_limits(self.reach.get("network", False), lines.quiet)
        with name_folder_in_errors(journal.path.parent), self.starter(command) as (start, how):
            yield Bench(
                command,
                start,
                journal,
                budget=self.budget,
                jobs=self.jobs,
                reach=self.reach,
                notify=lines.at,
                how=how,
            )

    @contextmanager
    def starter(self, command: tuple[str, ...]) -> Iterator[tuple[Start, Callable[[], str]]]:
        """The function that starts the script, and one that describes how it did."""
        from traindx.lab.conduct import attempts
        from traindx.lab.conduct.cluster import Cluster
        from traindx.lab.conduct.parallel import threads_each

        if self.executor == "ray":
            cluster = Cluster(attempts.attempt, Path.cwd(), self.address)
            try:
                yield cluster, lambda: "the trials were run by Ray"
            finally:
                cluster.close()
            return
        starter = attempts.Starter(command, Path.cwd(), threads_each(self.jobs) if self.jobs > 1 else None)
        try:
            yield starter, starter.note
        finally:
            starter.warm.close()


def start_options(budget: str) -> tuple[Callable[..., Any], ...]:
    """The options; `budget` is the default of --budget."""
    return (
        click.option(
            "--steps", type=click.IntRange(min=1), metavar="N",
            help="Optimizer steps of every start. Default: all of a short script, at least a third of a long one.",
        ),
        click.option("--budget", default=budget, show_default=True, metavar="TIME", help="Total time: 90s, 5m, 1h."),
        click.option(
            "--jobs", type=click.IntRange(min=1), default=JOBS, show_default=True, metavar="N",
            help="Parallel starts, at most one per core.",
        ),
        click.option(
            "--out", "folder", metavar="DIR", help="Write everything to DIR, or continue the search in DIR. "
            "Default: a new folder in traindx-fix/ or traindx-investigate/.",
        ),
        *FENCE_OPTIONS,
        click.option(
            "--executor", type=click.Choice(["local", "ray"]), default="local", show_default=True,
            help="Where the script is started: by this process, or as Ray tasks (the extra `ray`).",
        ),
        click.option(
            "--ray-address", metavar="ADDRESS", help="An existing Ray cluster. Default: start one here."
        ),
    )  # fmt: skip


def proof_options(budget: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The options of a verb that starts the script many times; it receives them as `starts: Starts`."""
    return with_resolved_options("starts", resolve_starts, start_options(budget))


def resolve_starts(
    steps: int | None,
    budget: str,
    jobs: int,
    folder: str | None,
    writable: tuple[str, ...],
    network: bool,
    executor: str,
    ray_address: str | None,
) -> Starts:
    """How the script is started, as it was asked for. Raises ConfigError."""
    reach: Reach = {"writable": writable, "network": network}
    return Starts(steps, seconds_of(budget), jobs, folder, reach, executor, ray_address)


def seconds_of(text: str) -> float:
    """ "5m" in seconds. Raises ConfigError."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", text)
    unit = UNITS.get(found[2]) if found else None
    if found is None or unit is None or float(found[1]) <= 0:
        raise ConfigError(f"--budget {text}: needs a time such as 90s, 5m or 1h")
    return float(found[1]) * unit


def direction(text: str) -> tuple[str, str]:
    """ "val/f1:max" as the signal and its direction. Raises ConfigError."""
    name, _, way = text.rpartition(":")
    words = {"max": "higher", "min": "lower"}
    if not name or way not in words:
        raise ConfigError(f"--metric {text}: needs a name and a direction, such as val/f1:max")
    return name, words[way]


class ProgressLines:
    """Progress on stderr while trials run. On a terminal a status line shows the current trial, the time used and left
    of `budget` (seconds; None: unknown), and the leading cause."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.budget: float | None = None
        self.belief = ""
        self.begun = time.monotonic()
        self.status: Any = None
        self.lock = threading.Lock()

    def __enter__(self) -> ProgressLines:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console

            self.status = Console(stderr=True).status("starting")
            self.status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.status is not None:
            self.status.stop()

    @contextmanager
    def pause_status(self) -> Iterator[None]:
        """Without the moving status line, while a question is asked."""
        if self.status is not None:
            self.status.stop()
        try:
            yield
        finally:
            if self.status is not None:
                self.status.start()

    def at(self, what: str) -> None:
        """A trial that begins."""
        from traindx.cli.streams import markup_free

        with self.lock:
            passed = time.monotonic() - self.begun
            if self.status is not None:
                left = "" if self.budget is None else f", {max(self.budget - passed, 0):.0f} s left"
                self.status.update(
                    f"{markup_free(what)}  ({passed:.0f} s so far{left}){markup_free(self.belief)}"
                )
            else:
                note(f"  {passed:5.0f} s  {what}", self.quiet)

    def show_belief(self, hypotheses: Sequence[Hypothesis]) -> None:
        """The leading cause so far."""
        first = max(hypotheses, key=lambda one: one.probability, default=None)
        with self.lock:
            self.belief = "" if first is None else f"  {first.title} {percent(first.probability)}"

    def say(self, line: str) -> None:
        """An outcome."""
        note(f"  {line}", self.quiet)

    def plan(self, search: Search, plan: Sequence[Candidate]) -> None:
        """The plan and its price, before the trials start."""
        from traindx.lab.repair.stopping import price

        first = search.hypotheses[0]
        note(f"{first.title} ({percent(first.probability)}). The plan, most promising first:", self.quiet)
        for number, one in enumerate(plan, 1):
            note(f"  {number}. {one.fix}: {' '.join(one.interventions)}  (for {one.cause})", self.quiet)
        if not plan:
            note("  no fix can be tried without editing the script", self.quiet)
            return
        each, starts = price(search)
        note(
            f"  one proof: {starts} starts of about {each:.0f} s, {search.bench.jobs} at a time", self.quiet
        )

"""`traindx fix --ask`: show the suspected causes, ask for known facts, and ask before each change."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

from traindx.cli.questions.facts import ask_for_facts
from traindx.errors import ConfigError
from traindx.reports.labels import percent

if TYPE_CHECKING:
    from traindx.cli.fix_progress import ProgressLines
    from traindx.lab.plan import Candidate
    from traindx.lab.repair.search import Search

SHOWN = 5  # causes
LEAST = 0.02  # probability of a cause that is shown
NOBODY = "--ask: stdin is closed, so nobody can answer (run it at a terminal, or without --ask)"


def is_null_device(stream: TextIO) -> bool:
    """Whether a stream is the null device, as one that was closed is led there."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), os.stat(os.devnull))
    except OSError:  # not a file at all
        return False


class Asking:
    """Questions at the terminal about one search. Answers steer the search and never a verdict."""

    def __init__(self, lines: ProgressLines) -> None:
        """Raises ConfigError, before any work is done, where there is no stdin, or it leads to nowhere."""
        if sys.stdin is None or sys.stdin.closed or is_null_device(sys.stdin):
            raise ConfigError(NOBODY)
        self.lines = lines
        self.search: Search | None = None

    def begin(self, search: Search) -> None:
        """Show the suspected causes, ask for symptoms and facts, and which causes can be ruled out."""
        self.search = search
        self.show(search)
        with self.require_terminal():
            facts = {} if search.first.run is None else ask_for_facts([search.first.run])
        if facts:
            search.learn(facts)
            self.show(search)
        given = self.ask("Which of these can you rule out? (numbers, or Enter for none)")
        numbers = {int(word) for word in given.replace(",", " ").split() if word.isdecimal()}
        search.rule_out([one.cause for number, one in enumerate(self.causes, 1) if number in numbers])

    def show(self, search: Search) -> None:
        """The suspected causes, with the evidence for them."""
        self.causes = [h for h in search.hypotheses if h.probability >= LEAST and h.cause != "healthy"][
            :SHOWN
        ]
        click.echo("Candidate causes:", err=True)
        for number, one in enumerate(self.causes, 1):
            why = ", ".join(term.finding for term in one.for_[:3])
            click.echo(
                f"  {number}. {one.title} ({percent(one.probability)}){f': {why}' if why else ''}", err=True
            )

    def agree(self, candidate: Candidate) -> bool:
        """Ask whether to try a change; the question states its price."""
        from traindx.lab.repair.stopping import price

        assert self.search is not None
        each, starts = price(self.search)
        seconds = each * (starts + sum(map(len, candidate.doses[:1]))) / max(self.search.bench.jobs, 1)
        what = f"{candidate.fix} ({' '.join(candidate.interventions)})"
        answer = self.ask(f"Apply {what} for {candidate.cause} and test this? (about {seconds:.0f} s) [Y/n]")
        return not answer.lower().startswith("n")

    def ask(self, question: str) -> str:
        """A line of the user's."""
        with self.require_terminal():
            answer: str = click.prompt(question, default="", show_default=False, prompt_suffix=" ", err=True)
        return answer.strip()

    @contextmanager
    def require_terminal(self) -> Iterator[None]:
        """While questions are asked. Raises ConfigError where stdin has come to its end: nobody answers."""
        with self.lines.pause_status():
            try:
                yield
            except click.Abort as error:  # in which click hides both Ctrl-C and the end of stdin
                if isinstance(error.__context__, EOFError):
                    raise ConfigError(f"{NOBODY}; what was finished is kept") from error
                raise

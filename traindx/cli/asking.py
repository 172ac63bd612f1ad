"""`traindx fix --ask`: what is suspected is shown, known facts are asked for, and each change is agreed to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traindx.reports.labels import percent

if TYPE_CHECKING:
    from traindx.cli.proofs import Told
    from traindx.repair.search import Search
    from traindx.trials.plan import Candidate

SHOWN = 5  # causes
LEAST = 0.02  # probability of a cause that is shown


class Asking:
    """Questions on the terminal, about one search; none of them takes an answer that changes a verdict."""

    def __init__(self, told: Told) -> None:
        self.told = told
        self.search: Search | None = None

    def begin(self, search: Search) -> None:
        """Show what is suspected, and ask which of it is known to be wrong."""
        self.search = search
        causes = [h for h in search.hypotheses if h.probability >= LEAST and h.cause != "healthy"][:SHOWN]
        click.echo("What may be behind it:", err=True)
        for number, one in enumerate(causes, 1):
            why = ", ".join(term.finding for term in one.for_[:3])
            click.echo(f"  {number}. {one.title} ({percent(one.probability)}){f': {why}' if why else ''}", err=True)
        given = self.ask("Which do you know to be wrong? (numbers, nothing for none)")
        numbers = {int(word) for word in given.replace(",", " ").split() if word.isdecimal()}
        search.rule_out([one.cause for number, one in enumerate(causes, 1) if number in numbers])

    def agree(self, candidate: Candidate) -> bool:
        """Whether a change is to be tried, with what that takes."""
        from traindx.cli.proofs import price

        assert self.search is not None
        each, starts = price(self.search)
        seconds = each * (starts + sum(map(len, candidate.doses[:1]))) / max(self.search.bench.jobs, 1)
        what = f"{candidate.fix} ({' '.join(candidate.interventions)})"
        answer = self.ask(f"Apply {what} for {candidate.cause} and test this? (about {seconds:.0f} s) [Y/n]")
        return not answer.lower().startswith("n")

    def ask(self, question: str) -> str:
        """A line of the user's; "" where there is none."""
        with self.told.quietly():
            answer: str = click.prompt(question, default="", show_default=False, prompt_suffix=" ", err=True)
        return answer.strip()

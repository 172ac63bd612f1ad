"""`--ask`: questions at the terminal for facts that a log lacks."""

import sys
from collections.abc import Mapping, Sequence

import click

from traindx.config import checked_facts
from traindx.errors import ConfigError
from traindx.vocabulary import Fact, Run

QUESTIONS = {
    "optimizer": "Optimizer (sgd, adam, adamw ...)",
    "lr": "Learning rate (the peak, if there is a schedule)",
    "batch_size": "Batch size (samples per optimizer step)",
    "dataset_size": "Training samples",
    "parameters": "Parameters of the model",
    "classes": "Number of classes (for a classifier)",
    "planned_steps": "Planned total steps",
}

# What people see, as the slugs by which the causes know it.
SYMPTOMS = (
    ("loss-plateaus", "loss does not decrease, or has stopped decreasing"),
    ("loss-falls-slowly", "loss decreases very slowly"),
    ("loss-oscillates", "loss oscillates or is unstable"),
    ("loss-not-finite", "loss went to NaN or infinity"),
    ("gradient-norm-explodes", "gradients are very large"),
    ("gradient-norm-vanishes", "gradients are nearly zero"),
    ("validation-gap-grows", "good on training data, bad on validation data"),
    ("step-time-creeps", "training is very slow"),
    ("other", "something else"),
)


def require_terminal(paths: Sequence[str]) -> None:
    """Raises ConfigError, before any work is done, where nobody can answer."""
    if "-" in paths:
        raise ConfigError(
            "--ask cannot be used with '-': stdin holds the log (give facts with --fact key=value)"
        )
    if not sys.stdin.isatty():
        raise ConfigError("--ask needs a terminal to ask at (give facts with --fact key=value)")


def ask_for_facts(runs: Sequence[Run]) -> dict[str, Fact]:
    """Ask for facts that no run has; an empty answer leaves a fact unknown. Questions go to stderr."""
    click.echo("A few questions; Enter skips one.", err=True)
    answers: dict[str, Fact] = {}
    for name, question in QUESTIONS.items():
        if all(getattr(run.setup, name) is None for run in runs):
            answers |= ask(name, question)
    return answers | ask_for_symptoms()


def ask(name: str, question: str) -> Mapping[str, Fact]:
    """One question, repeated until the answer makes sense or is empty."""
    while True:
        answer = line(question)
        if not answer:
            return {}
        try:
            return checked_facts({name: answer}, "answer")
        except ConfigError as error:
            click.echo(f"  {error}", err=True)


def ask_for_symptoms() -> dict[str, Fact]:
    """The symptoms chosen, as `{"symptoms": "slug,slug"}`; empty when none is named."""
    click.echo("What do you see?", err=True)
    for number, (_, words) in enumerate(SYMPTOMS, start=1):
        click.echo(f"  {number}. {words}", err=True)
    while True:
        chosen = [word for word in line("Numbers, such as 1,3").replace(",", " ").split() if word]
        if all(word.isdecimal() and 1 <= int(word) <= len(SYMPTOMS) for word in chosen):
            slugs = dict.fromkeys(SYMPTOMS[int(word) - 1][0] for word in chosen)
            return {"symptoms": ",".join(slugs)} if slugs else {}
        click.echo(f"  numbers from 1 to {len(SYMPTOMS)}, please", err=True)


def line(question: str) -> str:
    answer: str = click.prompt(question, default="", show_default=False, err=True)
    return answer.strip()

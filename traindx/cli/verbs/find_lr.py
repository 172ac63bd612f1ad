"""`traindx find-lr`: a learning-rate range test on an unmodified script."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from traindx.cli.api import (
    FENCE_OPTIONS,
    OUTPUT_OPTIONS,
    ConfigError,
    Format,
    Output,
    click,
    command_argument,
    emit,
    note,
    settle_output,
    state_limits,
    stdout_width,
    with_options,
)

FORMATS: tuple[Format, ...] = ("text", "json", "markdown")

EXAMPLES = """\b
Examples:
  traindx find-lr -- python train.py
  traindx find-lr --sensitivity --figures pictures -- python train.py --batch-size 64
  traindx find-lr --low 1e-6 --high 1 --steps 400 --seeds 0,1,2 -- python -m project.train
  traindx find-lr -f json -o rate.json -- python train.py

\b
The script is started once for each seed, in a scratch copy of its folder, and is ended when the
highest rate is reached or the loss explodes. Your files, weights and random numbers are not
touched, and its output is not shown. docs/find-lr.md says what is copied.

\b
Exit status:
  0  there is a suggestion
  1  there is none: the sweeps show nothing, and the reason is printed
  2  could not work: no such program, nothing recorded, or too few steps
"""

OPTIONS = (
    click.option(
        "--format", "-f", "form", type=click.Choice(FORMATS),
        help="Format of the report. Default: by the suffix of --output, else text.",
    ),
    *OUTPUT_OPTIONS[1:],
    click.option("--figures", metavar="DIR", help="Also draw learning_rate.png into DIR."),
    *FENCE_OPTIONS,
)  # fmt: skip


def report_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give the verb its output options; it receives them settled, as `out` and `figures`."""

    @functools.wraps(command)
    def settled(*, form: Format | None, output: str | None, quiet: bool, no_color: bool, **rest: Any) -> int:
        out = settle_output(form, output, quiet, no_color)
        if out.format not in FORMATS:
            raise ConfigError(f"--output {output}: this report has no HTML format (use .md, .json or .txt)")
        return command(out=out, **rest)

    return with_options(settled, OPTIONS)


@click.command("find-lr", epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@command_argument()
@click.option(
    "--low", type=float, default=1e-7, show_default=True, help="The rate that the sweep begins with."
)
@click.option("--high", type=float, default=10.0, show_default=True, help="The rate that it ends with.")
@click.option(
    "--steps", type=click.IntRange(min=40), default=200, show_default=True, help="Steps of each sweep."
)
@click.option(
    "--seeds", default="0,1", show_default=True, metavar="N,N…", help="One sweep for each of these seeds."
)
@click.option(
    "--sensitivity", is_flag=True, help="Also train at seven constant rates around the suggestion."
)
@click.option(
    "--seconds", type=click.FloatRange(min=1), default=600.0, show_default=True, metavar="S",
    help="Time limit of each start of the script.",
)  # fmt: skip
@report_options
def find_lr(
    command: tuple[str, ...],
    out: Output,
    low: float,
    high: float,
    steps: int,
    seeds: str,
    sensitivity: bool,
    seconds: float,
    writable: tuple[str, ...],
    network: bool,
    figures: str | None,
) -> int:
    """Find a learning rate for an unmodified script by a sweep.

    The rate rises exponentially, step by step. The suggestion is the rate at which the loss
    falls fastest against log(rate), kept well below the rate at which it stops falling.
    """
    from traindx.lab.find_lr import Plan, find_rate
    from traindx.reports.documents import rates

    if not 0 < low < high < float("inf"):
        raise ConfigError(f"--low {low:g} --high {high:g}: rates must be positive, and --low below --high")
    plan = Plan(low, high, steps, numbers(seeds), sensitivity)
    state_limits(network, out.quiet)
    search = find_rate(
        command, plan, seconds=seconds, writable=writable, network=network,
        notify=lambda text: note(f"  {text}", out.quiet),
    )  # fmt: skip
    emit(rates.render(search, out.format, width=stdout_width(), color=out.color), out.path)
    if figures is not None:
        draw(search, Path(figures), quiet=out.quiet)
    return 0 if search.suggested is not None else 1


def numbers(seeds: str) -> tuple[int, ...]:
    """The seeds. Raises ConfigError unless they are distinct integers."""
    words = [word.strip() for word in seeds.split(",") if word.strip()]
    if not words or not all(word.isdecimal() for word in words) or len(set(map(int, words))) < len(words):
        raise ConfigError(f"--seeds {seeds}: needs distinct integers, such as 0,1")
    return tuple(map(int, words))


def draw(search: Any, directory: Path, *, quiet: bool) -> None:
    """The picture. Raises ConfigError when the folder cannot be written."""
    from traindx.reports.figures import rates as figures

    try:
        directory.mkdir(parents=True, exist_ok=True)
        note(f"drawn: {figures.save(search, directory)}", quiet)
    except OSError as error:
        raise ConfigError(f"--figures {directory}: cannot be written: {error.strerror}") from error

"""`traindx find-lr`: a learning-rate range test on an unmodified script."""

from typing import Any

from traindx.cli.api import (
    ConfigError,
    Output,
    click,
    command_argument,
    emit,
    fence_options,
    figures_in,
    note,
    plain_output_options,
    state_limits,
    stdout_width,
)

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
  2  error: no such program, nothing recorded, or too few steps
"""


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
@click.option("--figures", metavar="DIR", help="Also draw learning_rate.png into DIR.")
@fence_options
@plain_output_options
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
        draw(search, figures, quiet=out.quiet)
    return 0 if search.suggested is not None else 1


def numbers(seeds: str) -> tuple[int, ...]:
    """The seeds. Raises ConfigError unless they are distinct integers."""
    words = [word.strip() for word in seeds.split(",") if word.strip()]
    if not words or not all(word.isdecimal() for word in words) or len(set(map(int, words))) < len(words):
        raise ConfigError(f"--seeds {seeds}: needs distinct integers, such as 0,1")
    return tuple(map(int, words))


def draw(search: Any, directory: str, *, quiet: bool) -> None:
    """The picture. Raises ConfigError when the folder cannot be written."""
    from traindx.reports.figures import rates as figures

    with figures_in(directory) as folder:
        note(f"drawn: {figures.save(search, folder)}", quiet)

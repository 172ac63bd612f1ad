"""`traindx check`: an unmodified script before its long run."""

import time
from collections.abc import Sequence
from pathlib import Path

from traindx import pipeline
from traindx.checks.judge import select_checks
from traindx.checks.plan import plan_starts
from traindx.cli.api import (
    Config,
    Output,
    click,
    codes,
    command_argument,
    config_options,
    emit,
    fence_options,
    note,
    output_options,
    progress,
    state_limits,
)
from traindx.cli.checks import (
    Bench,
    DataRequest,
    check_data,
    data_options,
    gather,
    list_checks,
    render_checks,
)
from traindx.vocabulary import Check

BUDGET = 120.0  # seconds

EXAMPLES = """\b
Examples:
  traindx check -- python train.py
  traindx check --only experiments -- python train.py --epochs 3
  traindx check --skip permuted-labels --budget 60 -- python -m project.train
  traindx check -f markdown -o check.md -- python train.py
  traindx check --data train.csv --target label --validation val.csv

\b
The script is started up to five times for at most a few hundred steps, each time in a scratch copy of
its folder: unchanged; again, to compare; on one batch; on one batch with blank inputs; and with
permuted labels. Nothing in your folder is changed.

\b
Exit status:
  0  no check failed (some may not have been run: the page says why)
  1  a check failed
  2  error: no such program, or nothing was recorded (one sentence says why)
"""


@click.command(epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@command_argument(required=False)
@click.option(
    "--only",
    multiple=True,
    metavar="CHECKS",
    help="Only these checks or groups, comma-separated. Repeatable.",
)
@click.option(
    "--skip", multiple=True, metavar="CHECKS", help="Leave out these checks or groups. Repeatable."
)
@click.option(
    "--budget",
    type=click.FloatRange(min=1),
    default=BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="Time for all experiments together; those that do not fit are not run.",
)
@click.option("--list", "listed", is_flag=True, help="List the checks and exit.")
@click.option("--out", "records", metavar="DIR", help="Keep the records of the experiments in DIR.")
@fence_options
@data_options
@output_options
@config_options
def check(
    command: tuple[str, ...],
    request: DataRequest,
    config: Config,
    out: Output,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    budget: float,
    writable: tuple[str, ...],
    network: bool,
    listed: bool,
    records: str | None,
) -> int:
    """Check an unmodified script before a long run.

    COMMAND is what you would type without traindx: python script.py, python -m module, torchrun. With --data,
    a data set is checked instead.
    """
    if request.path is not None:
        if command:
            raise click.UsageError("--data checks a data set: leave out the command")
        return check_data(request, config, out, codes(only), codes(skip), listed)
    checks = select_checks(codes(only), codes(skip))
    if listed:
        emit(list_checks(checks), out.path)
        return 0
    if not command:
        raise click.UsageError("give the command to check, such as: traindx check -- python train.py")
    bench = Bench(
        command,
        config,
        budget,
        Path(records) if records else None,
        {"writable": writable, "network": network},
    )
    state_limits(network, out.quiet)
    return run_checks(bench, checks, config, out)


def run_checks(bench: Bench, checks: Sequence[Check], config: Config, out: Output) -> int:
    """Run the experiments, judge them, print the page; the exit status."""
    begun = time.monotonic()
    experiments = plan_starts(checks)
    with progress("checking", len(experiments), show=not out.quiet) as at:
        gathered = gather(bench, experiments, report=at)
    if gathered.run is None:
        note(
            f"traindx: nothing could be checked: {next(iter(gathered.reasons.values()), 'nothing was recorded')}"
        )
        return 2
    found = pipeline.judge_checks(
        gathered.run,
        checks,
        config,
        command=bench.command,
        seconds=time.monotonic() - begun,
        reasons=gathered.reasons,
        experiments=gathered.experiments,
    )
    emit(render_checks(found.report, out), out.path)
    for line in bench.notes():
        note(f"traindx: {line}", out.quiet)
    return int(bool(found.failed))

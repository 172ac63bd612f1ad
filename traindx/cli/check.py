"""`traindx check`: an unmodified script before its long run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

import traindx
from traindx import pipeline, rules
from traindx.cli.check_data import DataRequest, check_data, data_options
from traindx.cli.check_run import Gathered, gather
from traindx.cli.options import Output, codes, config_options, output_options
from traindx.cli.streams import emit, note, progress, stdout_width
from traindx.config import Config
from traindx.errors import ConfigError
from traindx.trials.check_catalogue import CHECKS
from traindx.trials.check_judge import chosen, results
from traindx.trials.check_plan import planned
from traindx.vocabulary.check import Check, CheckReport

BUDGET = 120.0  # seconds

EXAMPLES = """\b
Examples:
  traindx check -- python train.py
  traindx check --only experiments -- python train.py --epochs 3
  traindx check --skip permuted-labels --budget 60 -- python -m project.train
  traindx check -f markdown -o check.md -- python train.py
  traindx check --data train.csv --target label --validation val.csv

\b
The script is started up to five times, each time in a scratch copy of its folder and for a few
hundred steps at most: as it is; again, to compare; on one batch; on one batch with blank inputs; with
permuted labels. Nothing in your folder is changed.

\b
Exit status:
  0  no check failed (some may not have been run: the page says why)
  1  a check failed
  2  could not work: no such program, or nothing was recorded (one sentence says why)
"""


@click.command(epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, metavar="-- COMMAND…")
@click.option(
    "--only", multiple=True, metavar="CHECKS", help="Only these checks or groups, comma-separated. Repeatable."
)
@click.option("--skip", multiple=True, metavar="CHECKS", help="Not these checks or groups. Repeatable.")
@click.option(
    "--budget",
    type=click.FloatRange(min=1),
    default=BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="Time for all experiments together; what does not fit is not run.",
)
@click.option("--list", "listed", is_flag=True, help="List the checks and end.")
@click.option("--out", "records", metavar="DIR", help="Keep the records of the experiments in DIR.")
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
    listed: bool,
    records: str | None,
) -> int:
    """Check an unmodified script before its long run.

    COMMAND is what you would type without traindx: python script.py, python -m module, torchrun. With --data,
    a data set is checked instead.
    """
    if request.path is not None:
        if command:
            raise click.UsageError("--data checks data: give it without a command")
        return check_data(request, config, out, codes(only), codes(skip), listed)
    checks = picked(codes(only), codes(skip))
    if listed:
        emit(listing(checks), out.path)
        return 0
    if not command:
        raise click.UsageError("give the command to check, such as: traindx check -- python train.py")
    begun = time.monotonic()
    experiments = planned(checks)
    with progress("checking", len(experiments), show=not out.quiet) as at:
        gathered = gather(
            command, experiments, config, budget=budget, out=Path(records) if records else None, report=at
        )
    if gathered.run is None:
        note(f"traindx: nothing could be checked: {next(iter(gathered.reasons.values()), 'nothing was recorded')}")
        return 2
    report = reported(command, checks, gathered, config, time.monotonic() - begun)
    emit(rendered(report, out), out.path)
    return int(report.count("failed") > 0)


def picked(only: Sequence[str], skip: Sequence[str], checks: Sequence[Check] = CHECKS) -> tuple[Check, ...]:
    """The checks that were asked for. Raises ConfigError for a word that names none."""
    try:
        return chosen(only, skip, checks)
    except KeyError as error:
        import difflib

        word = str(error.args[0])
        known = [*dict.fromkeys(c.group for c in checks), *(c.slug for c in checks)]
        near = difflib.get_close_matches(word, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "traindx check --list names them"
        raise ConfigError(f"there is no check {word!r}; {hint}") from error


def listing(checks: Sequence[Check]) -> str:
    """Slug, group and title of each check."""
    return "".join(f"{c.slug:<22} {c.group:<14} {c.title}\n" for c in checks)


def reported(
    command: Sequence[str], checks: Sequence[Check], gathered: Gathered, config: Config, seconds: float
) -> CheckReport:
    """Judge what was gathered: the ordinary diagnosis of the run, and the checks as views on it."""
    assert gathered.run is not None
    diagnosis = pipeline.diagnose(gathered.run, config)
    asked = {rule.slug for rule in pipeline.select(rules.catalogue(), config)}
    setup = diagnosis.runs[0].setup
    return CheckReport(
        traindx_version=traindx.__version__,
        command=tuple(command),
        seconds=round(seconds, 1),
        checks=results(checks, diagnosis.first, setup, gathered.reasons, asked=asked, severity=config.severity),
        experiments=gathered.experiments,
        diagnosis=diagnosis.first,
    )


def rendered(report: CheckReport, out: Output) -> str:
    """The page in the form asked for."""
    from traindx.reports import check as page

    if out.format == "json":
        return page.to_json(report)
    if out.format == "markdown":
        return page.markdown(report)
    if out.format == "html":
        return page.html(report)
    return page.render(report, width=stdout_width(), color=out.color)

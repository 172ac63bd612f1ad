"""`traindx check --data`: files and folders of data, before anything is trained on them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from traindx.cli.options import Output, with_options
from traindx.cli.streams import emit, note, progress, write_file
from traindx.config import Config
from traindx.errors import ConfigError

ROWS_LISTED = 100_000  # of a rule, in the file of --rows
PARTS = 1000  # of the progress bar


class DataRequest(NamedTuple):
    """What the options on data ask for; `path` is None where the script is to be checked."""

    path: str | None = None
    target: str | None = None
    validation: str | None = None
    sensitive: str | None = None
    task: str | None = None
    rows: str | None = None


DATA_OPTIONS = (
    click.option(
        "--data", metavar="PATH",
        help="Check data instead of a script: CSV, Parquet, .npz, .npy, or a folder of images or sounds.",
    ),
    click.option("--target", metavar="COLUMN", help="With --data: the column (or array) to predict."),
    click.option("--validation", metavar="PATH", help="With --data: the validation data, in the same form."),
    click.option("--sensitive", metavar="COLUMN", help="With --data: compare labels and errors between its values."),
    click.option(
        "--task", type=click.Choice(("classes", "numbers")),
        help="With --data: the kind of target, if it is not obvious from the values.",
    ),
    click.option("--rows", metavar="FILE", help="With --data: write the rows of each finding to FILE, as CSV."),
)  # fmt: skip


def data_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a verb the options on data; it receives them as `request: DataRequest`. Raises ConfigError for one
    of them without --data."""

    @functools.wraps(command)
    def settled(*, data: str | None, **rest: Any) -> int:
        given = {name: rest.pop(name) for name in DataRequest._fields if name != "path"}
        if data is None:
            lonely = [f"--{name}" for name, value in given.items() if value is not None]
            if lonely:
                raise ConfigError(f"{lonely[0]} needs --data")
        return command(request=DataRequest(data, **given), **rest)

    return with_options(settled, DATA_OPTIONS)


def check_data(
    request: DataRequest,
    config: Config,
    out: Output,
    only: Sequence[str],
    skip: Sequence[str],
    listed: bool = False,
) -> int:
    """Check the data that were asked for and print the page; the exit status."""
    from traindx.checks.data_catalogue import DATA_CHECKS
    from traindx.checks.judge import picked
    from traindx.cli.checks.pages import listing, rendered
    from traindx.survey import inspection

    checks = picked(only, skip, DATA_CHECKS)
    if listed:
        emit(listing(checks), out.path)
        return 0
    with progress("reading", PARTS, show=not out.quiet) as at:
        found = inspection.check_data(
            request.path,
            request.target,
            validation=request.validation,
            sensitive=request.sensitive,
            task=request.task,  # type: ignore[arg-type]
            config=config,
            checks=checks,
            progress=lambda done, total: at(PARTS * done // total if total else 0, f"{done:,} rows"),
        )
    emit(rendered(found.report, out), out.path)
    if request.rows is not None:
        write_rows(found.rows, Path(request.rows))
        note(f"The rows of the findings: {request.rows}", out.quiet)
    return int(found.failed)


def write_rows(rows: Mapping[str, Any], path: Path) -> None:
    """One line a row: the rule's slug, its place among the rule's rows (1 is worst), the row's number from 0."""
    lines = ["rule,place,row"]
    for slug, numbers in sorted(rows.items()):
        lines += [f"{slug},{place},{row}" for place, row in enumerate(numbers[:ROWS_LISTED].tolist(), 1)]
    write_file(path, "\n".join(lines) + "\n", "--rows")

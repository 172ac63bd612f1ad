"""`traindx diagnose`: logs in, one diagnosis per run out."""

import os
import sys
from collections.abc import Sequence

import numpy  # noqa: F401 - first: after msgspec's typing_extensions its import takes a tenth longer

from traindx import pipeline
from traindx.cli.api import (
    Config,
    Output,
    ReadError,
    click,
    config_options,
    emit,
    full_option,
    note,
    output_options,
    progress,
)
from traindx.cli.diagnosis_output import draw, render_diagnosis, status
from traindx.vocabulary import Run

LONG_INPUT = 64 * 2**20  # bytes; below it reading takes about a second and a bar would only flicker
MANY_PATHS = 8

EXAMPLES = """\b
Examples:
  traindx diagnose runs/exp1                         a folder with one run or many
  traindx diagnose train.log other.csv "runs/*/metrics.csv"
  python train.py 2>&1 | traindx diagnose -          pasted or piped text
  traindx diagnose train.log --map train/loss=my_loss --fact classes=10
  traindx diagnose runs -f json -o diagnosis.json --severity high

\b
Exit status:
  0  nothing at or above the severity asked for
  1  findings
  2  error: bad input (the other paths are still diagnosed) or bad options
"""


@click.command(epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, metavar="PATH… | -")
@output_options
@config_options
@full_option
@click.option("--ask", is_flag=True, help="Ask for facts that the log lacks (needs a terminal).")
@click.option("--figures", metavar="DIR", help="Also draw each run's figures as PNG files into DIR.")
def diagnose(
    paths: tuple[str, ...], config: Config, out: Output, ask: bool, figures: str | None, full: bool
) -> int:
    """Diagnose training runs from their logs.

    PATH is a log file of any format (also .gz), a folder with logs, or a quoted glob; "-" reads
    stdin. Each run gets its own diagnosis.
    """
    if ask:
        from traindx.cli.questions.facts import require_terminal

        require_terminal(paths)
    runs, failed = read_paths(expand(paths), config, quiet=out.quiet)
    if not runs:
        return 2
    if ask:
        from traindx.cli.questions.facts import ask_for_facts

        config = config.override(facts=ask_for_facts(runs))
    diagnosis = pipeline.diagnose(runs, config)
    emit(render_diagnosis(diagnosis, out, full=full), out.path)
    if figures is not None:
        draw(diagnosis, figures, quiet=out.quiet)
    return 2 if failed else status(diagnosis, config)


def expand(paths: Sequence[str]) -> list[str]:
    """Globs that the shell has not expanded; a path that exists is never taken for a glob."""
    import glob

    found: list[str] = []
    for path in paths:
        wild = path != "-" and glob.has_magic(path) and not os.path.exists(path)
        matches = sorted(glob.glob(path, recursive=True)) if wild else [path]
        if not matches:
            raise ReadError(
                path,
                "no file matches this pattern",
                hint="quote the pattern so that the shell leaves it alone",
            )
        found += [match for match in matches if match not in found]
    return found


def read_paths(paths: Sequence[str], config: Config, *, quiet: bool) -> tuple[list[Run], int]:
    """All runs, and how many paths could not be read; each of those is named on stderr."""
    runs: list[Run] = []
    failed = 0
    if "-" in paths and sys.stdin.isatty():
        note("Paste the log, then press Ctrl-D on an empty line.", quiet)
    show = not quiet and (len(paths) > MANY_PATHS or sum(map(size_of, paths)) > LONG_INPUT)
    with progress("reading", len(paths), show=show) as at:
        for done, path in enumerate(paths):
            at(done, path)
            try:
                runs += pipeline.read_all(path, mapping=config.aliases)
            except ReadError as error:
                failed += 1
                note(f"traindx: error: {error}")
    return runs, failed


def size_of(path: str) -> int:
    """Bytes of a file, or of the files directly in a folder; 0 when unknown."""
    if path == "-" or not os.path.exists(path):
        return 0
    if os.path.isdir(path):
        with os.scandir(path) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.is_file())
    return os.path.getsize(path)

"""`traindx compare`: several runs compared."""

from pathlib import Path

from traindx import pipeline
from traindx.cli.api import (
    Config,
    ConfigError,
    Output,
    click,
    emit,
    output_options,
    reading_options,
    stdout_width,
)
from traindx.cli.verbs.diagnose import expand, read_paths
from traindx.features.comparisons.runs import compare as compared
from traindx.reports.documents.comparison import render_compare

EXAMPLES = """\b
Examples:
  traindx compare runs/lr-0.1 runs/lr-0.01
  traindx compare "runs/*" --format html --output comparison.html
"""


@click.command(epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, metavar="RUN RUN…")
@output_options
@reading_options
def compare(paths: tuple[str, ...], config: Config, out: Output) -> int:
    """Compare several runs: which is best, and what differs.

    Says for every metric which run is best, whether the difference is larger than the noise, and
    what is different in how the runs were set up. A folder may hold several runs.
    """
    runs, failed = read_paths(expand(paths), config, quiet=out.quiet)
    if failed and len(runs) < 2:
        return 2
    if len(runs) < 2:
        found = f"only one was found in {Path(paths[0])}" if runs else "none was found"
        raise ConfigError(f"a comparison needs two runs or more; {found}")
    diagnosis = pipeline.diagnose(runs, config)
    comparison = compared(diagnosis.runs)
    text = render_compare(
        comparison, diagnosis.document, diagnosis.runs, out.format, width=stdout_width(), color=out.color
    )
    emit(text, out.path)
    return 2 if failed else 0

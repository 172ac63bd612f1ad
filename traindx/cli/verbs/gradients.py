"""`traindx gradients`: every module's gradient, weights and updates."""

from traindx.cli.api import Config, Output, click
from traindx.cli.module_tables import show, table_options

EXAMPLES = """\b
Examples:
  traindx run --out runs/exp1 -- python train.py
  traindx gradients runs/exp1
  traindx gradients runs/exp1 --figures pictures       draws gradient_flow.png
  traindx gradients runs/exp1 -f json -o gradients.json

\b
A flag after a module names what is unusual compared with healthy runs. The exit status depends only on
the findings below the table, which also take into account whether the run learns:
  0  nothing at or above the severity asked for
  1  findings
  2  error: bad input, or nothing recorded by module
"""


@click.command(epilog=EXAMPLES)
@click.argument("path", metavar="STORE")
@table_options
def gradients(path: str, config: Config, out: Output, figures: str | None) -> int:
    """Show gradients, weights and updates of every module.

    STORE is the folder of a run that `traindx run` or `traindx.watch` recorded. Modules are in
    the order in which the model holds them, the input first.
    """
    return show(path, "gradients", config, out, figures)

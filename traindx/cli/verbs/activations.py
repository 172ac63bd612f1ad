"""`traindx activations`: the outputs of every module."""

from traindx.cli.api import Config, Output, click
from traindx.cli.module_tables import show, table_options

EXAMPLES = """\b
Examples:
  traindx run --out runs/exp1 -- python train.py
  traindx activations runs/exp1
  traindx activations runs/exp1 --figures pictures     draws activations.png
  traindx activations runs/exp1 -f markdown

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
def activations(path: str, config: Config, out: Output, figures: str | None) -> int:
    """Show the outputs of every module, with flags.

    Shares of silent and of saturated units, scale, effective rank. STORE is the folder of a run
    that `traindx run` or `traindx.watch` recorded. Modules are in the order in which the model
    holds them, the input first.
    """
    return show(path, "activations", config, out, figures)

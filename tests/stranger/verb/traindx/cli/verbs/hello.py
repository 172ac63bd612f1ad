"""`traindx hello`: a greeting."""

import click


@click.command(epilog="\b\nExamples:\n  traindx hello\n")
def hello() -> int:
    """Say hello to whoever reads the terminal."""
    click.echo("hello")
    return 0

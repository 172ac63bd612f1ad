"""docs/cli.md: what `--help` prints for every verb."""

from __future__ import annotations

import inspect

import click

from traindx.cli.main import VERBS, cli

WIDTH = 100

INTRODUCTION = """# The command line

stdout contains only the document. Progress, notes and errors go to stderr. An error is one line,
`traindx: error: …`, which says what you can do.

| exit status | meaning |
|---|---|
| 0 | nothing at or above `--severity` |
| 1 | findings at or above `--severity` (default: medium), or a run that failed (critical) or is sick (medium) |
| 2 | an error: bad input, bad options, or a bug in traindx. With several paths, the others are still diagnosed |
| 130 | interrupted (Ctrl-C); an `--output` file keeps its old content, or does not exist |

A pipe that is closed early (`| head`) does not change the exit status. Colours depend on the first of these that is
set: `--no-color`, `NO_COLOR`, `FORCE_COLOR`, and whether stdout is a terminal. Text is as wide as the terminal (or
`COLUMNS`), between 40 and 120 columns, and 100 in a pipe. `TRAINDX_DEBUG=1` shows the traceback of a bug in traindx.

Settings come from the nearest `traindx.toml` or `pyproject.toml` with a `[tool.traindx]` table. The command line
replaces `select`, `ignore` and `severity`, and adds to `aliases` and `facts`:

```toml
{settings}
```

An unknown key or an invalid value is an error that names the file and the key.
"""


def cli_text(command: click.Command, name: str) -> str:
    """The help of one command, as it is on a terminal of fixed width."""
    context = click.Context(command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    return command.get_help(context)


def settings() -> str:
    """The example in the docstring of traindx.config, as the body of a pyproject.toml."""
    from traindx import config

    lines = inspect.getdoc(config).splitlines()  # type: ignore[union-attr]
    first = next(i for i, line in enumerate(lines) if line.startswith("    "))
    block = [line[4:] for line in lines[first:] if not line or line.startswith("    ")]
    return "[tool.traindx]\n" + "\n".join(block[: block.index("")])


def cli_page() -> str:
    parts = [
        INTRODUCTION.format(settings=settings()),
        "## traindx\n",
        f"```\n{cli_text(cli, 'traindx')}\n```\n",
    ]
    for verb in VERBS:
        command = cli.get_command(click.Context(cli), verb)
        assert command is not None
        parts += [f"## traindx {verb}\n", f"```\n{cli_text(command, f'traindx {verb}')}\n```\n"]
    return "\n".join(parts)

"""Options that several verbs share, and how they become a Config."""

import functools
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, cast, get_args

import click
import msgspec

from traindx import config as settings
from traindx.errors import ConfigError
from traindx.vocabulary import SEVERITIES

Format = Literal["text", "json", "markdown", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES: dict[str, Format] = {
    ".txt": "text",
    ".json": "json",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
}


class Output(msgspec.Struct, frozen=True):
    """Where the document goes: `format` is settled, `path` None for stdout."""

    format: Format
    path: Path | None
    color: bool
    quiet: bool


OUTPUT_OPTIONS = (
    click.option(
        "--format", "-f", "form", type=click.Choice(FORMATS),
        help="Format of the document. Default: by the suffix of --output, else text.",
    ),
    click.option("--output", "-o", metavar="FILE", help="Write to FILE instead of stdout. FILE is never left half written."),
    click.option("--quiet", "-q", is_flag=True, help="No progress and no notes on stderr; errors remain."),
    click.option("--no-color", is_flag=True, help="No colours (as with NO_COLOR=1)."),
)  # fmt: skip

PLAIN_OUTPUT_OPTIONS = (
    click.option(
        "--format", "-f", "form", type=click.Choice(FORMATS[:3]),
        help="Format of the document. Default: by the suffix of --output, else text.",
    ),
    *OUTPUT_OPTIONS[1:],
)  # fmt: skip


def price_of(value: str) -> float:
    amount = settings.finite(value.removesuffix("/h"))
    if amount is None or amount < 0:
        raise click.BadParameter(f"{value!r} is not an amount for an hour, such as 2.5/h")
    return amount


price_option = click.option(
    "--price",
    type=price_of,
    metavar="AMOUNT/h",
    help="What an hour of training costs, such as 2.5/h: decisions then say what waiting costs.",
)
full_option = click.option(
    "--full",
    is_flag=True,
    help="Text: all findings, not only the first screen. HTML and JSON always hold all.",
)

FENCE_OPTIONS = (
    click.option(
        "--writable", multiple=True, metavar="PATH",
        help="Also let the script write there; elsewhere it cannot. Repeatable.",
    ),
    click.option(
        "--network", is_flag=True, help="Let the script use the network and services of this machine."
    ),
)  # fmt: skip

severity_option = click.option(
    "--severity",
    type=click.Choice(SEVERITIES),
    help="Exit with status 1 for a finding of this severity or above. Default: medium.",
)

RULE_OPTIONS = (
    click.option(
        "--select", multiple=True, metavar="CODES",
        help="Use only these rules: code prefixes or slugs, comma-separated (LOS,validation-missing). Repeatable.",
    ),
    click.option("--ignore", multiple=True, metavar="CODES", help="Leave these rules out. Repeatable."),
    severity_option,
    click.option(
        "--fact", "facts", multiple=True, metavar="KEY=VALUE",
        help="A fact that the log lacks, such as optimizer=adam or classes=10. Repeatable.",
    ),
)  # fmt: skip

READING_OPTIONS = (
    click.option(
        "--map", "aliases", multiple=True, metavar="SIGNAL=NAME",
        help="Read the log's NAME as this signal: train/loss=my_loss. Repeatable.",
    ),
    click.option(
        "--config", "config_file", metavar="FILE",
        help="Settings file. Default: the nearest traindx.toml or pyproject.toml with [tool.traindx].",
    ),
)  # fmt: skip


def with_resolved_options(
    argument: str, settle: Callable[..., Any], options: tuple[Callable[..., Any], ...]
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a verb these options; it receives what `settle` makes of them, by their names, as one argument."""
    names = tuple(inspect.signature(settle).parameters)

    def give(command: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(command)
        def settled(**given: Any) -> int:
            own = {name: given.pop(name) for name in names}
            return command(**{argument: settle(**own)}, **given)

        return with_options(settled, options)

    return give


def command_argument(*, required: bool = True) -> Callable[[Any], Any]:
    """The command of a script, after the options. A Python file that is no program is started by Python."""
    return click.argument(
        "command", nargs=-1, required=required, metavar="-- COMMAND…", callback=started_by_python
    )


def started_by_python(
    _context: click.Context, _argument: click.Parameter, command: tuple[str, ...]
) -> tuple[str, ...]:
    """`train.py` as `python train.py`, with the `python` that the shell would find."""
    script = command[0] if command else ""
    started = next((word for word in command if word.endswith((".py", ".ipynb"))), "")
    by_python = started == script or os.path.basename(script).startswith("python")
    if started.endswith(".ipynb") and by_python and "-m" not in command:
        raise click.UsageError(
            f"{started} is a notebook, which Python does not run: `jupyter nbconvert --to script {started}` makes a script"
        )
    program = os.sep in script and os.access(script, os.X_OK)  # by its first line, as the shell starts it
    if not script.endswith(".py") or not os.path.isfile(script) or program:
        return command
    import shutil  # with the modules of all compressions: a tenth of what a diagnosis imports

    return (shutil.which("python") or sys.executable, *command)


def with_options(command: Callable[..., int], options: tuple[Callable[..., Any], ...]) -> Callable[..., int]:
    decorated: Any = command
    for option in reversed(options):
        decorated = option(decorated)
    return cast("Callable[..., int]", decorated)


def state_limits(network: bool, quiet: bool) -> None:
    """Say what this machine cannot keep the script from, before it is started."""
    from traindx.cli.streams import note
    from traindx.lab.conduct.enclosure import limits

    known = limits(network)
    if known:
        what = ", ".join(known[:-1]) + " or " + known[-1]
        note(f"traindx: This machine cannot keep an experiment from {what}.", quiet)


def resolve_config(
    config_file: str | None,
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    severity: str | None = None,
    aliases: tuple[str, ...] = (),
    facts: tuple[str, ...] = (),
) -> settings.Config:
    """The settings file, overridden by the command line. Raises ConfigError."""
    file = Path(config_file) if config_file else settings.find(Path.cwd())
    base = settings.load(file) if file else settings.Config()
    return base.override(
        select=codes(select),
        ignore=codes(ignore),
        severity=severity,
        aliases=pairs(aliases, "--map", "train/loss=my_loss"),
        facts=pairs(facts, "--fact", "optimizer=adam"),
    )


def codes(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(code.strip() for entry in given for code in entry.split(",") if code.strip())


def pairs(given: tuple[str, ...], option: str, example: str) -> dict[str, str]:
    """`KEY=VALUE` entries as a dict; the value may hold further equals signs."""
    found = {}
    for entry in given:
        key, equals, value = entry.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise ConfigError(f"{option} needs KEY=VALUE, such as {example}, not {entry!r}")
        found[key.strip()] = value.strip()
    return found


def resolve_output(form: Format | None, output: str | None, quiet: bool, no_color: bool) -> Output:
    """Which form goes where. Raises ConfigError for places that cannot take it."""
    from traindx.cli.streams import stdout_colors

    path = None if output in (None, "-") else Path(str(output))
    if path is not None and path.is_dir():
        raise ConfigError(f"--output {output}: is a folder; give the name of a file in it")
    if path is not None and not path.parent.is_dir():
        raise ConfigError(f"--output {output}: there is no folder {path.parent}")
    form = form or (SUFFIXES.get(path.suffix.lower(), "text") if path else "text")
    if form == "html" and path is None and sys.stdout.isatty():
        raise ConfigError(
            "HTML is for a browser, not for a terminal (add --output report.html, or redirect stdout)"
        )
    return Output(form, path, path is None and stdout_colors(no_color), quiet)


def resolve_plain_output(form: Format | None, output: str | None, quiet: bool, no_color: bool) -> Output:
    """As `resolve_output`, for a document that has no HTML form."""
    out = resolve_output(form, output, quiet, no_color)
    if out.format == "html":
        raise ConfigError(f"--output {output}: this document has no HTML form (use .md, .json or .txt)")
    return out


def resolve_reading_config(config_file: str | None, aliases: tuple[str, ...]) -> settings.Config:
    """As `resolve_config`, for a verb that judges nothing."""
    return resolve_config(config_file, aliases=aliases)


output_options = with_resolved_options("out", resolve_output, OUTPUT_OPTIONS)
plain_output_options = with_resolved_options("out", resolve_plain_output, PLAIN_OUTPUT_OPTIONS)
reading_options = with_resolved_options("config", resolve_reading_config, READING_OPTIONS)
config_options = with_resolved_options("config", resolve_config, RULE_OPTIONS + READING_OPTIONS)
fence_options = functools.partial(with_options, options=FENCE_OPTIONS)

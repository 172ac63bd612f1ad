"""`traindx knowledge`: what was tried before and how it went."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from traindx.cli.api import ConfigError, Path, click, emit, note

if TYPE_CHECKING:
    from traindx.lab.knowledge.store import Store

EXAMPLES = """\b
Examples:
  traindx knowledge list
  traindx knowledge show 3
  traindx knowledge export -o tried.jsonl
  traindx knowledge import tried.jsonl
  traindx knowledge forget --project exp1

\b
`traindx fix` records each trial: the fix, the cause, the verdict and its effect, and facts such as the
optimizer, but no data and no source. The record only changes the order in which fixes are tried.
TRAINDX_KB says where it is kept: a file, a database URL, or off.
"""


@contextlib.contextmanager
def open_store() -> Iterator[Store]:
    """The database. Raises ConfigError where it is switched off."""
    from traindx.lab.knowledge.store import VARIABLE, Store, address

    if not address():
        raise ConfigError(f"{VARIABLE} is off: nothing is remembered")
    store = Store(address())
    try:
        yield store
    finally:
        store.close()
        for line in store.state():
            note(f"traindx: {line}")


@click.group(epilog=EXAMPLES)
def knowledge() -> None:
    """Show earlier trials and their outcomes."""


@knowledge.command("list")
def list_() -> int:
    """List all outcomes, one per line."""
    with open_store() as store:
        rows = store.all()
    lines = [
        f"{number:>5}  {time.strftime('%Y-%m-%d', time.localtime(one.at))}  {one.verdict:<12}  {one.fix}"
        f" for {one.cause}  ({one.project})"
        for number, one in rows
    ]
    emit("\n".join(lines) or "no trials yet", None)
    return 0


@knowledge.command()
@click.argument("number", type=int)
def show(number: int) -> int:
    """Print everything about one outcome, as JSON."""
    import msgspec

    with open_store() as store:
        found = dict(store.all()).get(number)
    if found is None:
        raise ConfigError(f"there is no outcome {number}")
    emit(msgspec.json.format(msgspec.json.encode(found), indent=2).decode(), None)
    return 0


@knowledge.command()
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write to FILE instead of stdout. FILE is never left half written.",
)
def export(output: str | None) -> int:
    """Print all outcomes as JSON, one per line."""
    import msgspec

    with open_store() as store:
        lines = [msgspec.json.encode(one).decode() for _, one in store.all()]
    emit("\n".join(lines), None if output is None else Path(output))
    return 0


@knowledge.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
def import_(file: str) -> int:
    """Import exported outcomes, and skip known ones."""
    import msgspec

    from traindx.lab.knowledge.counts import Outcome

    found = []
    for number, line in enumerate(Path(file).read_bytes().splitlines(), 1):
        if line.strip():
            try:
                found.append(msgspec.json.decode(line, type=Outcome))
            except (msgspec.DecodeError, RecursionError) as error:
                raise ConfigError(f"{file}, line {number}: {error}") from error
    with open_store() as store:
        new = store.add_new(found)
    emit(f"{new} of {len(found)} outcomes were new", None)
    return 0


@knowledge.command()
@click.argument("numbers", type=int, nargs=-1)
@click.option("--project", metavar="NAME", help="All of this project.")
@click.option("--all", "everything", is_flag=True, help="Everything.")
def forget(numbers: tuple[int, ...], project: str | None, everything: bool) -> int:
    """Remove outcomes by number, by project, or all of them."""
    if sum((bool(numbers), project is not None, everything)) != 1:
        raise click.UsageError("say which: numbers, --project NAME, or --all")
    with open_store() as store:
        gone = store.forget(numbers or None, project)
    emit(f"{gone} forgotten", None)
    return 0

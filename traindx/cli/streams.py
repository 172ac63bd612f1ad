"""stdout carries the document, stderr the progress: colours, width, whole files, progress bars."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from traindx.errors import ConfigError

MIN_WIDTH, MAX_WIDTH, PIPE_WIDTH = 40, 120, 100


def stdout_colors(no_color: bool) -> bool:
    """Whether stdout takes colours: --no-color, then NO_COLOR, then FORCE_COLOR, then the terminal."""
    if no_color or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def stdout_width() -> int:
    """Columns for text: COLUMNS or the terminal's, within reason; a fixed number for a pipe."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        return PIPE_WIDTH
    import shutil

    return min(max(shutil.get_terminal_size((PIPE_WIDTH, 24)).columns, MIN_WIDTH), MAX_WIDTH)


def emit(text: str, path: Path | None) -> None:
    """Write the document to `path`, or to stdout. Raises ConfigError when the file cannot be written."""
    if not text.endswith("\n"):
        text += "\n"
    if path is not None:
        write_whole(path, text)
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough (`| head`): the rest goes nowhere, quietly
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_whole(path: Path, text: str, option: str = "--output") -> None:
    """Put `text` into `path` so that at every moment the file holds either the old content or the
    new: it is written beside and renamed. Something that is no regular file (/dev/stdout, a pipe)
    is written to directly. Raises ConfigError that names `option`."""
    import tempfile

    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        target = path.resolve()  # a link stays a link; what it points to is replaced
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            os.chmod(temporary, permissions(target))
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise ConfigError(f"{option} {path}: cannot be written: {error.strerror}") from error


def permissions(target: Path) -> int:
    """The mode of the file that is replaced, or the one that a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def note(text: str, quiet: bool = False) -> None:
    """A line for the person at the terminal; never part of the document."""
    if not quiet:
        from traindx.reports.labels import visible

        print(visible(text), file=sys.stderr, flush=True)


@contextlib.contextmanager
def progress(title: str, total: int, *, show: bool) -> Iterator[Callable[[int, str], None]]:
    """A bar on stderr. Yields a function that takes how many of `total` parts are done and what is
    at work. Nothing is drawn (and rich is not imported) unless `show` and stderr is a terminal."""
    if not (show and sys.stderr.isatty()):
        yield lambda _done, _label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done, label: bar.update(task, completed=done, description=f"{title} {markup_free(label)}")


def markup_free(label: str) -> str:
    """The end of a label, without what rich or a terminal would take for commands."""
    from traindx.reports.labels import visible

    return visible(label).replace("[", "(").replace("]", ")")[-40:]

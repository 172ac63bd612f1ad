"""stdout carries the document, stderr the progress: colours, width, whole files, progress bars."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from traindx.atomic_write import write_atomically
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
    if text and not text.endswith("\n"):
        text += "\n"
    if path is not None:
        write_file(path, text)
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough (`| head`): the rest goes nowhere, quietly
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_file(path: Path, text: str, option: str = "--output") -> None:
    """Write a whole file. Raises ConfigError that names `option`."""
    try:
        write_atomically(path, text)
    except OSError as error:
        raise ConfigError(f"{option} {path}: cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def figures_in(directory: str) -> Iterator[Path]:
    """The folder to draw into. Raises ConfigError where it cannot be written."""
    try:
        Path(directory).mkdir(parents=True, exist_ok=True)
        yield Path(directory)
    except OSError as error:
        raise ConfigError(f"--figures {directory}: cannot be written: {error.strerror}") from error


def note(text: str, quiet: bool = False) -> None:
    """A sentence for the person at the terminal, in lines of its width; never part of the document."""
    if quiet:
        return
    from traindx.capture.launch.status_line import columns
    from traindx.reports.labels import visible, wrap_text

    print(wrap_text(visible(text), columns(2)), file=sys.stderr, flush=True)


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
        yield lambda done, label: bar.update(
            task, completed=done, description=f"{title} {markup_free(label)}"
        )


def markup_free(label: str) -> str:
    """The end of a label, without what rich or a terminal would take for commands."""
    from traindx.reports.labels import visible

    return visible(label).replace("[", "(").replace("]", ")")[-40:]

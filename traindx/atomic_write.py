"""Files that are written whole or not at all, and what is said where they cannot be."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def write_atomically(path: Path, content: str | Iterable[bytes]) -> None:
    """Put a text, or bytes in pieces, into `path` so that at every moment the file holds either the old content or the
    new: it is written next to it and renamed. Line ends stay as they are, and so does the mode of a file that was there; a
    link stays one. Something that is no regular file (/dev/stdout, a pipe) is written to directly. Raises OSError."""
    pieces = [content.encode()] if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        with open(path, "wb") as stream:
            stream.writelines(pieces)
        return
    import tempfile  # only where a file is written: it costs as much as all that reads a log

    target = path.resolve()
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
        os.chmod(temporary, permissions(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def name_folder_in_errors(folder: Path) -> Iterator[None]:
    """An OSError without a name, as of a write to an open file, names the folder in which that is."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(folder)
        raise


def make_folder(folder: Path, *, there: bool = True) -> None:
    """Make a folder and those above it that are missing, for the user alone: records say much about a project. One that
    is there keeps its mode, or with `there` False raises FileExistsError. Raises OSError."""
    if not folder.parent.exists():
        make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=there)


def permissions(target: Path) -> int:
    """The mode of the file that is replaced, or the one that a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

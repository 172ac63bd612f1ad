"""Temporary folders that carry a lock of their owner. The lock shows what a killed process left behind,
which is removed.

Only folders of this user with a lock that nobody holds are removed. Links are not followed."""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from traindx.locks import take_abandoned, take_lock

SCRATCH, CHECK, RECORDS, DEMO = PREFIXES = (
    "traindx-scratch-",
    "traindx-check-",
    "traindx-records-",
    "traindx-demo-",
)
OWNER = ".owner"
HELD: dict[Path, int] = {}  # the rooms of this process, and the descriptors that hold their locks


def make_temporary_folder(prefix: str) -> Path:
    """A new temporary folder, to be given to `remove_temporary_folder`. The first one removes what killed processes left
    behind."""
    if not HELD:
        remove_abandoned()
    place = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    HELD[place] = take_lock(place / f"{OWNER}-made")
    os.rename(place / f"{OWNER}-made", place / OWNER)  # nobody may see it before it is locked
    return place


def remove_temporary_folder(place: Path) -> None:
    """Remove a temporary folder. The targets of its links stay."""
    remove_tree(place)
    if place in HELD:
        os.close(HELD.pop(place))


def remove_tree(place: Path) -> None:
    """Remove a folder, also what an overlay left of a scratch copy in it."""
    for locked in place.glob("layers/*/work/work"):  # the kernel denies access to everybody
        if locked.resolve() == locked:  # else a script has put a link there
            locked.chmod(0o700)
    shutil.rmtree(place, ignore_errors=True)


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A temporary folder for as long as it is needed."""
    place = make_temporary_folder(prefix)
    try:
        yield place
    finally:
        remove_temporary_folder(place)


@atexit.register
def remove_temporary_folders() -> None:
    """Remove the remaining folders of this process, as when an interrupt came during a removal."""
    for place in list(HELD):
        remove_temporary_folder(place)


os.register_at_fork(after_in_child=HELD.clear)  # a child must not remove its parent's folders at its end


def remove_abandoned() -> None:
    """Remove the folders whose owners are gone."""
    with os.scandir(tempfile.gettempdir()) as entries:
        found = [entry for entry in entries if entry.name.startswith(PREFIXES)]
    for entry in found:
        if (
            not entry.is_dir(follow_symlinks=False)
            or entry.stat(follow_symlinks=False).st_uid != os.getuid()
        ):
            continue
        lock = take_abandoned(Path(entry.path, OWNER))
        if lock is not None:
            remove_tree(Path(entry.path))
            os.close(lock)

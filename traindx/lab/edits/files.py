"""A project's texts from its folder, a patch as a unified diff, and a patch written in place with a
backup."""

import difflib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from traindx.atomic_write import write_atomically
from traindx.errors import ConfigError
from traindx.vocabulary.edit import Patch

SUFFIXES = (".py", ".yaml", ".yml", ".json", ".toml")
LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "site-packages", "traindx-runs", "traindx-fix"})
MOST_FILES, MOST_BYTES = 5000, 1 << 20  # a file of more bytes was not written by a person
CONTEXT = 3  # lines around a change in a diff


def read_tree(folder: Path) -> dict[str, str]:
    """The texts below a folder that an edit may read, by path with slashes; line ends as they are. Hidden
    folders, installed packages, large files and what is not UTF-8 are left out."""
    files: dict[str, str] = {}
    for path in texts(folder):
        if len(files) >= MOST_FILES:
            break
        try:
            files[path.relative_to(folder).as_posix()] = read(path)
        except (OSError, UnicodeDecodeError):
            continue
    return files


def texts(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in LEFT_OUT
            and not (here / name / "pyvenv.cfg").exists()
        )
        for name in sorted(names):
            path = here / name
            if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size <= MOST_BYTES:
                yield path


def read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def diff(patch: Patch) -> str:
    """The patch as `git apply` and `patch -p1` take it; "" where nothing changes."""
    return "".join(part for path in sorted(patch.after) for part in hunks(path, patch))


def hunks(path: str, patch: Patch) -> Iterator[str]:
    before, after = lines(patch.before[path]), lines(patch.after[path])
    end = "\t" if " " in path else ""  # as diff and git end a name with a space in it
    for line in difflib.unified_diff(before, after, f"a/{path}{end}", f"b/{path}{end}", n=CONTEXT):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def lines(text: str) -> list[str]:
    """The lines with their ends; only "\\n" ends one, as diff sees it."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def write(folder: Path, patch: Patch) -> dict[str, str]:
    """Write a patch into the project; the backup of each file, by its path. Raises ConfigError, before
    anything is written, where a file is no longer what the patch was made for."""
    for path, text in patch.before.items():
        if not (folder / path).is_file() or read(folder / path) != text:
            raise ConfigError(f"{path} was changed since the edit was made: nothing was written")
    backups: dict[str, str] = {}
    for path, text in patch.after.items():
        target = folder / path
        backup = free_name(target)
        shutil.copy2(target, backup)
        write_atomically(target, text)
        backups[path] = backup.relative_to(folder).as_posix()
    return backups


def free_name(path: Path) -> Path:
    """train.py.orig, or train.py.orig.2 ... where that is taken."""
    names = (path.with_name(f"{path.name}.orig{f'.{n}' if n > 1 else ''}") for n in range(1, 1000))
    return next(name for name in names if not name.exists())

"""A copy of the user's folder in which an experiment may write anything.

    scratch/
    ├── tree/<the folder's parents>/<folder>   small files copied, the rest linked to the original
    ├── home/                                  links to what is in the user's home
    └── tmp/

If the project refers to paths outside of itself, the nearest parents hold links to its neighbors (see
project_neighbors.py). A copied file belongs to the experiment. A link leads to the original: reading works, and
writing is refused where the system can do that (see fence.py). Where it cannot, `changes` reports it.
"""

import contextlib
import errno
import os
import shutil
import stat
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from traindx import temporary
from traindx.atomic_write import name_folder_in_errors
from traindx.errors import ConfigError
from traindx.lab.conduct.project_neighbors import imitate, link_entries, refers_outside

COPIED_BYTES = 256 << 20  # in total; the largest files are linked first
COPIED_FILES = 20_000  # in total; of folders that hold more, none is copied
MANY = 3  # times as many files are linked one by one, so that new files can be made in their folders
LINKED = frozenset({".git", ".hg", ".svn", ".venv", "venv", "node_modules"})
CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".ipynb_checkpoints", ".hypothesis"}
)
OURS = (
    *temporary.PREFIXES,
    "traindx-fix",
    "traindx-investigate",
)  # temporary folders: in the project where TMPDIR is
remove = temporary.remove_temporary_folder
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
FICLONE = 0x40049409  # Linux: share the blocks of two files until one of them is written to
ENVIRONMENT = ("pyvenv.cfg", "conda-meta")  # in a folder that holds an installed Python
ROOTS = (".git", ".hg", "pyproject.toml", "setup.py")
CACHE_VARIABLES = (  # of downloads and of compiled code
    "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE", "TRANSFORMERS_CACHE", "TORCH_HOME",
    "KERAS_HOME",
    "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "TRITON_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR",
    "NUMBA_CACHE_DIR", "CUDA_CACHE_PATH", "MPLCONFIGDIR",
)  # fmt: skip
# Trackers write into the scratch copy and send nothing while an experiment runs.
QUIET = {
    "WANDB_MODE": "offline",
    "NEPTUNE_MODE": "offline",
    "CLEARML_OFFLINE_MODE": "1",
    "COMET_START_ONLINE": "0",
    "SWANLAB_MODE": "offline",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Scratch(NamedTuple):
    """`place` is what to remove, `root` the user's folder, `copy` its copy, `folder` the copy of
    the working directory, `linked` what leads to originals, `left_out` what is missing in the copy
    because it is no file (sockets, pipes) or cannot be read (both relative to `root`)."""

    place: Path
    root: Path
    copy: Path
    folder: Path
    linked: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def project(folder: Path) -> Path:
    """The project that a folder belongs to: the nearest parent with a repository or a project file
    in it; the folder itself where there is none, or where that would be somebody's home."""
    home = Path.home()
    for parent in (folder, *folder.parents):
        if parent == home or parent == parent.parent:
            break
        if any((parent / name).exists() for name in ROOTS):
            return parent
    return folder


def make(
    folder: Path,
    *,
    words: Sequence[str] = (),
    home: Path | None = None,
    copied_bytes: int = COPIED_BYTES,
    copied_files: int = COPIED_FILES,
    edited: Mapping[str, str] = {},
) -> Scratch:
    """Copy the project of `folder`. `words` are those of the command that will run there and of its
    search path, `home` is the user's, `edited` has new texts of files in `folder`. Raises OSError
    without room, and ConfigError for far too many files; nothing is left then."""
    folder = folder.resolve()
    root = project(folder)
    place = temporary.make_temporary_folder(temporary.SCRATCH)
    try:
        (place / "tmp").mkdir()
        link_entries(home or Path.home(), place / "home", lambda name: name.startswith(OURS))
        linked = refers_outside(
            root, words, lambda path: is_linked_as_whole(path) or path.name.startswith(OURS)
        )
        copy = imitate(root, place / "tree", linked, lambda name: name.startswith(OURS))
        with name_folder_in_errors(place.parent):
            led, left_out = copy_tree(root, copy, copied_bytes, copied_files)
        for name, text in edited.items():
            rewrite(copy / folder.relative_to(root) / name, text)
    except BaseException:
        remove(place)
        raise
    return Scratch(place, root, copy, copy / folder.relative_to(root), led, left_out)


def rewrite(path: Path, text: str) -> None:
    """Give a file of the copy another text; what it may lead to, or share its bytes with, keeps its own."""
    path.unlink()
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)


def copy_tree(root: Path, copy: Path, room: int, most: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Copy small files first, until `room` bytes or `most` files are copied; link the rest. Gives the
    names of what was linked, and of what was left out."""
    found = survey(root, copy, most)
    cloner = Cloner()
    linked, left_out = list(found.linked), list(found.left_out)
    for i, (size, name) in enumerate(sorted(found.files)):
        try:
            if i < most and cloner.copy(root / name, copy / name, size <= room):
                room -= 0 if cloner.works else size
            else:
                os.symlink(root / name, copy / name)
                linked.append(name)
        except FileNotFoundError:
            continue  # vanished since it was listed
        except OSError as error:
            if error.errno in NO_ROOM:
                raise
            left_out.append(name)
    return tuple(sorted(linked)), tuple(sorted(left_out))


class Survey(NamedTuple):
    """(size, name) of the files of a project, and the names of the folders that were linked and of
    the entries that are left out."""

    files: list[tuple[int, str]]
    linked: list[str]
    left_out: list[str]


def survey(root: Path, copy: Path, most: int) -> Survey:
    """Make the folders and links of the copy, the shallow ones first. A folder is linked as a whole
    where it holds more than `most` entries, or where so many files were found before."""
    found = Survey([], [], [])
    waiting = deque([""])
    while waiting:
        name = waiting.popleft()
        entries = list_folder(root / name, most if name else MANY * most)
        if entries is None and not name:
            raise ConfigError(
                f"{root}: cannot be read, or holds too many files to be copied; work in a smaller folder"
            )
        if name and (entries is None or len(found.files) >= MANY * most or is_linked_as_whole(root / name)):
            os.symlink(root / name, copy / name)
            if os.path.basename(name) not in CACHES:
                found.linked.append(name)
            continue
        (copy / name).mkdir(parents=True, exist_ok=True)
        for entry in entries or ():
            if not entry.name.startswith(OURS):
                copy_entry(entry, os.path.join(name, entry.name), root, copy, found, waiting)
    return found


def copy_entry(
    entry: os.DirEntry[str], inner: str, root: Path, copy: Path, found: Survey, waiting: deque[str]
) -> None:
    """One entry of a folder. What has gone meanwhile is passed over."""
    try:
        if entry.is_symlink():
            copy_link(entry.path, root, copy, inner)
        elif entry.is_dir():
            waiting.append(inner)
        elif entry.is_file():
            found.files.append((entry.stat().st_size, inner))
        else:  # a socket, a pipe, a device
            found.left_out.append(inner)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno in NO_ROOM:
            raise
        found.left_out.append(inner)


def list_folder(folder: Path, most: int) -> list[os.DirEntry[str]] | None:
    """What is in a folder, nothing where it has gone; None where that is more than `most`, or cannot be
    read."""
    try:
        with os.scandir(folder) as entries:
            found = list(islice(entries, most + 1))
    except FileNotFoundError:
        return []
    except OSError:
        return None
    return found if len(found) <= most else None


def is_linked_as_whole(folder: Path) -> bool:
    """Whether a folder is history, installed packages or a cache, which no training changes."""
    return (
        folder.name in LINKED
        or folder.name in CACHES
        or any(os.path.exists(folder / name) for name in ENVIRONMENT)
    )


def copy_link(path: str, root: Path, copy: Path, name: str) -> None:
    """A link within the project leads to the copy, one out of it to where it led before."""
    led = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    os.symlink(copy / os.path.relpath(led, root) if is_within(led, root) else led, copy / name)


class Cloner:
    """Copies files, without moving a byte where the file system can share blocks until they are
    written to."""

    def __init__(self) -> None:
        self.works = True  # until it fails once

    def copy(self, source: Path, target: Path, room: bool) -> bool:
        """Whether the file could be copied: always where it can be cloned, else if there is room. Raises
        OSError; nothing is left of the target then."""
        if not room and not self.works:
            return False
        try:
            with open(os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as old:
                if not stat.S_ISREG(os.fstat(old.fileno()).st_mode):  # it was a file when it was listed
                    raise OSError(errno.EINVAL, "is no file any more")
                with open(target, "xb") as new:
                    done = (self.works and self.clone(old.fileno(), new.fileno())) or (
                        room and copy_content(new, old)
                    )
            if done:
                shutil.copystat(source, target)
                return True
        except PermissionError:  # cannot be read: the experiment cannot read the original either
            done = False
        except OSError:
            target.unlink(missing_ok=True)
            raise
        target.unlink(missing_ok=True)
        return False

    def clone(self, source: int, target: int) -> bool:
        try:
            import fcntl

            fcntl.ioctl(target, FICLONE, source)
        except (OSError, ImportError):
            self.works = False
        return self.works


def copy_content(new: IO[bytes], old: IO[bytes]) -> bool:
    """Copy what the file holds now; one that grows meanwhile is not followed."""
    left = os.fstat(old.fileno()).st_size
    while left > 0 and (piece := old.read(min(left, 1 << 20))):
        new.write(piece)
        left -= len(piece)
    return True


def is_within(path: str, root: Path) -> bool:
    return path == str(root) or path.startswith(str(root).rstrip(os.sep) + os.sep)


def redirect_paths(text: str, scratch: Scratch) -> str:
    """A path, a list of them, or `--option=path`, with what is in the project leading to the copy."""
    parts = []
    for part in text.split(os.pathsep):
        option, equals, path = part.rpartition("=")
        if path.startswith(os.sep) and is_within(os.path.normpath(path), scratch.root):
            part = option + equals + os.path.normpath(str(scratch.copy) + path[len(str(scratch.root)) :])
        parts.append(part)
    return os.pathsep.join(parts)


def environment_in(base: Mapping[str, str], scratch: Scratch) -> dict[str, str]:
    """`base` for a process in the copy: home and temporary folder are the scratch's, trackers keep
    to themselves, caches of downloads stay where they are."""
    home = base.get("HOME", str(Path.home()))
    env = {name: redirect_paths(value, scratch) for name, value in base.items()}
    cache = os.path.join(home, ".cache")
    if os.path.isdir(cache):  # else the script makes one in the scratch's home
        env.setdefault("XDG_CACHE_HOME", cache)
    absent = [name for name in CACHE_VARIABLES if name in env and not os.path.isdir(env[name])]
    env |= {name: str(scratch.place / "tmp" / name) for name in absent}  # where the script may make it
    env |= {"HOME": str(scratch.place / "home"), "PWD": str(scratch.folder)}
    env |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch.place / "tmp"))
    runs = (scratch.place / "mlruns").as_uri()
    return env | QUIET | {"WANDB_DIR": str(scratch.folder), "MLFLOW_TRACKING_URI": runs}


def caches(base: Mapping[str, str]) -> tuple[str, ...]:
    """Folders of downloads and compiled code, which experiments share with everything else."""
    home = base.get("HOME", str(Path.home()))
    named = [base[name] for name in CACHE_VARIABLES if name in base]
    return (*named, *(os.path.join(home, n) for n in (".cache", ".triton", ".nv")))


State = dict[str, tuple[int, ...]]


def state(root: Path, most: int = COPIED_FILES) -> State:
    """Size, inode, and times of change (also of permissions, owner and attributes) of each file of a folder
    (the shallow ones, up to `most`), but of history, installed packages and caches; permissions and owner
    of the folder."""
    top = root.stat()
    found: State = {".": (top.st_mode, top.st_uid, top.st_gid)}
    waiting = deque([str(root)])
    while waiting and len(found) < most:
        for entry in list_folder(Path(waiting.popleft()), MANY * COPIED_FILES) or ():
            with contextlib.suppress(OSError):  # it has vanished since it was listed, or cannot be read
                if entry.is_dir(follow_symlinks=False):
                    if not is_linked_as_whole(Path(entry.path)) and not entry.name.startswith(OURS):
                        waiting.append(entry.path)
                else:
                    status = entry.stat(follow_symlinks=False)
                    times = (status.st_mtime_ns, status.st_ctime_ns)
                    found[os.path.relpath(entry.path, root)] = (status.st_size, status.st_ino, *times)
    return found


def changes(before: State, after: State, except_in: str = "..") -> tuple[str, ...]:
    """Names of files that were added, changed or removed, but of those in the folder `except_in`."""
    found = (n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
    return tuple(sorted(n for n in found if not is_within(n, Path(except_in))))

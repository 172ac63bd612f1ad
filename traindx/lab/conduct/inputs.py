"""What the starts of a script depend on. It decides whether earlier starts still count.

Which files a script reads cannot be observed completely (libraries open them without Python). So its
whole project counts, and what its texts and its command name elsewhere: sources and configurations by
content, so that a checkout of the same content changes nothing, data by size and time. So do the packages
installed with the program, and the variables that libraries read or that a text of the project names."""

import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from traindx.lab.conduct import scratch
from traindx.version import VERSION

CONFIGURATIONS = (".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".conf", ".gin")
# Compared by content, up to so many bytes each and in all; larger ones are data.
TEXTS = frozenset([".py", ".pyi", ".ipynb", ".sh", ".env", "", *CONFIGURATIONS])
TEXT_BYTES, ALL_BYTES = 1 << 20, 64 << 20
# Written while others work in the project, and read by no training: logs, trackers' files, records of
# traindx.
LOGS = re.compile(
    r"(?:^|/)(?:traindx-runs|wandb|mlruns|lightning_logs)/|\.(?:log|out|err)$|(?:^|/)events\.out\.tfevents"
)
NAMES = re.compile(rb"\b[A-Z][A-Z0-9_]{2,}\b")  # of variables, in a text
PATHS = re.compile(rb"(?<![\w.:/-])(?:~|\.\.)?/?(?:[\w.-]+/)+[\w.-]+")
MOST_PATHS = 2000  # paths in texts that are looked up
# Variables that libraries and Python read by themselves.
SETTINGS = re.compile(
    r"(?:CUDA|CUBLAS|CUDNN|NCCL|NVIDIA|HIP|ROCR|HSA|OMP|GOMP|KMP|MKL|OPENBLAS|NUMEXPR|DNNL|ONEDNN|ATEN|PYTORCH|TORCH|"
    r"LD|TF|XLA|JAX|KERAS|HF|TRANSFORMERS|PYTHON)\w*|LANG|LC_ALL|TZ"
)
SYSTEM = ("/proc/", "/sys/", "/dev/", "/usr/", "/bin/")  # no data: settings of the machine, programs
PACKAGES = ("lib*/python*/*-packages", "local/lib*/python*/*-packages")  # below the program's environment
OWN_OUTPUT = ""  # the mark of a file that this process prints into, which is never compared


def inputs(command: Sequence[str], folder: Path, written: Sequence[str | Path] = ()) -> dict[str, str]:
    """What a start of `command` in `folder` depends on: a name for the user, and a short mark of the
    content. `written`: paths that starts, or traindx, may write to."""
    folder = folder.resolve()
    root = scratch.project(folder)
    left_out = [Path(os.path.abspath(folder / path)) for path in written]
    prints = [(s.st_dev, s.st_ino) for s in map(os.fstat, (1, 2)) if stat.S_ISREG(s.st_mode)]
    found: dict[str, str] = {}
    variables, paths, room = set[bytes](), set[bytes](), ALL_BYTES
    for name in sorted(scratch.state(root)):
        path = root / name
        folder_itself = (
            path.is_dir() and not path.is_symlink()
        )  # its time changes with every log that is made in it
        if folder_itself or LOGS.search(name) or within_any(path, left_out):
            continue
        text = small_text(path, room)
        if text is not None:
            room -= len(text)
            variables.update(NAMES.findall(text))
            paths.update(PATHS.findall(text))
        if (mark := mark_of(path, text, prints)) is not None:
            found[name] = mark
    words = [word.rpartition("=")[2] for word in command[1:]]
    named = [*words, *(os.fsdecode(path) for path in sorted(paths)[:MOST_PATHS])]
    left_out += map(Path, scratch.caches(os.environ))
    for path in paths_outside(named, folder, root, left_out):
        if (mark := mark_of(path, small_text(path, room), prints)) is not None:
            found[str(path)] = mark
    return {
        **found,
        **packages(command[0]),
        **settings({os.fsdecode(name) for name in variables}, os.environ),
    }


def small_text(path: Path, room: int) -> bytes | None:
    """The content of a source or configuration. None for other files, too large ones, or unreadable ones."""
    try:
        status = path.stat()
        if path.suffix.lower() not in TEXTS or not stat.S_ISREG(status.st_mode):
            return None
        return path.read_bytes() if status.st_size <= min(TEXT_BYTES, room) else None
    except OSError:
        return None


def mark_of(path: Path, text: bytes | None, prints: Sequence[tuple[int, int]]) -> str | None:
    """A short mark of a file's content, or of its size and time. None where it has vanished."""
    try:
        status = path.stat()
    except OSError:
        return None
    if (status.st_dev, status.st_ino) in prints:
        return OWN_OUTPUT
    return f"{status.st_size} {status.st_mtime_ns}" if text is None else digest(text)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def within_any(path: Path, places: Sequence[Path]) -> bool:
    return any(path == place or place in path.parents for place in places)


def paths_outside(
    named: Sequence[str], folder: Path, root: Path, left_out: Sequence[Path]
) -> Iterator[Path]:
    """The files and folders outside of the project `root` that some words name; a folder that holds the
    project, and the one for temporary files, change with everything that is done there."""
    shared = [*root.parents, Path(tempfile.gettempdir())]
    for word in dict.fromkeys(named):
        path = Path(os.path.normpath(folder / os.path.expanduser(word)))
        inside = path == root or root in path.parents
        if (
            not inside
            and path not in shared
            and not within_any(path, left_out)
            and not str(path).startswith(SYSTEM)
        ):
            yield path


def packages(program: str) -> dict[str, str]:
    """The versions of what is installed where a program is, of its Python, and of traindx."""
    place = shutil.which(program)
    found = {"the package traindx": VERSION}
    if place is None:
        return found
    real = Path(place).resolve()
    status = real.stat()
    found["the program " + real.name] = f"{status.st_size} {status.st_mtime_ns}"
    prefixes = dict.fromkeys((Path(os.path.abspath(place)).parent.parent, real.parent.parent))
    for site in (site for prefix in prefixes for pattern in PACKAGES for site in prefix.glob(pattern)):
        for entry in site.glob("*.dist-info"):
            name, _, version = entry.stem.rpartition("-")
            found.setdefault(f"the package {name}", version)
    return found


def settings(named: set[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that matter. Their values may be secrets, so only digests are kept."""
    matter = (name for name in environment if name in named or SETTINGS.fullmatch(name))
    return {f"the variable {name}": digest(environment[name].encode(sys.getfilesystemencoding(), "surrogateescape"))
            for name in sorted(matter)}  # fmt: skip

"""What is known about the environment of a run without starting it: pins, memory, disk, accelerators,
checkpoints."""

import ast
import contextlib
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from traindx.lab.conduct import checkpoints, scratch
from traindx.vocabulary import Fact

DEVICES = {"an NVIDIA device": "/dev/nvidia0", "an AMD device": "/dev/kfd"}
MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
# Files that pin, the strictest first; the first that is there counts.
PIN_FILES = (
    "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements.lock", "requirements.txt",
    "environment.yml",
    "environment.yaml", "pyproject.toml",
)  # fmt: skip
FILE_BYTES = 8 << 20
REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*([=<>!~]=?=?[^;#\s]*)?")
EXACT = re.compile(r"^={1,3}\s*v?([\w.!+*-]+)$")


def facts(command: Sequence[str], folder: Path) -> dict[str, Fact]:
    """Setup facts about the machine and the folder that the command runs in."""
    out: dict[str, Fact] = {"disk_free": shutil.disk_usage(folder).free}
    memory = host_memory()
    if memory:
        out["host_memory"] = memory
    there = [name for name, path in DEVICES.items() if os.path.exists(path)]
    out["accelerator_present"] = bool(there)
    if there:
        out["accelerator"] = there[0]
    return {**out, **checkpoints.facts(folder)}


def host_memory() -> int | None:
    """Bytes of memory that this process may use."""
    found = []
    with contextlib.suppress(ValueError, OSError, AttributeError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in MEMORY_LIMITS:
        with contextlib.suppress(OSError, ValueError):
            found.append(int(Path(path).read_text(encoding="ascii")))
    return min((size for size in found if size > 0), default=None)


def script_of(command: Sequence[str], folder: Path) -> Path | None:
    """The Python file that a command runs, where its words name one."""
    for word, after in zip(command, [*command[1:], ""], strict=True):
        if word.endswith(".py") and (folder / word).is_file():
            return folder / word
        if word == "-m" and after:
            path = folder / Path(*after.split("."))
            return next((p for p in (path.with_suffix(".py"), path / "__main__.py") if p.is_file()), None)
    return None


def pins(command: Sequence[str], folder: Path, running: Mapping[str, str]) -> dict[str, Fact]:
    """What is pinned for the script, compared with the `running` versions (package -> version)."""
    script = script_of(command, folder)
    wanted = {n.lower() for n in (imported_packages(script) if script is not None else running)} & set(
        running
    )
    file = pin_file((script or folder / "x").parent, folder)
    if file is None:
        return {"pins_file": "none"}
    pinned = dict(read_pins(file))
    wrong = [
        f"{name} {pinned[name]} ({running[name]} is running)"
        for name in sorted(set(running) & set(pinned))
        if pinned[name] and not is_same_version(str(pinned[name]), running[name])
    ]
    missing = sorted(name for name in wanted if not pinned.get(name))
    return {"pins_file": file.name, "pins_mismatched": ", ".join(wrong), "pins_missing": ", ".join(missing)}


def is_same_version(pinned: str, running: str) -> bool:
    """Whether a version is the pinned one: local parts (+cpu) and stars are not compared."""
    wanted, have = pinned.partition("+")[0], running.partition("+")[0]
    return have.startswith(wanted[:-1]) if wanted.endswith("*") else wanted == have


def imported_packages(script: Path) -> set[str]:
    """Top-level packages that a script imports; none where it cannot be parsed."""
    try:
        with script.open("rb") as stream:  # a hole of gigabytes is not read to its end
            tree = ast.parse(stream.read(FILE_BYTES))
    except (
        OSError,
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ):  # the last two: too deeply nested
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names)


def pin_file(near: Path, folder: Path) -> Path | None:
    """The file that pins, next to the script, in the working directory, or at the top of the project."""
    for place in dict.fromkeys((near.resolve(), folder.resolve(), scratch.project(folder.resolve()))):
        for name in PIN_FILES:
            if (place / name).is_file():
                return place / name
    return None


def read_pins(file: Path) -> Iterator[tuple[str, str]]:
    """(package, version; "" where it is named without one) of a file; nothing where it is damaged."""
    text = file.read_bytes()[:FILE_BYTES].decode("utf-8", "replace")
    if file.suffix == ".lock" and file.name != "requirements.lock":
        yield from locked_packages(file, text)
    elif file.name == "pyproject.toml":
        with contextlib.suppress(tomllib.TOMLDecodeError, AttributeError, TypeError):
            listed = tomllib.loads(text).get("project", {}).get("dependencies", [])
            yield from (pair for line in listed for pair in requirement(str(line)))
    else:
        for line in text.splitlines():
            yield from requirement(line.strip().removeprefix("- "))


def locked_packages(file: Path, text: str) -> Iterator[tuple[str, str]]:
    """Packages of a lock file."""
    try:
        if file.name == "Pipfile.lock":
            for name, entry in json.loads(text).get("default", {}).items():
                yield name.lower(), str(entry.get("version", "")).lstrip("=")
        else:
            for package in tomllib.loads(text).get("package", []):
                yield str(package["name"]).lower(), str(package.get("version", ""))
    except (ValueError, AttributeError, KeyError, TypeError):
        return


def requirement(line: str) -> Iterator[tuple[str, str]]:
    """One line of a requirements file: an exact pin gives a version, a range gives "" """
    if not line or line.startswith(("#", "-")):
        return
    found = REQUIREMENT.match(line)
    if found is None:
        return
    exact = EXACT.match((found[2] or "").strip())
    yield found[1].lower().replace("_", "-"), exact[1] if exact else ""

"""Starts of a script from a Python that has loaded its libraries already, which saves seconds for each.

The libraries are those imported by the script and the project's files that it imports, unless they need
the reserve (the library whose import a recording waits for, which Keras imports as its backend). Linux
only. Where it is impossible, `why` says so and every start is a fresh one."""

from __future__ import annotations

import ast
import json
import os
import re
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from traindx import temporary
from traindx.lab.conduct import scratch
from traindx.lab.conduct.environment import FILE_BYTES, script_of

SERVER = Path(__file__).with_name("forking.py")
HOME = Path(__file__).parents[3]
PATIENCE = 120.0  # seconds for loading everything
AGAIN = 4  # times that it loads again without the modules that need the reserve
# Options of Python that mean the same to a forked process.
ALONE, WITH_VALUE = ("-u", "-O", "-OO", "-B", "-s", "-q"), ("-W", "-X")
# Settings that libraries read while they load: a script that makes them itself is not forked from a
# loaded one.
SETTINGS = re.compile(r"\b(?:OMP|GOMP|KMP|MKL|OPENBLAS|NUMEXPR|DNNL|ONEDNN|ATEN|PYTORCH|TORCH|LD)_[A-Z_]+\b")
BACKEND = re.compile(r"""\bKERAS_BACKEND["']\]?\s*[,=]\s*["'](\w+)["']""")  # that a script chooses itself
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Forked:
    """A keeper that was forked by another process, with the interface of `subprocess.Popen`. It has ended
    when it has answered, or when nobody is left to answer."""

    def __init__(self, stdout: IO[bytes], answers: int) -> None:
        self.stdout, self.answers = stdout, answers

    def poll(self) -> int | None:
        return 0 if select.select([self.answers], [], [], 0)[0] else None

    def wait(self) -> int:
        select.select([self.answers], [], [])
        return 0


class Warm:
    """Loaded Pythons for the starts of one command in `folder`, one for each number of threads."""

    def __init__(
        self, command: Sequence[str], folder: Path, *, reserve: str, late: Sequence[str] = (),
        base: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.base = dict(os.environ if base is None else base)
        self.project, self.reserve, self.late = scratch.project(folder.resolve()), reserve, tuple(late)
        self.options = options(command)
        self.early: list[str] = []
        self.why = self.inspect(command, folder)
        self.servers: dict[tuple[str | None, ...], Server] = {}
        self.room = temporary.make_temporary_folder(temporary.SCRATCH)  # libraries make folders as they load
        self.loading: Server | None = None
        self.closed = False
        self.lock = threading.Lock()
        self.answered, self.at_once = threading.Event(), False  # whether one was there at the first try

    def inspect(self, command: Sequence[str], folder: Path) -> str:
        """Find what the script imports. Returns why it cannot be forked, or ""."""
        if not sys.platform.startswith("linux"):
            return "this system has no safe fork"
        script = script_of(command, folder)
        if self.options is None or script is None:
            return "the command is not a plain start of a Python script"
        texts = dict(imported_files(script, folder))
        named = list(dict.fromkeys(name for text in texts.values() for name in imports(text)))
        tops = set(map(top_package, named))
        backends = {
            self.base.get("KERAS_BACKEND"),
            *(b for text in texts.values() for b in BACKEND.findall(text)),
        }
        within = "keras" in tops and self.reserve in backends
        if self.reserve not in tops and not within:
            return f"only a script that imports {self.reserve} itself can be started from one that is loaded"
        setting = next((found[0] for text in texts.values() if (found := SETTINGS.search(text))), "")
        if setting:
            return f"the script sets {setting}, which is read as libraries are loaded"
        with_it = {self.reserve, "keras"} if within else {self.reserve}
        self.early = [n for n in named if top_package(n) not in with_it | sys.stdlib_module_names]
        return ""

    def prepare(self, environment: Mapping[str, str]) -> Server | None:
        """The loaded Python for starts with these settings of threads, which takes seconds once; None where
        there can be none."""
        key = tuple(environment.get(name) for name in THREADS)
        try:
            with self.lock:
                if not self.why and not self.closed and key not in self.servers:
                    server = self.loaded(dict(zip(THREADS, key, strict=True)))
                    self.servers |= {} if server is None else {key: server}
                return None if self.why else self.servers.get(key)
        finally:
            self.answered.set()

    def fork(self, request: Mapping[str, Any], descriptors: Sequence[int]) -> bool:
        """Have a keeper forked for a request, which gets the descriptors for the output, the lifeline and
        the answer. False where that cannot be: start one, then."""
        server = self.prepare(request["environment"])
        if server is None:
            return False
        try:
            socket.send_fds(server.channel, [json.dumps(request).encode()], list(descriptors))
        except OSError as error:
            self.give_up(f"its process does not listen: {error.strerror}")
            return False
        return True

    def loaded(self, threads: Mapping[str, str | None]) -> Server | None:
        """A Python with the libraries in it, or None; then `why` is set."""
        environment = {**self.base, **scratch.QUIET}
        for name, value in threads.items():
            environment.pop(name, None)
            environment |= {} if value is None else {name: value}
        paths = [p for p in environment.get("PYTHONPATH", "").split(os.pathsep) if p]
        kept = [p for p in map(os.path.abspath, paths) if not scratch.is_within(p, self.project)]
        environment["PYTHONPATH"] = os.pathsep.join(kept)
        environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.room))
        assert self.options is not None
        for _ in range(AGAIN):
            if self.closed:
                return None
            config = {
                "home": str(HOME), "project": str(self.project), "path": kept, "reserve": self.reserve,
                "early": self.early, "late": self.late, "room": str(self.room),
            }  # fmt: skip
            server = self.loading = Server(self.options, config, environment)
            if self.closed:  # meanwhile, by another thread, which did not know this server
                server.process.kill()
            server.listen()
            self.at_once = self.at_once or not (server.why or self.answered.is_set())
            self.answered.set()
            if not server.why:
                return server
            server.close()
            if not server.why.startswith("needs: "):
                break
            needs = top_package(server.why.removeprefix("needs: "))
            self.early = [name for name in self.early if top_package(name) != needs]
        self.why = server.why
        return None

    def give_up(self, why: str) -> None:
        """Make only fresh starts from now on."""
        self.why = self.why or why

    def close(self) -> None:
        """End the loaded Pythons, and one that is still loading. What was forked goes on."""
        self.closed = True
        if self.loading is not None:
            self.loading.process.kill()  # `prepare` holds the lock while it waits for the answer
        with self.lock:
            for server in self.servers.values():
                server.close()
            self.servers.clear()
            temporary.remove_temporary_folder(self.room)


class Server:
    """One loaded Python, which can be forked after `listen`. `why`: what prevents that, or ""."""

    def __init__(
        self, options: Sequence[str], config: Mapping[str, Any], environment: Mapping[str, str]
    ) -> None:
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [*options, str(SERVER), json.dumps({**config, "channel": theirs.fileno()})],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=os.sep,
                env=dict(environment),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self.why = "it was not asked"

    def listen(self) -> None:
        """Wait until its libraries are loaded."""
        self.channel.settimeout(PATIENCE)
        try:
            answer = self.channel.recv(1 << 16)
        except TimeoutError:
            answer = b'{"why": "its libraries take too long to load"}'
        self.why = (
            json.loads(answer)["why"] if answer else "a Python that loads its libraries ends with an error"
        )

    def close(self) -> None:
        self.channel.close()  # it ends then
        if self.why:
            self.process.kill()
        self.process.wait()


def options(command: Sequence[str]) -> list[str] | None:
    """The program of a command with its options, if it is a Python that runs a script or a module, else
    None."""
    if not re.fullmatch(r"python[\d.]*", os.path.basename(command[0])):
        return None
    found, rest = [command[0]], iter(command[1:])
    for word in rest:
        if word in WITH_VALUE:
            found += [word, next(rest, "")]
        elif word in ALONE:
            found.append(word)
        else:
            return found if word == "-m" or word.endswith(".py") else None
    return None


def top_package(name: str) -> str:
    return name.partition(".")[0]


def imported_files(script: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    """The script and the project files that it imports, directly or not: (path, text), each once."""
    waiting, seen = [script], set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        with path.open("rb") as stream:  # a hole of gigabytes is not read to its end
            text = stream.read(FILE_BYTES).decode("utf-8-sig", "replace")
        yield path, text
        for name in imports(text, relative=True):
            parts = name.lstrip(".").split(".")
            for place in (script.parent, folder, path.parent):
                for depth in range(1, len(parts) + 1):
                    below = place.joinpath(*parts[:depth])
                    waiting += [below.with_suffix(".py"), below / "__init__.py"]


def imports(text: str, *, relative: bool = False) -> Iterator[str]:
    """The modules that a source imports: `from a.b import c` names a.b (c may not be a module). With
    `relative` also relative imports, and each name that is imported as a module."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: too deeply nested
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module and (relative or not node.level):
                yield node.module
            if relative:
                yield from (f"{node.module}.{a.name}" if node.module else a.name for a in node.names)

"""A Python that has loaded a script's imports, and is forked for every start of it. It runs on the script's
own interpreter, and `warm` asks it.

`python [options] forking.py CONFIG` with a JSON object: `channel` (the descriptor of a socket), `home`
(the folder of the package), `project`, `path` (entries of PYTHONPATH in force here), `reserve` (a library
that a script must find as if just imported), `early` (modules that it imports, loaded first), `late`
(modules loaded after the reserve), `room` (its folder for temporary files, removed when nobody is left to
ask). It answers why it cannot be forked, or "". Then each message is a request for a keeper, with
`environment` and `folder` in it and three descriptors: for the output, the lifeline and the answer.

A fork undoes in itself what a fresh start would not have: numbers drawn from the system's entropy,
remembered folders, the list of loaded modules. What decides a result is as in a fresh start: the same
options, libraries and threads."""

import atexit
import contextlib
import fcntl
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import sys
import threading
import types
from collections.abc import Callable, Sequence
from typing import Any

MOST = 1 << 20  # bytes of a request
TAKES_VALUE = ("-W", "-X")
FORKED_WELL = (
    "jemalloc_bg_thd",
)  # jemalloc holds its locks during a fork, and restarts the thread in the child


class Reserve(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """A loaded library that stays hidden until the script imports it. Whoever waits for that import sees it
    where it would have happened."""

    def __init__(self, name: str) -> None:
        self.name = name
        below = name + "."
        self.modules = {n: m for n, m in sys.modules.items() if n == name or n.startswith(below)}
        self.spec = self.modules[name].__spec__
        for hidden in self.modules:
            del sys.modules[hidden]

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name == self.name else None

    def create_module(self, spec: object) -> types.ModuleType:
        return self.modules[self.name]

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self.spec
        module.__loader__ = None if self.spec is None else self.spec.loader
        sys.modules.update(self.modules)
        sys.meta_path.remove(self)


def load(config: dict[str, Any]) -> str:
    """Import what must be loaded. Returns why this process cannot be forked, or ""."""
    reserve = config["reserve"]
    for name in config["early"]:
        if is_outside_project(name.partition(".")[0], config["project"]):
            attempt(name)
            if reserve in sys.modules:
                return f"needs: {name}"
    attempt(reserve)
    if reserve not in sys.modules:
        return f"{reserve} cannot be imported"
    sys.path.append(config["home"])
    for name in config["late"]:
        attempt(name)
    sys.path.remove(config["home"])
    if os.fork() == 0:  # libraries that handle forks end their threads before one
        os._exit(0)
    os.wait()
    if threads():
        return f"a library that it imports runs threads ({threads()[0]})"
    cuda = getattr(sys.modules[reserve], "cuda", None)
    if cuda is not None and cuda.is_initialized():
        return "a library that it imports initializes the accelerator"
    return ""


def threads() -> list[str]:
    """The names of the other threads, which a fork would lose."""
    found = []
    for number in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{number}/comm", encoding="utf-8") as name:
            found.append((int(number), name.read().strip()))
    return [name for number, name in found if number != os.getpid() and name not in FORKED_WELL]


def is_outside_project(name: str, project: str) -> bool:
    """Whether a module exists outside of the project, whose copy differs in every start."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    places = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or ())]
    return bool(places) and not any(place.startswith(project.rstrip(os.sep) + os.sep) for place in places)


def attempt(name: str) -> None:
    """Import a module. If that fails, the script will report it."""
    try:
        importlib.import_module(name)
    except (Exception, SystemExit):  # noqa: BLE001 - whatever a library raises, the script will raise it too
        sys.modules.pop(name, None)


def serve(channel: socket.socket, config: dict[str, Any]) -> dict[str, Any]:
    """Fork a keeper for each request, until nobody is left to ask. Returns, in the process of a script, its
    request."""
    from traindx.lab.conduct.keeper import Keeper

    signal.signal(signal.SIGCHLD, reap)
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, MOST, 3)
        if not message:
            shutil.rmtree(config["room"], ignore_errors=True)
            os._exit(0)
        if os.fork() == 0:
            channel.close()
            output, lifeline, answer = descriptors
            for standard in (1, 2):
                os.dup2(output, standard)
            os.close(output)
            request = {**json.loads(message), "lifeline": lifeline, "answer": answer}
            if Keeper(request).run(fork=True):
                return request
            os._exit(0)
        for one in descriptors:
            os.close(one)


def reap(_number: int, _frame: object) -> None:
    """Wait for keepers that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue


def become(request: dict[str, Any], config: dict[str, Any], reserve: Reserve) -> None:
    """Make this process what it would be just after a fresh start."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    given = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:] = [*given, *(entry for entry in sys.path if entry not in config["path"])]
    sys.meta_path.insert(0, reserve)
    reset_library_state(reserve)
    importlib.invalidate_caches()
    sys.orig_argv = list(request["command"])
    sys.modules.pop("sitecustomize", None)
    if importlib.util.find_spec("sitecustomize") is not None:
        importlib.import_module("sitecustomize")


def reset_library_state(reserve: Reserve) -> None:
    """Reset what libraries remember but what differs between processes."""
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None  # type: ignore[attr-defined]
    if "multiprocessing.process" in sys.modules:
        sys.modules["multiprocessing.process"].ORIGINAL_DIR = os.getcwd()  # type: ignore[attr-defined]
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    generator = getattr(reserve.modules[reserve.name], "default_generator", None)
    if generator is not None:
        generator.seed()
    if "random" in sys.modules:
        sys.modules["random"].seed()


def run(command: Sequence[str]) -> None:
    """Run a script or a module as `python` would. The interpreter handles what it raises."""
    place = 1
    while command[place].startswith("-") and command[place] != "-m":
        place += 2 if command[place] in TAKES_VALUE else 1
    main = types.ModuleType("__main__")
    main.__dict__.update(__annotations__={}, __builtins__=sys.modules["builtins"], __package__=None)
    sys.modules["__main__"] = main
    if command[place] == "-m":
        import runpy

        sys.argv[:] = ["-m", *command[place + 2 :]]
        sys.path.insert(0, os.getcwd())
        runpy._run_module_as_main(command[place + 1])  # type: ignore[attr-defined]
        return
    sys.argv[:] = command[place:]
    path = os.path.join(os.getcwd(), command[place].removeprefix("./"))
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    main.__file__, main.__dict__["__cached__"] = path, None
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, main.__dict__)


def main() -> None:
    config = json.loads(sys.argv[1])
    sys.path.pop(0)  # this file's folder
    channel = socket.socket(fileno=config["channel"])
    sys.path.append(config["home"])
    importlib.import_module("traindx.lab.conduct.keeper")
    sys.path.remove(config["home"])
    flags = fcntl.fcntl(channel, fcntl.F_GETFL)
    fcntl.fcntl(channel, fcntl.F_SETOWN, os.getpid())
    # SIGIO ends this process if traindx goes away meanwhile.
    fcntl.fcntl(channel, fcntl.F_SETFL, flags | os.O_ASYNC)
    if select.select([channel], [], [], 0)[0]:  # nothing has been asked, so it closed before that
        shutil.rmtree(config["room"], ignore_errors=True)
        return
    why = load(config)
    fcntl.fcntl(channel, fcntl.F_SETFL, flags)
    channel.send(json.dumps({"why": why}).encode())
    if why:
        return
    gc.collect()
    gc.freeze()  # a collection in a fork would touch, and so copy, all loaded memory
    reserve = Reserve(config["reserve"])
    request = serve(channel, config)
    become(request, config, reserve)
    end(run, request["command"])


def end(work: Callable[[Sequence[str]], None], command: Sequence[str]) -> None:
    """Run a script and end as the interpreter would, but without tearing down what was loaded before the
    fork: that takes longer than a short training. What the script holds open is closed. The interpreter
    handles exceptions."""
    status = 0
    try:
        work(command)
    except SystemExit as asked:
        if asked.code is not None and not isinstance(asked.code, int):
            print(asked.code, file=sys.stderr)
        status = asked.code if isinstance(asked.code, int) else int(asked.code is not None)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.modules["__main__"].__dict__.clear()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status & 0xFF)


if __name__ == "__main__":
    main()

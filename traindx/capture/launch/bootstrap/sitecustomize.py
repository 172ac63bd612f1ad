"""What `traindx run` puts in front of PYTHONPATH: Python imports a module of this name at its start.

It waits, at the cost of one finder on `sys.meta_path`, until the script itself has imported a framework,
and only then loads what of the capture is for it. Nothing is changed in processes that do not train:
launchers pass the request on to the processes they start, workers drop it. A `sitecustomize` of
the environment is run as if this one were not there.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys

TYPE_CHECKING = False  # `typing` is not imported for its own sake in every process
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

VARIABLE = "TRAINDX_CAPTURE"
HERE = os.path.dirname(os.path.abspath(__file__))
# Programs that start the training processes with an environment that they make themselves.
LAUNCHERS = (
    "torchrun",
    "torch.distributed.run",
    "torch.distributed.launch",
    "accelerate",
    "accelerate-launch",
    "accelerate.commands.launch",
    "accelerate.commands.accelerate_cli",
    "deepspeed",
)
WORKERS = ("--multiprocessing-fork", "from multiprocessing")
TAKES_VALUE = ("-W", "-X", "--check-hash-based-pycs")


def program(arguments: list[str]) -> str:
    """What Python was asked to run: the base name of a script, the name of a module, or ""."""
    rest = iter(arguments[1:])
    for word in rest:
        if word in TAKES_VALUE:
            next(rest, None)
        elif word == "-m":
            return next(rest, "")
        elif word == "-c":
            return "-c " + next(rest, "")
        elif not word.startswith("-"):
            return os.path.basename(word)
    return ""


def is_worker(arguments: list[str]) -> bool:
    """A process of the standard library's multiprocessing: its pool, its trackers."""
    return any(word.startswith(start) for word in arguments[1:4] for start in WORKERS)


class Watch:
    """A finder that finds nothing itself: it calls `then(module)` once a wanted module is loaded."""

    def __init__(self) -> None:
        self.wanted: dict[str, Callable[[Any], None]] = {}
        self.last: list[Callable[[], None]] = []  # called at exit, after all exit handlers of the script

    def end(self) -> None:
        for function in self.last:
            function()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """What the finders after this one find, with a loader that calls `then` after it has run the module.
        Whoever only asks whether a module exists (`importlib.util.find_spec`, as Transformers does) changes
        nothing."""
        if name not in self.wanted:
            return None
        spec = None
        for finder in sys.meta_path[
            sys.meta_path.index(self) + 1 :
        ]:  # not the import system: it would ask this one
            spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
            if spec is not None:
                break
        loader: Any = getattr(spec, "loader", None)
        run = getattr(loader, "exec_module", None)
        if run is None:
            return spec

        def exec_module(module: Any) -> None:
            if module.__name__ != name:  # an archive has one loader for all of its modules
                run(module)
                return
            vars(loader).pop("exec_module", None)  # the loader is as it was before the module can see it
            run(module)
            if name in self.wanted:
                self.wanted.pop(name)(module)

        loader.exec_module = exec_module
        return spec


def report(folder: str, stage: str, **more: str) -> None:
    """Append one line to the folder's diary, from which the launcher learns what happened."""
    line = json.dumps({"stage": stage, "pid": os.getpid(), **more}) + "\n"
    try:
        with open(os.path.join(folder, ".launch"), "ab", buffering=0) as diary:
            diary.write(line.encode())
    except OSError as error:
        sys.stderr.write(f"traindx: {folder} cannot be written: {error.strerror}\n")


def withdraw(request: dict[str, Any]) -> None:
    """Make the environment what it was before `traindx run`."""
    os.environ.pop(VARIABLE, None)
    if request["pythonpath"] is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = request["pythonpath"]


def attach(request: dict[str, Any], watch: Watch, name: str, module: object) -> None:
    """Load the capture; without it the script goes on as if there were none."""
    if VARIABLE in os.environ:
        withdraw(request)
    report(request["out"], name, version=str(getattr(module, "__version__", "?")))
    try:
        try:
            import traindx.capture.launch.attach as launch_attach
        except ModuleNotFoundError:  # traindx is installed in another environment
            sys.path.append(request["home"])
            try:
                import traindx.capture.launch.attach as launch_attach
            finally:
                sys.path.remove(request["home"])
        launch_attach.attach(request, watch, name)
    except Exception as error:
        report(request["out"], "failed", why=f"{type(error).__name__}: {error}")
        sys.stderr.write(f"traindx: nothing is recorded ({type(error).__name__}: {error})\n")
        if request.get("with"):  # an experiment is not made without what was to be changed
            raise SystemExit(70) from error


def chain() -> None:
    """Run the environment's own sitecustomize, which this file hides."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
    importlib.invalidate_caches()
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def begin() -> None:
    try:
        request = json.loads(os.environ.get(VARIABLE, ""))
    except ValueError:
        return
    arguments = list(getattr(sys, "orig_argv", ()))
    name = program(arguments)
    if is_worker(arguments) and not request.get("ranks"):
        withdraw(request)
    elif name in LAUNCHERS:
        report(request["out"], "launcher", name=name)
    else:
        report(request["out"], "python", name=name)
        watch = Watch()
        atexit.register(watch.end)  # the first to be registered is the last to run
        for name in request.get(
            "optimizers", ()
        ):  # what is to be done with them is known once a framework is there
            watch.wanted[name] = lambda module: None
        for name in request["frameworks"]:
            watch.wanted[name] = functools.partial(attach, request, watch, name)
        sys.meta_path.insert(0, watch)


if __name__ == "sitecustomize":
    try:
        begin()
    finally:
        chain()

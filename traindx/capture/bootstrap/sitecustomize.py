"""What `traindx run` puts in front of PYTHONPATH: Python imports a module of this name at its start.

It waits, at the cost of one finder on `sys.meta_path`, until the script itself has imported torch,
and only then loads the rest of the capture. Nothing is changed in processes that do not train:
launchers pass the request on to the processes they start, workers drop it. A `sitecustomize` of
the environment is run as if this one were not there.
"""

import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys

VARIABLE = "TRAINDX_CAPTURE"
HERE = os.path.dirname(os.path.abspath(__file__))
# Programs that start the training processes with an environment of their own making.
LAUNCHERS = ("torchrun", "accelerate", "accelerate-launch", "deepspeed", "torch.distributed.run",
             "torch.distributed.launch", "accelerate.commands.launch", "accelerate.commands.accelerate_cli")  # fmt: skip
WORKERS = ("--multiprocessing-fork", "from multiprocessing")
TAKES_VALUE = ("-W", "-X", "--check-hash-based-pycs")


def program(arguments):
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


def is_worker(arguments):
    """A process of the standard library's multiprocessing: its pool, its trackers."""
    return any(word.startswith(start) for word in arguments[1:4] for start in WORKERS)


class Watch:
    """A finder that finds nothing itself: it calls `then(module)` once a wanted module is loaded."""

    def __init__(self):
        self.wanted = {}

    def find_spec(self, name, path=None, target=None):
        if name not in self.wanted:
            return None
        then = self.wanted.pop(name)
        spec = importlib.util.find_spec(name)
        run = getattr(spec.loader, "exec_module", None) if spec is not None else None
        if run is None:
            return spec

        def exec_module(module):
            del spec.loader.exec_module  # the loader is as it was before the module can look at it
            run(module)
            then(module)

        spec.loader.exec_module = exec_module
        return spec


def report(folder, stage, **more):
    """Append one line to the folder's diary, from which the launcher tells what happened."""
    line = json.dumps({"stage": stage, "pid": os.getpid(), **more}) + "\n"
    try:
        with open(os.path.join(folder, ".launch"), "ab", buffering=0) as diary:
            diary.write(line.encode())
    except OSError as error:
        sys.stderr.write(f"traindx: {folder} cannot be written: {error.strerror}\n")


def withdraw(request):
    """Make the environment what it was before `traindx run`."""
    os.environ.pop(VARIABLE, None)
    if request["pythonpath"] is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = request["pythonpath"]


def attach(request, watch, torch):
    """Load the capture; without it the script goes on as if there were none."""
    withdraw(request)
    report(request["out"], "torch", version=str(getattr(torch, "__version__", "?")))
    try:
        try:
            import traindx.capture.launch_attach as launch_attach
        except ModuleNotFoundError:  # traindx lives in an environment of its own
            sys.path.append(request["home"])
            try:
                import traindx.capture.launch_attach as launch_attach
            finally:
                sys.path.remove(request["home"])
        launch_attach.attach(request, watch)
    except Exception as error:  # noqa: BLE001 - a training is never stopped by its observer
        report(request["out"], "failed", why=f"{type(error).__name__}: {error}")
        sys.stderr.write(f"traindx: nothing is recorded ({type(error).__name__}: {error})\n")


def chain():
    """Run the environment's own sitecustomize, which this file stands in front of."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
    importlib.invalidate_caches()
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def begin():
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
        watch.wanted["torch"] = lambda torch: attach(request, watch, torch)
        sys.meta_path.insert(0, watch)


if __name__ == "sitecustomize":
    try:
        begin()
    finally:
        chain()

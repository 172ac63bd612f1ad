"""Scripts started in processes forked from one that has imported torch already: that takes three
seconds with a first optimizer, and most of the scripts that tests run take a tenth of one.

A forked process is the script's alone: arguments, folder, environment, output and `__main__` are those
that Python would have given it, and it ends as Python ends. Recorded ones have the capture attached as
the bootstrap of `traindx run` does; that the bootstrap itself does it is tested in test_scripts.py,
which starts scripts as users do.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


@cache
def server() -> subprocess.Popen[str]:
    """The process that scripts are forked from, made when it is first needed; it ends when its stdin does."""
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    started = subprocess.Popen(
        [sys.executable, "-m", "tests.capture.launch.warm"],
        cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    atexit.register(started.communicate)
    return started


def run(script: Path, folder: Path, env: Mapping[str, str], out: Path | None) -> tuple[int, bytes, bytes]:
    """Run a script in `folder`, recorded into `out` if given; its status, stdout and stderr."""
    warm = server()
    assert warm.stdin is not None
    assert warm.stdout is not None
    printed = [folder / name for name in (".warm-out", ".warm-err")]
    asked = {
        "script": str(script),
        "folder": str(folder),
        "env": dict(env),
        "out": str(out) if out else None,
    }
    warm.stdin.write(json.dumps({**asked, "printed": [str(path) for path in printed]}) + "\n")
    warm.stdin.flush()
    status = int(warm.stdout.readline())
    found = [path.read_bytes() for path in printed]
    for path in printed:
        path.unlink()
    return status, found[0], found[1]


def serve() -> dict[str, Any] | None:
    """Fork for each request; in the child, the request. None when there are no more."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            asked: dict[str, Any] = json.loads(line)
            return asked
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return None


def become(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Make this process that of a script; the names of its `__main__`."""
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    for number, path in enumerate(asked["printed"], 1):
        target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(target, number)
        os.close(target)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["folder"])
    script = asked["script"]
    sys.argv = [script]
    sys.path[0] = os.path.dirname(script)
    module = type(sys)("__main__")
    module.__dict__.update(__file__=script, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    return module.__dict__


def attach(out: str) -> None:
    """What the bootstrap does once the script has imported torch."""
    import importlib.util

    from traindx.capture.launch import attach as launch_attach, command

    spec = importlib.util.spec_from_file_location("warm_bootstrap", command.BOOTSTRAP / "sitecustomize.py")
    assert spec is not None
    assert spec.loader is not None
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    watch = bootstrap.Watch()
    atexit.register(watch.end)
    sys.meta_path.insert(0, watch)
    os.makedirs(out)
    launch_attach.attach({"out": out, "folder": os.getcwd()}, watch, "torch")


def main() -> None:
    import pyarrow.ipc  # noqa: F401 - for all that are forked, as are the next ones
    import torch
    from torch.utils import data  # noqa: F401

    torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)  # the first optimizer loads torch._dynamo

    asked = serve()
    if asked is None:
        return
    names = become(asked)
    if asked["out"] is not None:
        attach(asked["out"])

    def shown(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        """Python's own words, without the frames of this file."""
        while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, "<frozen runpy>"):
            trace = trace.tb_next
        traceback.print_exception(kind, error.with_traceback(trace), trace)

    sys.excepthook = shown
    with open(asked["script"], "rb") as file:
        exec(compile(file.read(), asked["script"], "exec"), names)


if __name__ == "__main__":
    main()

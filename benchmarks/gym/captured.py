"""Every run of the gym is recorded as `traindx run` records it, in the process that was forked for it.

The record lies in `runs/<id>/captured/record`, with what the script printed.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

RECORD = Path("captured") / "record"
OTHERS = ("traindx.capture.keras", "traindx.capture.jax", "traindx.capture.rounds")
WHOLE = "ended"  # written beside the record when the run has ended


def preload() -> None:
    """Import the capture once, before forking, so that all runs are recorded by the same code."""
    import pyarrow.ipc  # noqa: F401
    import torch.utils.data  # noqa: F401

    import traindx.capture as package

    for info in pkgutil.walk_packages(package.__path__, prefix="traindx.capture."):
        if not info.name.endswith((".notebook", ".sitecustomize")) and not info.name.startswith(OTHERS):
            importlib.import_module(info.name)


def begin(folder: Path, script: str, interventions: Sequence[str] = ()) -> None:
    """Attach the capture to this process, with interventions as of `traindx run --with`."""
    from traindx.capture.framework import frameworks

    out = folder / RECORD
    out.mkdir(parents=True)
    sys.argv = [script]
    watch = watcher()
    sys.meta_path.insert(0, watch)
    atexit._clear()  # what the parent would do at its end
    atexit.register(watch.end)
    request = {"out": str(out), "folder": str(folder), "with": list(interventions)}
    for name in (framework.imported for framework in frameworks()):
        found = partial(attached, request, watch, name)
        if name in sys.modules:
            found(sys.modules[name])
        else:
            watch.wanted[name] = found


def attached(request: dict[str, Any], watch: Any, name: str, _module: object) -> None:
    """Look for the trainings of a framework that is imported, as the bootstrap of `traindx run` does."""
    from traindx.capture.launch import attach as launch_attach

    launch_attach.attach(request, watch, name)


def watcher() -> Any:
    """The finder that tells when a module is imported; `traindx run` has it from its sitecustomize."""
    from traindx.capture.launch import command as launch

    spec = importlib.util.spec_from_file_location("gym_bootstrap", launch.BOOTSTRAP / "sitecustomize.py")
    if spec is None or spec.loader is None:
        raise ImportError("the bootstrap of traindx run is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Watch()


def end(folder: Path, status: int) -> None:
    """Close the record, as the exit of the interpreter would, before the model is examined."""
    atexit._run_exitfuncs()
    for name in ("stdout.log", "stderr.log"):
        os.link(folder / name, folder / RECORD / name)
    (folder / RECORD.parent / WHOLE).write_text(f"{status}\n", encoding="utf-8")

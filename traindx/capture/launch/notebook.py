"""`%load_ext traindx`: record whatever trains in the cells that follow.

%load_ext traindx
...train, in as many cells as you like...
%traindx                    the diagnosis so far
%unload_ext traindx         close the record and let go of everything
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from traindx.capture.process.guard import say

RUNS = Path("traindx-runs")


class Notebook:
    """The capture of one kernel. A record begins when something trains, in `folder`; `report` says in
    words what is wrong with the run in a folder."""

    def __init__(self, report: Callable[[Path], str]) -> None:
        from traindx.capture.process.patches import Lines
        from traindx.capture.session.stream import Stream
        from traindx.capture.torch.discover.discovery import Discovery

        self.words = report
        self.folder: Path | None = None
        self.session: Any = None
        self.discovery = Discovery(Stream(self.open_session, Lines(os.getcwd()), lambda _steps: None, self.report))
        self.discovery.attach()
        atexit.register(self.close)

    def open_session(self) -> Any:
        from traindx.capture.torch.backend import torch_session

        self.folder = RUNS / f"notebook-{time.strftime('%Y%m%d-%H%M%S')}"
        self.session = torch_session(self.folder)
        return self.session

    def report(self, stage: str, **more: Any) -> None:
        """Nobody needs to be told how far it got: the notebook is at hand."""

    def flush(self) -> Path | None:
        """Write what was measured so far; the folder, None where nothing has trained yet."""
        if self.session is not None:
            self.session.flush()
        return self.folder

    def close(self) -> None:
        atexit.unregister(self.close)
        self.discovery.end()
        if self.session is not None:
            self.session.close()


LOADED: list[Notebook] = []  # at most one: a kernel is recorded once


def load(shell: Any, report: Callable[[Path], str]) -> None:
    """Begin to look for trainings in a shell of IPython. Imports torch, which a notebook that trains needs anyway."""
    if LOADED:
        return
    LOADED.append(Notebook(report))
    shell.register_magic_function(diagnosis, "line", "traindx")


def unload(shell: Any) -> None:
    """Let go of everything."""
    for notebook in LOADED:
        notebook.close()
    LOADED.clear()
    shell.magics_manager.magics["line"].pop("traindx", None)


def diagnosis(line: str = "") -> Any:
    """`%traindx`: the diagnosis of what was recorded so far."""
    folder = LOADED[0].flush() if LOADED else None
    if folder is None:
        say("nothing has trained yet in this notebook since %load_ext traindx")
        return None
    print(LOADED[0].words(folder))
    return None

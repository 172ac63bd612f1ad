"""`%load_ext traindx`: record whatever trains in the cells that follow.

%load_ext traindx
...train, in as many cells as you like...
%traindx                    the diagnosis so far
%unload_ext traindx         close the record and let go of everything

A cell that begins with %%traindx is a record of its own, each time that it is run; its page is shown below it.
"""

from __future__ import annotations

import atexit
import html
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from traindx.capture.launch.folder import run_folder
from traindx.capture.process.guard import ran_out_of_memory, say

RUNS = Path("traindx-runs")
HEIGHT = 720  # pixels of the page below a cell; it scrolls


class Notebook:
    """The capture of one kernel. A record begins when something trains, in `folder`; `diagnose` says what is wrong
    with the run in a folder."""

    def __init__(self, diagnose: Callable[[Path], Any]) -> None:
        from traindx.capture.process.patches import Lines
        from traindx.capture.session.stream import Stream
        from traindx.capture.torch.discover.discovery import Discovery

        self.diagnose = diagnose
        self.folder: Path | None = None
        self.session: Any = None
        self.discovery = Discovery(Stream(self.open_session, Lines(os.getcwd()), lambda _steps: None, self.report))
        self.discovery.attach()
        atexit.register(self.close)

    def open_session(self) -> Any:
        from traindx.capture.torch.backend import torch_session

        self.folder = run_folder(["notebook"], RUNS)
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

    def crashed(self, error: BaseException) -> None:
        """What ended the training of a cell."""
        if self.session is None:
            return
        kind = type(error).__name__
        if isinstance(error, KeyboardInterrupt):
            self.session.event("stopped", "interrupted", "interrupted")
        else:
            self.session.event(
                "out-of-memory" if ran_out_of_memory(error) else "crash", f"{kind}: {error}"[:2000], kind
            )


class Shown:
    """A diagnosis as the value of a cell: the page where there is HTML, in a frame of its own that shares no style and
    no script with the notebook; else the text."""

    def __init__(self, diagnosis: Any) -> None:
        self.diagnosis = diagnosis

    def __repr__(self) -> str:
        return str(self.diagnosis.to_text())

    def _repr_html_(self) -> str:
        page = html.escape(self.diagnosis.to_html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="traindx" '
            f'style="width:100%;height:{HEIGHT}px;border:0;background:white"></iframe>'
        )


LOADED: list[Notebook] = []  # at most one: a kernel is recorded once
SHELLS: list[Any] = []  # the shell that it was loaded in


def load(shell: Any, diagnose: Callable[[Path], Any]) -> None:
    """Begin to look for trainings in a shell of IPython. Imports torch, which a notebook that trains needs anyway."""
    if LOADED:
        return
    LOADED.append(Notebook(diagnose))
    SHELLS[:] = [shell]
    shell.register_magic_function(diagnosis, "line", "traindx")
    shell.register_magic_function(cell, "cell", "traindx")


def unload(shell: Any) -> None:
    """Let go of everything."""
    for notebook in LOADED:
        notebook.close()
    LOADED.clear()
    SHELLS.clear()
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("traindx", None)


def diagnosis(line: str = "") -> Shown | None:
    """`%traindx`: the diagnosis of what was recorded so far."""
    folder = LOADED[0].flush() if LOADED else None
    if folder is None:
        say("nothing has trained yet in this notebook since %load_ext traindx")
        return None
    return Shown(LOADED[0].diagnose(folder))


def cell(line: str, text: str) -> Shown | None:
    """`%%traindx`: run the cell as it is, in a record of its own, and show what it says."""
    before = LOADED.pop()
    before.close()
    own = Notebook(before.diagnose)
    try:
        ended = SHELLS[0].run_cell(text, store_history=False)
        if ended.error_in_exec is not None:
            own.crashed(ended.error_in_exec)
    finally:
        own.close()
        LOADED.append(Notebook(before.diagnose))  # for the cells that follow, in another record
    if own.folder is None:
        say("nothing trained in this cell" + ("" if ended.success else ", which ended with an error"))
        return None
    return Shown(own.diagnose(own.folder))

"""`%load_ext traindx`: record whatever trains in the cells that follow, in any framework that is recorded.

%load_ext traindx
...train, in as many cells as you like...
%traindx                    the diagnosis so far
%unload_ext traindx         close the record and remove all hooks

A cell that begins with %%traindx has its own record, each time that it is run; its page is shown below
it."""

from __future__ import annotations

import atexit
import html
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.capture.process.guard import say

if TYPE_CHECKING:
    from traindx.capture.framework import Framework

RUNS = Path("traindx-runs")
HEIGHT = 720  # pixels of the page below a cell; it scrolls


class Notebook:
    """The capture of one kernel, or of one cell, in any framework that is recorded. A record begins when
    something trains, in `folder` (None until then); `diagnose` says what is wrong with the run in a
    folder."""

    def __init__(self, diagnose: Callable[[Path], Any]) -> None:
        from traindx.capture.framework import frameworks
        from traindx.capture.launch.attach import Process
        from traindx.capture.launch.bootstrap.sitecustomize import Watch

        self.diagnose = diagnose
        self.folder: Path | None = None
        self.process = Process({"out": str(new_folder()), "folder": os.getcwd(), "notebook": True})
        self.process.watch = self._watch = Watch()
        sys.meta_path.insert(0, self._watch)
        for framework in frameworks():
            if framework.imported in sys.modules:
                framework.attach(self.process)
            else:
                self._watch.wanted[framework.imported] = partial(self._imported, framework)
        atexit.register(self.close)

    def _imported(self, framework: Framework, module: object) -> None:
        framework.attach(self.process)

    def flush(self) -> Path | None:
        """Write what was measured so far; the folder, None where nothing has trained yet."""
        if self.process.session is not None:
            self.folder = self.process.out
            self.process.session.flush()
        return self.folder

    def close(self) -> None:
        """Close the record and remove all hooks."""
        atexit.unregister(self.close)
        self._watch.wanted.clear()
        if self._watch in sys.meta_path:
            sys.meta_path.remove(self._watch)
        if self.process.session is not None:
            self.folder = self.process.out
            self.process.end()
        else:
            for end in self.process.ends:
                end()

    def crashed(self, error: BaseException) -> None:
        """What ended the training of a cell."""
        if isinstance(error, KeyboardInterrupt) and self.process.session is not None:
            self.process.session.event("stopped", "interrupted", "interrupted")
        else:
            self.process.crashed(error)


def new_folder() -> Path:
    """A folder that is not there, and is made when something trains: of a cell that is run again, too."""
    name = f"notebook-{time.strftime('%Y%m%d-%H%M%S')}"
    paths = (RUNS / (name if i == 1 else f"{name}-{i}") for i in count(1))
    return next(path for path in paths if not path.exists())


class Shown:
    """A diagnosis as the value of a cell: the page where there is HTML, in a frame that shares no
    style and no script with the notebook; else the text."""

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
    """Begin to look for trainings in a shell of IPython."""
    if LOADED:
        return
    LOADED.append(Notebook(diagnose))
    SHELLS[:] = [shell]
    shell.register_magic_function(diagnosis, "line", "traindx")
    shell.register_magic_function(cell, "cell", "traindx")


def unload(shell: Any) -> None:
    """Close the record and remove all hooks."""
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
    """`%%traindx`: run the cell as it is, in its own record, and show the diagnosis."""
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

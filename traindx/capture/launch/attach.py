"""In the script's process: called by the bootstrap once the script has imported torch.

Nothing is recorded until something trains. The session is opened by the first process of each rank
that does; a forked child of it keeps silent.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import multiprocessing.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from traindx.capture.launch import scrape
from traindx.capture.launch.endings import close_when_asked, hide_wrappers
from traindx.capture.process.guard import ran_out_of_memory, say
from traindx.capture.process.patches import Lines
from traindx.capture.process.ranks import rank_of_process
from traindx.capture.process.room import why_no_room
from traindx.capture.session.session import Session
from traindx.capture.session.stream import Stream
from traindx.capture.torch.backend import torch_session
from traindx.capture.torch.discover.discovery import Discovery
from traindx.capture.torch.experiment.experiment import Experiment
from traindx.capture.torch.interventions import parse

OPTIONS = ("every", "updates", "curvature", "patient", "overhead")


class StopRun(SystemExit):
    """Raised in the script after the last of `--steps`. A SystemExit, so that `except Exception`
    does not catch it, `with` and `finally` are run, and Python ends with status 0, silently."""


VARIABLE = "TRAINDX_CAPTURE"
BOOTSTRAP = Path(__file__).parent / "bootstrap"
PATIENCE = 20  # times that a script may catch StopRun before it is ended without asking


class Process:
    """The script's process while it is recorded."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.out = Path(request["out"])
        self.pid = os.getpid()
        self.session: Session | None = None
        self.stops = 0
        self.told: set[str] = set()
        self.lines = Lines(request.get("folder") or os.getcwd())
        self.stream = Stream(self.open_session, self.lines, self.after_step, self.report)
        self.discovery = Discovery(self.stream)
        self.live: Any = None  # keeps the last step for the probes of `traindx check`
        if request.get("probes"):
            from traindx.capture.torch.checks.last_step import Live

            self.live = Live(self.stream)
        self.experiment = Experiment(request, self.stream, parse(request.get("with") or ()))

    def report(self, stage: str, **more: Any) -> None:
        """Tell the launcher, once for each stage."""
        if stage in self.told:
            return
        self.told.add(stage)
        line = json.dumps({"stage": stage, "pid": os.getpid(), **more}) + "\n"
        with contextlib.suppress(OSError), open(self.out / ".launch", "ab", buffering=0) as diary:
            diary.write(line.encode())  # a disk that is full will be told of when the record is written

    def open_session(self) -> Session | None:
        """The session of this process; None where another process of the same rank was first, or
        in a child that was forked while its parent was recorded."""
        if os.getpid() != self.pid:
            if self.session is not None:
                self.report("forked")
                return None
            self.pid = os.getpid()  # forked before anything trained: this one may be the one that does
            multiprocessing.util.Finalize(None, self.end, exitpriority=0)  # forked workers run no atexit
        rank = rank_of_process()
        wanted = self.request
        why = why_no_room()
        if why:
            self.not_recorded(why)
            return None
        try:
            os.close(os.open(self.out / f".claim-{rank}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            self.session = torch_session(self.out, rank=rank, **options_of(wanted))
        except FileExistsError:
            self.report("second", rank=rank)
            return None
        except (OSError, MemoryError, ImportError) as error:  # ImportError: no room to load a library
            self.not_recorded(f"{type(error).__name__}: {error}")
            return None
        self.report("recording", rank=rank)
        if wanted.get("asked"):
            close_when_asked(self.stopped)
        return self.session

    def not_recorded(self, why: str) -> None:
        """There can be no session: say so, here and to the launcher."""
        say(f"nothing is recorded ({why}); the training goes on")
        self.report("failed", why=why)

    def after_step(self, steps: int) -> None:
        """End the script after the last step that was asked for."""
        limit = self.request.get("steps")
        if not limit or steps < limit or os.getpid() != self.pid:
            return
        if not self.stops and self.session is not None:
            self.look()
            self.session.event("stopped", f"ended after {steps} steps, as asked for by --steps", "steps-limit")
            self.session.flush()
        self.stops += 1
        if self.stops > PATIENCE:
            self.end()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(0)
        raise StopRun(0)

    def look(self) -> None:
        """Ask the probes about the live model, once, where they were asked for."""
        live, self.live = self.live, None
        if live is None or self.session is None:
            return
        from traindx.capture.torch.checks.probes import look_at

        look_at(live, self.stream, self.session)

    def end(self) -> None:
        """Write everything, and how the script ended. Runs at the exit of the interpreter."""
        if self.session is None or os.getpid() != self.pid:
            return
        error = getattr(sys, "last_value", None)
        if isinstance(error, KeyboardInterrupt):
            self.session.event("stopped", "interrupted by Ctrl-C", "interrupted")
        elif error is not None:
            self.crashed(error)
        self.experiment.end()
        self.discovery.end()
        self.session.close()
        self.session = None

    def crashed(self, error: BaseException) -> None:
        kind = type(error).__name__
        where = self.lines.of_error(error)
        text = f"{kind}: {error}" + (f" ({where})" if where else "")
        if self.session is not None:
            self.session.event("out-of-memory" if ran_out_of_memory(error) else "crash", text[:2000], kind)

    def start_ranks(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Processes that `torch.multiprocessing.spawn` starts are the ranks of a training: while they
        start, the request stands in the environment."""

        def start_processes(*args: Any, **named: Any) -> Any:
            before = {name: os.environ.get(name) for name in (VARIABLE, "PYTHONPATH")}
            given = [before["PYTHONPATH"]] if before["PYTHONPATH"] else []
            os.environ["PYTHONPATH"] = os.pathsep.join([str(BOOTSTRAP), *given])
            os.environ[VARIABLE] = json.dumps({**self.request, "ranks": True, "pythonpath": before["PYTHONPATH"]})
            try:
                return original(*args, **named)
            finally:
                for name, value in before.items():
                    if value is None:
                        os.environ.pop(name, None)
                    else:
                        os.environ[name] = value

        return start_processes

    def stopped(self, how: str) -> None:
        """An experiment is asked to end: close the record."""
        if self.session is not None and os.getpid() == self.pid:
            self.session.event("stopped", how, "terminated")
            self.experiment.end()
            self.discovery.end()
            self.session.close()


def attach(request: dict[str, Any], watch: Any) -> None:
    """Start to look for a training in this process. `watch.wanted` takes what is to be called once
    a module has been imported."""
    if request.get("profile"):
        from traindx.capture.launch.profiled import Profiled

        watch.last.append(Profiled(request, lambda: StopRun(0)).end)
        return
    process = Process(request)
    process.experiment.attach_first()
    process.discovery.attach(process.experiment.attach)
    scrape.attach(process.stream, watch.wanted)
    starter = sys.modules.get("torch.multiprocessing.spawn")
    for home in (starter, sys.modules.get("torch.multiprocessing")):
        if home is not None:
            process.stream.patches.replace(home, "start_processes", process.start_ranks)
    watch.last.append(process.end)
    hide_wrappers()


def options_of(request: dict[str, Any]) -> dict[str, Any]:
    """What a request says of a session, where it says something."""
    return {name: request[name] for name in OPTIONS if request.get(name) is not None}

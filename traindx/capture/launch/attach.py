"""In the script's process: called by the bootstrap once the script has imported a framework.

Nothing is recorded until something trains. The session is opened by the first framework that does, in the
first process of each rank; a forked child of it keeps silent.

A recorded script ends as it would without us: nothing of ours is where the script could find it. No handler
of signals, no `sys.excepthook`; the record is closed by the last exit handler (registered by the bootstrap
before any other, so that it runs after all of them), and what a signal leaves unwritten is at most two
seconds. An experiment is ours, and is ended by SIGTERM: there the record is closed first."""

import atexit
import contextlib
import multiprocessing.util
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic  # the function itself: a script may replace it in its module
from types import FrameType
from typing import Any

from traindx.atomic_write import make_folder
from traindx.capture.framework import frameworks
from traindx.capture.launch import diary
from traindx.capture.launch.folder import STOP_FILE
from traindx.capture.launch.scrape import attach as scrape
from traindx.capture.process.address_space import why_no_room
from traindx.capture.process.guard import ran_out_of_memory, say
from traindx.capture.process.patches import Lines, without_wrappers
from traindx.capture.process.ranks import processes_of_run, rank_of_process
from traindx.capture.session import STOPPED, Backend, Session, Stream

OPTIONS = ("every", "updates", "curvature", "patient", "overhead")


PATIENCE = 20  # times that a script may catch StopRun before it is ended without asking
STOP_EVERY = 0.5  # seconds between two looks for the file by which `--stop-on` ends the script


class Process:
    """The script's process while it is recorded: a `RecordedProcess`."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.out = Path(request["out"])
        self.records = 0  # that were closed: of models that were trained before, each by itself
        self.pid = os.getpid()
        self.session: Session | None = None
        self.stops, self.status = 0, 0  # of StopRun
        self.stop_file = self.out / STOP_FILE if request.get("stop_on") else None
        self.stop_due = 0.0
        self.reported: set[str] = set()
        self.lines = Lines(request.get("folder") or os.getcwd())
        self.streams: list[Stream] = []  # of each framework
        self.ends: list[Callable[[], None]] = []  # before the record is closed
        self.experiments: dict[
            Stream, Callable[[], None]
        ] = {}  # what takes a framework's interventions away
        self.last_check: Callable[[Session], None] | None = None
        self.watch: Any = None  # the bootstrap's finder

    def stream(self, backend: Callable[[], Backend]) -> Stream:
        """A stream of events. When something trains, it opens a session with the backend that `backend()`
        returns."""
        made = Stream(lambda: self.open_session(backend), self.lines, self.after_step, self.report)
        self.streams.append(made)
        scrape(made, self.watch.wanted)
        return made

    def claim_process(self, by: Stream) -> bool:
        """A framework trains: the others, through which it may compute, keep silent. False where one of them
        is recorded already. An experiment that this one knows nothing of ends the script."""
        if self.session is not None:
            return False
        if self.request.get("with") and by not in self.experiments:
            labels = " and ".join(framework.label for framework in frameworks("experiment"))
            why = f"interventions (--with) change trainings of {labels} only"
            self.report("experiment", why=why)
            say(why)
            raise SystemExit(70)
        for other in self.streams:
            if other is not by:
                other.detach()
                self.experiments.pop(other, lambda: None)()
        return True

    def report(self, stage: str, **more: Any) -> None:
        """Report to the launcher, once for each stage."""
        if stage in self.reported:
            return
        self.reported.add(stage)
        diary.write_stage(self.out, stage, **more)

    def open_session(self, backend: Callable[[], Backend]) -> Session | None:
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
            self.report_no_record(why)
            return None
        try:
            out = self.out / f"model-{self.records + 1}" if self.records else self.out
            make_folder(out)
            os.close(os.open(out / f".claim-{rank}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            self.session = Session(out, backend(), rank=rank, **options_of(wanted))
        except FileExistsError:
            self.report("second", rank=rank)
            return None
        except (OSError, MemoryError, ImportError) as error:  # ImportError: no room to load a library
            self.report_no_record(f"{type(error).__name__}: {error}")
            return None
        self.report("recording", rank=rank)
        if wanted.get("asked"):
            close_when_asked(self.stopped)
        return self.session

    def begin_anew(self) -> None:
        """Another model is trained, by itself: what was recorded is closed, and the next session is one of
        its own."""
        if self.session is not None:
            self.session.close()
        self.session = None
        self.records += 1

    def report_no_record(self, why: str) -> None:
        """There can be no session: say so, here and to the launcher."""
        say(f"nothing is recorded ({why}); the training goes on")
        self.report("failed", why=why)

    def after_step(self, steps: int) -> None:
        """End the script after the last step that was asked for, or when a finding asks for its end."""
        if self.stop_file is not None and (self.status or monotonic() >= self.stop_due):
            self.check_for_stop(self.stop_file, steps)
        limit = self.request.get("steps")
        if not limit or steps < limit or os.getpid() != self.pid:
            return
        if not self.stops and self.session is not None:
            if self.last_check is not None:
                self.last_check(self.session)
            self.session.event(
                "stopped", f"ended after {steps} steps, as asked for by --steps", "steps-limit"
            )
            self.session.flush()
            self.report("steps")
        self.stop()

    def check_for_stop(self, file: Path, steps: int) -> None:
        """End the script where the process that judges it (`live/judge.py`) has written why."""
        self.stop_due = monotonic() + STOP_EVERY
        if os.getpid() != self.pid or not file.exists():
            return
        if processes_of_run() > 1:  # the others would wait for this one
            self.stop_file = None
            say("--stop-on ends a training of one process only; this one goes on")
            return
        if not self.stops and self.session is not None:
            why = file.read_text("utf-8")
            self.status = STOPPED
            self.session.event("stopped", f"ended after {steps} steps by --stop-on: {why}", "stopped-on")
            self.session.flush()
            self.report("stopped-on", steps=steps, why=why)
        self.stop()

    def stop(self) -> None:
        """Raise StopRun; a script that catches it again and again is ended without asking."""
        self.stops += 1
        if self.stops > PATIENCE:
            self.end()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(self.status)
        raise StopRun(self.status)

    def end(self) -> None:
        """Write everything, and how the script ended. Runs at the exit of the interpreter."""
        if self.session is None or os.getpid() != self.pid:
            return
        notebook = self.request.get("notebook")  # in which an error is some cell's, and ends nothing
        error = None if notebook else getattr(sys, "last_value", None)
        if isinstance(error, KeyboardInterrupt):
            self.session.event("stopped", "interrupted by Ctrl-C", "interrupted")
        elif (
            error is not None and not self.stops
        ):  # what fails on the way out after our stop is no fault of the run
            self.crashed(error)
        for end in self.ends:
            end()
        self.session.close()
        self.session = None

    def crashed(self, error: BaseException) -> None:
        kind = type(error).__name__
        where = self.lines.of_error(error)
        text = f"{kind}: {error}" + (f" ({where})" if where else "")
        if self.session is not None:
            self.session.event("out-of-memory" if ran_out_of_memory(error) else "crash", text[:2000], kind)

    def stopped(self, how: str) -> None:
        """An experiment is asked to end: close the record."""
        if self.session is not None and os.getpid() == self.pid:
            if not self.stops:
                self.session.event("stopped", how, "terminated")
            for end in self.ends:
                end()
            self.session.close()


PROCESS: list[Process] = []  # at most one: a process is recorded once


def attach(request: dict[str, Any], watch: Any, imported: str) -> None:
    """Start to look for trainings of the framework whose module was imported. `watch.wanted` takes what is
    to be called once a module has been imported."""
    if not PROCESS and not watch.last:
        hide_wrappers()
    if request.get("profile"):
        from traindx.capture.launch.profiled import Profiled

        watch.last.append(Profiled(request, lambda: StopRun(0)).end)
        return
    if not PROCESS:
        PROCESS.append(Process(request))
        PROCESS[0].watch = watch
        watch.last.append(PROCESS[0].end)
    next(framework for framework in frameworks() if framework.imported == imported).attach(PROCESS[0])


def options_of(request: dict[str, Any]) -> dict[str, Any]:
    """What a request says of a session, where it says something."""
    return {name: request[name] for name in OPTIONS if request.get(name) is not None}


class StopRun(SystemExit):
    """Raised in the script after the last of `--steps`, or by `--stop-on`. A SystemExit, so that `except Exception`
    does not catch it, `with` and `finally` are run, and Python ends silently with the status that it is given."""


def hide_wrappers() -> None:
    """Tracebacks of uncaught errors show the user's frames only, whoever prints them: Python calls its audit
    hooks with such an error before it calls `sys.excepthook`."""

    def hook(event: str, given: tuple[object, ...], wanted: str = "sys.excepthook") -> None:
        if event == wanted and isinstance(given[2], BaseException):
            with contextlib.suppress(MemoryError):  # of which the error may be; then all frames are shown
                without_wrappers(given[2])
                hide_stop_request(given[2])

    sys.addaudithook(hook)


def hide_stop_request(error: BaseException) -> None:
    """An error in the script's `finally:` is shown as if `StopRun` had not been on its way."""
    while error.__context__ is not None:
        if isinstance(error.__context__, StopRun):
            error.__context__ = None
            return
        error = error.__context__


def close_when_asked(close: Callable[[str], None]) -> None:
    """Call `close(how)` before SIGTERM ends this process, where the script has no handler for it."""

    def terminated(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        close(f"ended by {signal.Signals(number).name}")
        os.kill(os.getpid(), number)

    main = threading.current_thread() is threading.main_thread()
    if main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminated)

"""Starts of an unmodified script that are recorded and read back: joins the experiment with capture."""

import contextlib
import importlib
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from traindx import pipeline
from traindx.capture.framework import frameworks
from traindx.capture.interventions import parse
from traindx.capture.launch.command import Ended, Request, environment
from traindx.capture.launch.folder import start_folder
from traindx.capture.launch.stages import experiment_stopped, has_records, steps_over, why_nothing
from traindx.errors import ReadError
from traindx.lab.conduct import experiment
from traindx.lab.conduct.warm import Warm
from traindx.vocabulary import Run

GLANCE = 1.0  # seconds between two reads of a record that is being written, at least
# What is loaded after PyTorch where starts are forked: what its first optimizer loads, and what a recording
# does.
LATE = ("torch._dynamo", "traindx.capture.launch.attach", "traindx.capture.torch.launched", "pyarrow.ipc")
# What traindx itself will need, imported while another process loads the script's libraries.
MEANWHILE = ("traindx.lab.edits.api", "pyarrow.compute", "numpy.ma", "matplotlib.backends.backend_agg")
TRACES = "*.pt.trace.json.gz"
PATIENT = 10.0  # times as long as the last read took


def record(
    out: Path,
    interventions: Sequence[str],
    steps: int | None,
    base: Mapping[str, str],
    folder: str,
    overhead: float | None = None,
    probes: str = "",
    keep: bool = False,
    slices: tuple[str, ...] = (),
    profile: tuple[int, int] | None = None,
) -> dict[str, str]:
    """Make the folder `out` and the environment in which a command records itself there. `overhead` is the
    share of the run's time that this may take (None: the usual).

    Raises ConfigError where the folder cannot be made, or an intervention is unknown."""
    given = tuple(found.spec for found in parse(interventions))
    start_folder(out)
    asked = Request(
        out, steps, interventions=given, asked=True, overhead=overhead, probes=probes or False, keep=keep,
        slices=slices, profile=profile,
    )  # fmt: skip
    return environment(asked, base, folder)


class Attempt(NamedTuple):
    """One start of the script: how it went, and its record, or why there is none."""

    conducted: experiment.Conducted
    run: Run | None
    why: str = ""


class WayOut:
    """Whether a script takes longer than `patience` seconds to end after its last step. A script that waits
    for a hanging thread or worker would wait forever."""

    def __init__(self, out: Path, patience: float = 10.0) -> None:
        self.out, self.patience = out, patience
        self.end: float | None = None

    def __call__(self) -> bool:
        if self.end is None and steps_over(self.out):
            self.end = time.monotonic() + self.patience
        return self.overdue

    @property
    def overdue(self) -> bool:
        return self.end is not None and time.monotonic() > self.end


def conduct(
    command: Sequence[str],
    interventions: Sequence[str] = (),
    *,
    out: Path,
    record: experiment.Recording = record,
    until: Callable[[], bool] | None = None,
    **options: Any,
) -> experiment.Conducted:
    """As `experiment.conduct`, but a script that hangs after its last step is ended and counts as
    finished."""
    leaving = WayOut(out)
    over = (lambda: leaving() or until()) if until else leaving
    done = experiment.conduct(command, interventions, record=record, out=out, until=over, **options)
    return (
        done._replace(ended="finished", status=0, signal=0)
        if done.ended == "stopped" and leaving.overdue
        else done
    )


class RecordWatch:
    """Asks a question about a record while it is being written, not too often."""

    def __init__(self, out: Path, question: Callable[[Run], bool]) -> None:
        self.out, self.question = out, question
        self.next = time.monotonic() + GLANCE

    def __call__(self) -> bool:
        begun = time.monotonic()
        if begun < self.next or not has_records(self.out):
            return False
        try:
            answer = self.question(pipeline.read(self.out))
        except ReadError:
            answer = False  # the first batch is incomplete
        now = time.monotonic()
        self.next = now + max(GLANCE, PATIENT * (now - begun))
        return answer


def attempt(
    command: Sequence[str],
    out: Path,
    interventions: Sequence[str],
    steps: int | None,
    over: Callable[[Run], bool] | None = None,
    *,
    overhead: float | None = None,
    warm: Warm | None = None,
    probes: str = "",
    keep: bool = False,
    slices: tuple[str, ...] = (),
    profile: tuple[int, int] | None = None,
    **bounds: Unpack[experiment.Bounds],
) -> Attempt:
    """Run the command once, and read its record. `over` is asked about the record so far, and may end the
    run; `overhead` is the share of its time that recording may take; `probes`, `keep`, `slices` and
    `profile`: see `Request`."""
    done = conduct(
        command,
        interventions,
        record=partial(record, overhead=overhead, probes=probes, keep=keep, slices=slices, profile=profile),
        out=out,
        steps=steps,
        until=None if over is None else RecordWatch(out, over),
        warm=warm,
        **bounds,
    )
    traces = sorted(out.glob(TRACES)) if profile is not None else []
    if traces:
        return Attempt(done, pipeline.read(traces[0]))
    refused = experiment_stopped(out)
    if refused or not has_records(out):
        return Attempt(done, None, refused or why_no_record(done, command))
    return Attempt(done, pipeline.read(out))


class Starter:
    """Starts one command again and again, from a Python that has loaded its libraries where possible. A
    failed fork is replaced by a fresh start. The unchanged script, without intervention or seed, starts
    as soon as it is known whether that Python loads at the first try, with as many `threads` as the runs
    that it is compared with."""

    def __init__(self, command: Sequence[str], folder: Path, threads: int | None = None) -> None:
        self.warm = Warm(command, folder, reserve="torch", late=LATE)
        self.threads = threads
        self.asked = False

    def __call__(
        self,
        command: Sequence[str],
        out: Path,
        interventions: Sequence[str],
        steps: int | None,
        **options: Any,
    ) -> Attempt:
        warm: Warm | None = self.warm
        if not interventions:
            options["threads"] = self.threads
            warm = self.warm if self.loads() else None
        self.asked = True
        tried = attempt(command, out, interventions, steps, warm=warm, **options)
        done = tried.conducted
        # The run of the unchanged script is started again, in case the fork caused its failure.
        recorded_change = bool(interventions) and tried.run is not None
        if not done.warm or done.ok or done.ended != "finished" or recorded_change:
            return tried
        shutil.rmtree(out)
        again = attempt(command, out, interventions, steps, **options)
        if again.conducted.ok or (again.run is not None and tried.run is None):
            self.warm.give_up(f"in one of these the script {done.describe_end()}")
        return again

    def loads(self) -> bool:
        """Start loading the libraries. Whether that worked at the first try; further tries go on in the
        background."""
        environment = experiment.with_threads(self.warm.base, self.threads)
        threading.Thread(target=self.warm.prepare, args=(environment,), daemon=True).start()
        for name in MEANWHILE:
            with contextlib.suppress(ImportError):  # an extra that is not installed is not needed either
                importlib.import_module(name)
        self.warm.answered.wait()
        return self.warm.at_once

    def note(self) -> str:
        """What the user should know about the starts, or ""."""
        why = self.warm.why if self.asked else ""
        return f"every start loaded its libraries anew: {why}" if why else ""


def why_no_record(done: experiment.Conducted, command: Sequence[str]) -> str:
    """Why a command left no record."""
    if done.ended != "finished":
        return f"the script {done.describe_end()} before its first step"
    why = why_nothing(
        done.out, command, Ended(done.status, done.signal, done.seconds), frameworks("experiment")
    )
    return (
        why
        if done.ok
        else ". ".join(
            filter(None, [f"{why}; its last output: {experiment.last_line(done.tail)}", done.wish()])
        )
    )


def fence_notes(done: experiment.Conducted) -> list[str]:
    """What the user should know where the kernel did not confine the script, and about the network."""
    changed, linked = (name_some(names) for names in (done.changed, done.linked))
    return [
        # If everything was fenced, somebody else changed these files.
        *([f"files of the project changed meanwhile: {changed}"] if changed and done.unfenced else []),
        *([f"not copied, and not protected from the script on this system: {linked}"]
          if linked and not done.fenced else []),
        *filter(None, [done.wish()]),
    ]  # fmt: skip


def name_some(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

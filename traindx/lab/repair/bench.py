"""Where arms are run: the user's script under interventions with one seed, each combination once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, Unpack

import msgspec
import numpy as np

from traindx import pipeline
from traindx.errors import ExperimentFailed, ReadError
from traindx.lab.conduct.attempts import Attempt
from traindx.lab.conduct.experiment import Asked, Reach
from traindx.lab.conduct.journal import Journal
from traindx.lab.conduct.parallel import run_all, threads_each
from traindx.lab.repair.deadline import OutOfTime, at_most
from traindx.lab.repair.source import Source, outside
from traindx.vocabulary.run import Run, Series
from traindx.whole import make_folder

RECORDS = "records"
OVERHEAD = (
    0.2  # share of a start's time for looking at it: what the outputs tell may be all there is to compare
)
QUARTER = 4.0  # part of the budget for the script as it is
TIME_LIMIT = "its time limit"  # in the words of trials.conduct
ENDING = 3.0  # seconds of the budget that are left for ending the first start, and reading its record
LEAST_LIMIT, TIMES = 60.0, 5.0  # seconds of each start at least, and times what the first one took
Found = TypeVar("Found")
Key = tuple[tuple[str, ...], int | None]
Long = tuple[Key, int | None]  # and the steps of it


class Start(Protocol):
    """Starts the script under interventions, recorded into `out`."""

    def __call__(
        self,
        command: Sequence[str],
        out: Path,
        interventions: Sequence[str],
        steps: int | None,
        **asked: Unpack[Asked],
    ) -> Attempt: ...


class Arm(NamedTuple):
    """One start that came to its end. `run` is None where nothing was recorded, `why` then says why; `ok`: the
    script came as far as it was to."""

    interventions: tuple[str, ...]
    seed: int | None
    run: Run | None
    ok: bool
    seconds: float
    why: str = ""
    record: str = ""  # the folder's name, among the bench's records

    @property
    def last(self) -> float:
        """The last step that was recorded; -1 where none was."""
        last = None if self.run is None else self.run.last_step
        return -1.0 if last is None else last

    @property
    def timed_out(self) -> bool:
        """Whether it was ended by its time limit."""
        return not self.ok and TIME_LIMIT in self.why

    def idle(self) -> str:
        """Which of its interventions changed nothing, with the reason; "" where all did something."""
        events = () if self.run is None else self.run.events
        told = [e.message for e in events if e.code == "intervention-unused"]
        return next((m for m in told if m.partition(" ")[0] in self.interventions), "")


class Bench:
    """Runs arms in `folder`, as many at a time as there are `jobs`, within `budget` seconds."""

    def __init__(
        self,
        command: Sequence[str],
        start: Start,
        journal: Journal,
        *,
        budget: float,
        jobs: int = 2,
        reach: Reach | None = None,
        tell: Callable[[str], None] = lambda _: None,
        how: Callable[[], str] = lambda: "",
    ) -> None:
        self.how = how  # what is to be known of how the starts were made, or ""
        self.command, self.start, self.journal = tuple(command), start, journal
        self.budget, self.jobs, self.tell = budget, jobs, tell
        self.reach: Reach = reach or {}
        self.network = self.reach.get("network", False)
        self.records = journal.path.parent / RECORDS
        self.begun = time.monotonic()
        self.steps: int | None = None  # of every arm but the first
        self.whole: int | None = None  # of the script, or what the user made of it
        self.keep_models = False  # whether arms that are that long leave their weights beside their record
        self.source: Source | None = None  # where fixes are tried in the source, too
        self.slices: tuple[str, ...] = ()  # columns by which arms look at their held-out data in groups
        self.limit: float | None = None
        self.cut = False  # whether the first start was ended before its end
        self.known: dict[Long, Arm] = {}
        self.fresh = 0
        self.spent = 0.0  # seconds of earlier starts of this proof
        self.notes: list[str] = []
        self.lock = threading.Lock()
        for entry in journal.entries:
            self.remember(entry)

    def remember(self, entry: dict[str, Any]) -> None:
        """Take over an arm that was finished before, if it had the network where these have it. One that recorded
        nothing is run again: it may have lacked memory, or another thing that the machine has now."""
        if entry.get("network", False) != self.network or not entry.get("recorded"):
            return
        folder = self.records / str(entry.get("record"))
        try:
            run = pipeline.read(folder)
        except ReadError:
            return  # its record is gone: it is run again
        interventions, seed = tuple(entry["interventions"]), entry["seed"]
        arm = Arm(interventions, seed, run, entry["ok"], entry["seconds"], entry["why"], entry["record"])
        self.known[((interventions, seed), entry["steps"])] = arm
        self.spent += arm.seconds

    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self.budget - (time.monotonic() - self.begun)

    def in_time(self, work: Callable[[], Found], otherwise: Found, lacks: str) -> Found:
        """What some work gives within the budget; `otherwise`, and a note of what is lacking, where that is used up."""
        if self.left() > 0:
            with suppress(OutOfTime), at_most(self.left()):
                return work()
        self.notes.append(f"{lacks}: {self.used_up()}")
        return otherwise

    def used_up(self) -> str:
        return f"the time of {self.budget:.0f} s was used up (--budget)"

    def first(self, steps: int | None) -> Arm:
        """The script as it is; a quarter of the budget is for it, what it has recorded by then is taken. Raises
        ExperimentFailed where it left no record."""
        limit = min(max(self.budget / QUARTER, LEAST_LIMIT), self.left() - ENDING)
        self.limit, self.whole = max(limit, 1.0), steps
        arm = self.arm((), None, steps)
        if arm.run is None:
            raise ExperimentFailed(f"nothing was recorded: {arm.why}")
        self.cut = arm.timed_out
        if self.cut:
            arm = arm._replace(ok=True)
            self.notes.append(f"the script was ended after {arm.seconds:.0f} s, its part of --budget")
        self.limit = max(LEAST_LIMIT, TIMES * arm.seconds)
        return arm

    def arms(
        self,
        wanted: Sequence[Key],
        jobs: int | None = None,
        *,
        longest: Sequence[Long] = (),
        spare: Sequence[Key] = (),
    ) -> list[Arm]:
        """The arms for interventions and seeds, in their order; those that were run already are not run again.
        `longest`: arms of other lengths that are going to be asked for; they are begun first. `spare`: arms that may be
        asked for; as many of them are run as would find a job idle."""
        asked = [*longest, *((key, self.steps) for key in wanted)]
        missing = [one for one in dict.fromkeys(asked) if not self.has(one)]
        others = [(key, self.steps) for key in spare if not self.has((key, self.steps))]
        missing += others[: -len(missing) % (jobs or self.jobs)] if missing else []
        workers = max(1, min(jobs or self.jobs, len(missing)))
        threads = threads_each(workers) if workers > 1 else None

        def job(one: Long) -> Callable[[threading.Event], Arm]:
            return lambda stop: self.arm(*one[0], one[1], threads=threads, stop=stop)

        run_all([job(one) for one in missing], workers)
        return [self.known[key, self.steps] for key in wanted]

    def has(self, one: Long) -> bool:
        """Whether an arm is known, or is the beginning of a longer one that is."""
        steps, whole = one[1], self.known.get((one[0], self.whole))
        if one not in self.known and whole is not None and steps is not None and steps < whole.last:
            self.known[one] = whole._replace(run=truncated(whole.run, steps), ok=True)
        return one in self.known

    def arm(
        self,
        interventions: tuple[str, ...],
        seed: int | None,
        steps: int | None,
        *,
        threads: int | None = None,
        stop: threading.Event | None = None,
    ) -> Arm:
        """One arm, run unless it is known."""
        if self.has(((interventions, seed), steps)):
            return self.known[(interventions, seed), steps]
        self.tell(label(interventions, seed))
        with self.lock:
            out = self.free()
        seeding = () if seed is None else (f"seed={seed}",)
        tried = self.start(
            self.command,
            out,
            (*outside(interventions), *seeding),
            steps,
            seconds=self.limit,
            overhead=OVERHEAD,
            slices=self.slices,
            keep=self.keep_models and bool(interventions) and steps == self.whole,
            **self.reach,
            threads=threads,
            stop=stop,
            edited={} if self.source is None else self.source.edited(interventions),
        )
        if tried.conducted.ended == "stopped":
            raise InterruptedError("stopped")
        if tried.conducted.ended in ("full-disk", "not-started"):  # it says nothing of the change
            raise ExperimentFailed(f"the script {tried.conducted.words()}; what was finished is kept")
        with self.lock:
            wish = tried.conducted.wish()
            self.notes += [wish] if wish and wish not in self.notes else []
            return self.keep(armed(tried, interventions, seed), steps, out.name)

    def free(self) -> Path:
        """A new folder for a record; one that a killed start left behind is not used again."""
        make_folder(self.records)
        while True:
            self.fresh += 1
            out = self.records / str(self.fresh)
            if not out.exists():
                out.mkdir()
                return out

    def keep(self, arm: Arm, steps: int | None, record: str) -> Arm:
        """Know an arm from now on, and write it down."""
        arm = arm._replace(record=record)
        self.known[((arm.interventions, arm.seed), steps)] = arm
        self.journal.write(
            {
                "interventions": list(arm.interventions),
                "seed": arm.seed,
                "steps": steps,
                "ok": arm.ok,
                "recorded": arm.run is not None,
                "seconds": round(arm.seconds, 3),
                "why": arm.why,
                "record": record,
                "network": self.network,
            }
        )
        return arm


def truncated(run: Run | None, steps: int | None) -> Run | None:
    """What a run had recorded by that step (None: all)."""
    if steps is None or run is None:
        return run
    series = {}
    for name, one in run.series.items():
        n = int(np.searchsorted(one.steps, steps, side="right"))
        series[name] = Series(one.steps[:n], one.values[:n], None if one.times is None else one.times[:n])
    return msgspec.structs.replace(run, series=series)


def armed(tried: Attempt, interventions: tuple[str, ...], seed: int | None) -> Arm:
    """A start as an arm; one that was ended after the steps asked for came as far as it was to."""
    done = tried.conducted
    cut = tried.run is not None and any(e.code == "steps-limit" for e in tried.run.events)
    return Arm(interventions, seed, tried.run, cut or done.ok, done.seconds, tried.why or words(tried))


def words(tried: Attempt) -> str:
    return "" if tried.conducted.ok else tried.conducted.words()


def label(interventions: Sequence[str], seed: int | None) -> str:
    """ "lr=*0.1, seed 3"."""
    what = " ".join(interventions) or "as it is"
    return what if seed is None else f"{what}, seed {seed}"

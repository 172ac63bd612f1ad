"""Where arms are run: the user's script under interventions with one seed, each combination once."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, Unpack

import msgspec
import numpy as np

from traindx import pipeline
from traindx.atomic_write import make_folder
from traindx.errors import ExperimentFailed, ReadError
from traindx.lab.conduct.attempts import Attempt
from traindx.lab.conduct.experiment import Asked, Reach
from traindx.lab.conduct.journal import Journal
from traindx.lab.conduct.parallel import run_all, threads_each
from traindx.lab.plan import MARK
from traindx.lab.repair.deadline import OutOfTime, at_most
from traindx.lab.repair.source import Source, outside_interventions
from traindx.vocabulary import Run, Series

RECORDS = "records"
# Share of a start's time for recording: the outputs may be all there is to compare.
OVERHEAD = 0.2
QUARTER = 4.0  # the unchanged script gets this part of the budget
TIME_LIMIT = "its time limit"  # as `Conducted.words` says it
ENDING = 3.0  # seconds of the budget reserved for ending the first start and reading its record
WARMUP = "lr.warmup="
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
    """One start that has ended. `run` is None where nothing was recorded, and `why` says the reason. `ok`:
    the script got as far as it should."""

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
        """The message about an intervention of this arm that changed nothing, or ""."""
        events = () if self.run is None else self.run.events
        unused = [e.message for e in events if e.code == "intervention-unused"]
        return next((m for m in unused if m.partition(" ")[0] in self.interventions), "")


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
        notify: Callable[[str], None] = lambda _: None,
        how: Callable[[], str] = lambda: "",
    ) -> None:
        self.how = how  # what the user should know about the starts, or ""
        self.command, self.start, self.journal = tuple(command), start, journal
        self.budget, self.jobs, self.notify = budget, jobs, notify
        self.reach: Reach = reach or {}
        self.network = self.reach.get("network", False)
        self.records = journal.path.parent / RECORDS
        self.begun = time.monotonic()
        self.steps: int | None = None  # of every arm but the first
        self.whole: int | None = None  # steps of the whole script, or of the part that the user asked for
        self.keep_models = False  # whether arms of that length save their weights next to their record
        self.source: Source | None = None  # where fixes are tried in the source
        self.slices: tuple[str, ...] = ()  # columns that group the held-out data
        self.limit: float | None = None
        self.length: float | None = None  # steps of the whole script, where they are known
        self.cut = False  # whether the first start was stopped before its end
        self.known: dict[Long, Arm] = {}
        self.fresh = 0
        self.spent = 0.0  # seconds of earlier starts of this proof
        self.notes: list[str] = []
        self.lock = threading.Lock()
        for entry in journal.entries:
            self.remember(entry)

    def remember(self, entry: dict[str, Any]) -> None:
        """Take over an arm of an earlier process, if it had the network where these have it. One that
        recorded nothing is run again: it may have lacked memory, or something else that the machine has
        now."""
        if entry.get("network", False) != self.network or not entry.get("recorded"):
            return
        folder = self.records / str(entry.get("record"))
        try:
            run = pipeline.read(folder)
        except ReadError:
            return  # its record is gone, so it is run again
        interventions, seed = tuple(entry["interventions"]), entry["seed"]
        arm = Arm(interventions, seed, run, entry["ok"], entry["seconds"], entry["why"], entry["record"])
        self.known[((interventions, seed), entry["steps"])] = arm
        self.spent += arm.seconds

    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self.budget - (time.monotonic() - self.begun)

    def run_within_budget(self, work: Callable[[], Found], otherwise: Found, lacks: str) -> Found:
        """What some work gives within the budget, or `otherwise`, with a note of what is missing, where that
        is used up."""
        if self.left() > 0:
            with suppress(OutOfTime), at_most(self.left()):
                return work()
        self.notes.append(f"{lacks}: {self.budget_message()}")
        return otherwise

    def budget_message(self) -> str:
        return f"the budget of {self.budget:.0f} s is used up (--budget)"

    def first(self, steps: int | None) -> Arm:
        """The unchanged script. It gets a quarter of the budget, and what it has recorded by then counts.
        Raises ExperimentFailed where it left no record."""
        limit = min(max(self.budget / QUARTER, LEAST_LIMIT), self.left() - ENDING)
        self.limit, self.whole = max(limit, 1.0), steps
        arm = self.arm((), None, steps)
        run = arm.run
        if run is None:
            raise ExperimentFailed(f"nothing was recorded: {arm.why}")
        self.cut = arm.timed_out
        if self.cut:
            arm = arm._replace(ok=True)
            self.notes.append(f"the script was stopped after {arm.seconds:.0f} s, its share of --budget")
        self.limit = max(LEAST_LIMIT, TIMES * arm.seconds)
        setup = run.setup
        made = None if self.cut else setup.number("optimizer_steps") or arm.last + 1
        self.length = setup.number("planned_steps") or made
        return arm

    def counted(self, interventions: Sequence[str]) -> tuple[str, ...]:
        """The interventions, with a warm-up in steps in place of a share: few scripts know how many steps they will
        make, but the first start has shown it."""
        return tuple(
            f"{WARMUP}{max(2, round(float(value) * self.length))}"
            if self.length and spec.startswith(WARMUP) and float(value := spec.removeprefix(WARMUP)) < 1
            else spec
            for spec in interventions
        )

    def arms(
        self,
        wanted: Sequence[Key],
        jobs: int | None = None,
        *,
        longest: Sequence[Long] = (),
        spare: Sequence[Key] = (),
    ) -> list[Arm]:
        """The arms for interventions and seeds, in their order; known ones are not run again. `longest`:
        arms of other lengths that will be needed, which are started first. `spare`: arms that may be
        needed, run where a job would be idle."""
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
        """Whether an arm is known, or is the beginning of a longer known one."""
        steps, whole = as_many_samples(one[1], one[0][0]), self.known.get((one[0], self.whole))
        if one not in self.known and whole is not None and steps is not None and steps < whole.last:
            self.known[one] = whole._replace(run=truncate_run(whole.run, steps), ok=True)
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
        self.notify(label(interventions, seed))
        with self.lock:
            out = self.free()
        seeding = () if seed is None else (f"seed={seed}",)
        tried = self.start(
            self.command,
            out,
            (*outside_interventions(self.counted(interventions)), *seeding),
            as_many_samples(steps, interventions),
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
        if tried.conducted.ended in ("full-disk", "not-started"):  # that says nothing about the change
            raise ExperimentFailed(f"the script {tried.conducted.describe_end()}; finished trials are kept")
        with self.lock:
            wish = tried.conducted.wish()
            self.notes += [wish] if wish and wish not in self.notes else []
            return self.keep(as_arm(tried, interventions, seed), steps, out.name)

    def free(self) -> Path:
        """A new folder for a record. One that a killed start left behind is not used again."""
        make_folder(self.records)
        while True:
            self.fresh += 1
            out = self.records / str(self.fresh)
            if not out.exists():
                out.mkdir()
                return out

    def keep(self, arm: Arm, steps: int | None, record: str) -> Arm:
        """Remember an arm, and write it into the journal."""
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


def as_many_samples(steps: int | None, interventions: Sequence[str]) -> int | None:
    """The steps in which batches of another size see as many samples as the unchanged ones do in `steps`: a smaller
    batch gains by its number of steps, so equal steps would hide that. A training of more epochs makes more steps."""
    factors = {"batch=*": -1, "steps=*": 1}
    for spec in interventions if steps is not None else ():
        name, star, factor = spec.removeprefix(MARK).partition("*")
        if (power := factors.get(name + star)) is not None:
            steps = max(1, round((steps or 0) * float(factor) ** power))
    return steps


def truncate_run(run: Run | None, steps: int | None) -> Run | None:
    """What a run had recorded by that step (None: everything)."""
    if steps is None or run is None:
        return run
    series = {}
    for name, one in run.series.items():
        n = int(np.searchsorted(one.steps, steps, side="right"))
        series[name] = Series(one.steps[:n], one.values[:n], None if one.times is None else one.times[:n])
    return msgspec.structs.replace(run, series=series)


def as_arm(tried: Attempt, interventions: tuple[str, ...], seed: int | None) -> Arm:
    """A start as an arm. One that was stopped after the requested steps got as far as it should."""
    done = tried.conducted
    cut = tried.run is not None and any(e.code == "steps-limit" for e in tried.run.events)
    return Arm(
        interventions,
        seed,
        tried.run,
        cut or done.ok,
        done.seconds,
        tried.why or ("" if done.ok else done.describe_end()),
    )


def label(interventions: Sequence[str], seed: int | None) -> str:
    """ "lr=*0.1, seed 3"."""
    what = " ".join(interventions) or "as it is"
    return what if seed is None else f"{what}, seed {seed}"

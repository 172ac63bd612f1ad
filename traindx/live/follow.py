"""Follow paths: find runs, notice what is appended, judge when due, and hand out events."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from traindx import pipeline
from traindx.config import Config
from traindx.errors import NotALog, ReadError
from traindx.live.episodes import Episodes, State, decision_event
from traindx.live.judging_times import Looks, share_of
from traindx.live.sources import Growing, discover, why_unreadable
from traindx.live.waiting import forecast_of, pace_of, waiting_of, with_outlook
from traindx.reports.labels import axis
from traindx.vocabulary import ForecastPoint, Run, RunDiagnosis
from traindx.vocabulary.live import LiveEvent, Waiting

POLL = 0.5  # seconds between two looks at the sizes of files: no notification, which network drives lack
DISCOVER = 5.0  # seconds between two searches for new runs
SETTLED = 10.0  # seconds without a change after which a last line without its end is read, too

Keep = Callable[[LiveEvent, str, State], LiveEvent]


class Followed:
    """One source and what is known of its runs. `first`: when each run was read first, and its step then."""

    def __init__(self, path: Path) -> None:
        self.source, self.looks = Growing(path), Looks()
        self.quiet_since = float("inf")
        self.read_whole = False
        self.runs: tuple[Run, ...] = ()
        self.diagnoses: tuple[RunDiagnosis, ...] = ()
        self.episodes: dict[str, Episodes] = {}
        self.first: dict[str, tuple[float, float]] = {}
        self.complaint = ""

    def pace(self, run: Run) -> float | None:
        """Steps in a second of a run since it was first read here; None where it has not grown since."""
        began, first = self.first.get(run.id, (self.looks.at, 0.0))
        seconds, steps = self.looks.at - began, (run.last_step or 0.0) - first
        return steps / seconds if seconds > 0 and steps > 0 else None


class Follower:
    """Everything below some paths. `keep` is given each event with the state after it, and numbers it. `settled`:
    there will be one look only, so every finding counts at once and the last line is read as it is. `price`: of an hour."""

    def __init__(
        self,
        paths: Sequence[str],
        config: Config,
        keep: Keep,
        states: Mapping[str, State] | None = None,
        settled: bool = False,
        price: float | None = None,
    ) -> None:
        self.paths, self.config, self.keep = [Path(path) for path in paths], config, keep
        self.states = {} if settled else dict(states or {})
        self.settled, self.price = settled, price
        self.followed: dict[Path, Followed] = {}
        self.searched = float("-inf")

    def poll(self, now: float | None = None) -> Iterator[LiveEvent]:
        """Look once at everything that is due."""
        now = time.monotonic() if now is None else now
        if now - self.searched >= DISCOVER:
            self.search()
            self.searched = now
        share = share_of(len(self.followed))
        for followed in self.followed.values():
            self.notice(followed, now)
        waiting = sorted(self.followed.values(), key=lambda one: (not one.looks.urgent, one.looks.at))
        for followed in waiting:
            if followed.looks.due(now, followed.source.size, share):
                followed.looks.begin(now, share)
                yield from self.look(followed, now)

    def search(self) -> None:
        for path in self.paths:
            if path.exists():
                for found in discover(path):
                    self.followed.setdefault(found, Followed(found))

    def notice(self, followed: Followed, now: float) -> None:
        if followed.source.changed():
            followed.looks.notice(followed.source.size, followed.source.take())
            followed.quiet_since, followed.read_whole = now, False
        elif not followed.read_whole and now - followed.quiet_since >= SETTLED:
            followed.read_whole = followed.looks.changed = True

    def look(self, followed: Followed, now: float) -> Iterator[LiveEvent]:
        """Read and judge one source."""
        begun = time.process_time()  # not wall time: on a busy machine that is many times as long
        size = followed.source.size
        try:
            followed.runs = followed.source.runs(
                dict(self.config.aliases), followed.read_whole or self.settled
            )
            followed.diagnoses = pipeline.diagnose(followed.runs, self.config).document.runs
            followed.complaint = ""
        except ReadError as error:
            yield from self.complain(followed, error)
        else:
            for run, diagnosis in zip(followed.runs, followed.diagnoses, strict=True):
                followed.first.setdefault(run.id, (now, run.last_step or 0.0))
                yield from self.report(followed, run, diagnosis)
        followed.looks.looked(size, time.process_time() - begun)

    def report(self, followed: Followed, run: Run, diagnosis: RunDiagnosis) -> Iterator[LiveEvent]:
        key = run_key(followed, run)
        if key not in followed.episodes:
            followed.episodes[key] = Episodes(self.states.get(key), self.config.severity, self.settled)
        episodes = followed.episodes[key]
        events = list(episodes.update(run.points, diagnosis))
        if self.settled and not any(
            event.decision for event in events
        ):  # as it is now, though nothing has changed
            events.append(decision_event(diagnosis))
        for event in events:
            if event.decision is not None and not episodes.over:
                event = with_outlook(event, *self.outlook(followed, run, diagnosis), axis(diagnosis.run))
            yield self.keep(stamp_event(event), key, episodes.state)

    def outlook(
        self, followed: Followed, run: Run, diagnosis: RunDiagnosis
    ) -> tuple[Waiting | None, ForecastPoint | None]:
        """What waiting for more of a run costs, and where its loss is going."""
        stop = diagnosis.decision.action == "stop"
        answer = (
            None if stop else followed.episodes[run_key(followed, run)].points_to_next_answer(run.points)
        )
        waiting = waiting_of(run, pace_of(run, followed.pace(run)), answer, self.price)
        return waiting, forecast_of(diagnosis)

    def complain(self, followed: Followed, error: ReadError) -> Iterator[LiveEvent]:
        """A file that cannot be read is reported once, and again when the reason changes. An empty one is waited for."""
        if followed.source.size == 0 and not self.settled:
            return
        why, path = why_unreadable(error), followed.source.path
        too_early = isinstance(error, NotALog) and not (
            followed.read_whole or self.settled
        )  # its first lines may be a banner
        if why == followed.complaint or too_early:
            return
        followed.complaint = why
        event = LiveEvent(run=path.name, source=str(path), kind="unreadable", text=f"{path}: {why}")
        yield self.keep(stamp_event(event), str(path.absolute()), State())

    def unreported(self) -> dict[str, State]:
        """The state of every run, for whoever goes on later."""
        return (
            {}
            if self.settled
            else {k: e.state for f in self.followed.values() for k, e in f.episodes.items()}
        )

    def status(self) -> int:
        """The exit status: 0 or 1, whether a finding is firing; 2 where nothing could be read."""
        episodes = [
            episodes for followed in self.followed.values() for episodes in followed.episodes.values()
        ]
        return 2 if not episodes else int(any(one.firing() for one in episodes))

    @property
    def done(self) -> bool:
        """Whether every run that was found has ended."""
        states = [e.state for one in self.followed.values() for e in one.episodes.values()]
        return bool(states) and all(state.ended for state in states)


def run_key(followed: Followed, run: Run) -> str:
    """The name of a run in the journal."""
    return f"{followed.source.path.absolute()}\n{run.id}"


def stamp_event(event: LiveEvent) -> LiveEvent:
    return msgspec.structs.replace(event, at=datetime.now().astimezone().isoformat(timespec="seconds"))

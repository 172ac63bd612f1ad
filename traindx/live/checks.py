"""Checks of a record while its training goes on in this process: what `traindx.watch` and the callbacks have in common."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from traindx.atomic_write import write_atomically
from traindx.capture.process.guard import error_line, say
from traindx.capture.process.ranks import processes_of_run, rank_of_process
from traindx.capture.watch import Watch, loop_of
from traindx.config import Config
from traindx.live.episodes import Episodes, State
from traindx.pipeline import Diagnosis, diagnose, read_all
from traindx.reports.json import plain_number
from traindx.vocabulary import Run
from traindx.vocabulary.live import LiveEvent

STOP_NOTE = ".stop"  # in a record that several processes write: from which check on all of them end, and why
NOT_STOPPED = (
    "not stopped: the other processes do not record into the same folder, and would wait for this one"
)


class Checks:
    """The findings of one training over time, by the rules of `traindx watch`: each is reported once, when it has
    lasted, and again when it gets worse or is resolved. `on_finding` is called with the diagnosis when something
    is reported; what it raises ends the training. Of several processes that write one record, the first judges."""

    def __init__(
        self, config: Config | None = None, on_finding: Callable[[Diagnosis], None] | None = None
    ) -> None:
        self.config, self.on_finding = config or Config(), on_finding
        self.episodes = Episodes(least=self.config.severity)
        self.news: list[LiveEvent] = []  # that nobody has taken yet
        self.failed = self.refused = False
        self.count = 0  # checks so far: processes that train together make each at the same step

    def check(self, folder: Path) -> str:
        """Judge the record; the reason to end the training, or "" while it should go on."""
        self.count += 1
        processes = processes_of_run()
        if processes == 1:
            return self.judge(folder)
        writers = {path.name.split("-")[1] for path in folder.glob("steps-*-*.arrows")}
        first = str(rank_of_process()) == min(writers, default="", key=int) or len(writers) == 1
        why = self.judge(folder) if first else ""
        try:
            if first:
                self.ask_all(folder, why, len(writers) == processes)
            return self.asked(folder)
        except OSError as error:
            return self.fail(error)

    def ask_all(self, folder: Path, why: str, shared: bool) -> None:
        """Note that all processes are to end at the next check, for `why`: none of them can be beyond this one, as
        each step waits for all. `shared`: all of them write this record, so they will see it."""
        note = folder / STOP_NOTE
        if self.count == 1:
            note.unlink(missing_ok=True)  # of an earlier training
        if why and shared and not note.exists():
            write_atomically(note, f"{self.count + 1} {why}")
        elif why and not shared and not self.refused:
            self.refused = True
            say(NOT_STOPPED)

    def asked(self, folder: Path) -> str:
        """Why all processes are to end, from the check on that was agreed."""
        try:
            count, why = (folder / STOP_NOTE).read_text(encoding="utf-8").split(" ", 1)
        except FileNotFoundError:
            return ""
        return why if self.count >= int(count) else ""

    def judge(self, folder: Path) -> str:
        if self.failed:
            return ""
        try:
            diagnosis = diagnose(newest(folder), self.config)
        except Exception as error:  # noqa: BLE001 - whatever fails in a check, the training goes on
            return self.fail(error)
        events = [e for e in self.episodes.update(diagnosis.first.run.steps, diagnosis.first) if e.finding]
        self.news += events
        if self.on_finding is not None and any(event.kind != "resolved" for event in events):
            self.on_finding(diagnosis)
        decision = diagnosis.first.decision
        advised = self.episodes.state.action == decision.action == "stop"
        return f"stopped: {decision.reason}" if advised else ""

    def fail(self, error: Exception) -> str:
        self.failed = True
        say(f"the record is not checked any more ({error_line(error)}); the training goes on")
        return ""

    def take(self) -> list[LiveEvent]:
        """What was reported since the last call."""
        news, self.news = self.news, []
        return news

    def state(self) -> dict[str, Any]:
        """What a checkpoint has to hold so that a resumed training repeats nothing: plain builtins."""
        built: dict[str, Any] = msgspec.to_builtins(self.episodes.state, enc_hook=plain_number)
        return built

    def resume(self, state: dict[str, Any]) -> None:
        """Go on after `state`. Only what was reported is known: the rest was counted in points of another record."""
        known = msgspec.convert(state, State)
        reported = {key: episode for key, episode in known.episodes.items() if episode.state == "firing"}
        for episode in reported.values():
            episode.worse = episode.gone = None
        self.episodes.state = State(started=True, count=known.count, episodes=reported)


def newest(folder: Path) -> Run:
    """The run that is being recorded: a folder may hold an earlier one, too. Raises ReadError."""
    return read_all(folder)[-1]


def sentence_of(event: LiveEvent) -> str:
    """An event as it is printed while the training goes on."""
    if event.finding is None or event.kind == "resolved":
        return event.text
    return f"step {event.finding.onset_step or 0:.0f}: {event.text}"


def print_news(checks: Checks, why_stop: str, stop: bool) -> bool:
    """Print on stderr what a check has reported; whether the training is to end, where that was asked for."""
    for event in checks.take():
        say(sentence_of(event))
    if stop and why_stop:
        say(why_stop)
    return stop and bool(why_stop)


def watch(
    model: Any,
    optimizer: Any = None,
    *,
    out: str | Path | None = None,
    on_finding: Callable[[Diagnosis], None] | None = None,
    stop: bool = False,
    check_every: int = 500,
    scaler: object = None,
    config: Config | None = None,
    **options: Any,
) -> Watch[Diagnosis]:
    """Record the loop that is running: `with traindx.watch(model, optimizer, out="runs/exp1") as w:`.

    `model` and `optimizer` are PyTorch's, or lists of them. Call `w.log(loss=loss)` before the optimizer's step
    to record the loss. `w.diagnose()` returns the diagnosis so far. With `on_finding` or `stop=True`, the record is
    checked every `check_every` steps. `on_finding` is called with the diagnosis when a finding has lasted, and again
    when it gets worse. With `stop=True`, `w.why_stop` is the reason to leave the loop ("" while it should go on).
    `options` are those of `traindx.capture.session.session.Session`.

    If the processes of a distributed run share a folder, the first of them is checked. `on_finding` is called there
    only, and `w.why_stop` is set in all of them at the same step. If they do not share a folder, `w.why_stop` stays
    "", because the others would wait.

    Keras: train the compiled model inside with `model.fit(..., callbacks=[w.callback])`. JAX: `model` is a tree of
    arrays, `optimizer` is the state of an optax optimizer with a monitor, and `w.step(state)` records each step.
    Raises ConfigError for a model of an unknown framework."""
    checks = Checks(config, on_finding) if on_finding is not None or stop else None
    return watch_with(
        checks, model, optimizer, out=out, check_every=check_every, scaler=scaler, config=config, **options
    )


def watch_with(
    checks: Checks | None,
    model: Any,
    optimizer: Any,
    *,
    out: str | Path | None,
    check_every: int,
    scaler: object = None,
    config: Config | None = None,
    **options: Any,
) -> Watch[Diagnosis]:
    """As `watch`, with checks whose news someone else takes."""
    if out is not None:
        options.setdefault("rank", rank_of_process())
    return Watch(
        loop_of(model, optimizer, None if out is None else Path(out), scaler, options),
        lambda folder: diagnose(newest(folder), config),
        check=None if checks is None else checks.check,
        check_every=check_every,
    )

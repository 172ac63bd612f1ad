"""The event stream of one training: parts of a discovery emit events, listeners receive them, and the
session does last, each by the method that METHODS names. It knows no framework."""

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from traindx.capture.process.guard import ONCE, UNWRITABLE, error_line, say, without_warnings
from traindx.capture.process.patches import Lines, Patches, remove_all
from traindx.capture.session import events
from traindx.capture.session.session import Session
from traindx.vocabulary import Fact

# After so many steps of other optimizers without one of the optimizer that counts them, another one is the
# trained one.
REPLACED = 100
OF_THE_SCRIPT = ("seed", "deterministic", "log_file/")  # facts that hold for every training of a script
FEW_STEPS = 16  # steps of a model that are no record by themselves
METHODS: dict[type, Callable[[Session, Any], None]] = {
    events.ModelFound: lambda session, e: session.add_model(e.model, e.name),
    events.PartCalled: lambda session, e: session.called(e.part),
    events.OptimizerFound: lambda session, e: session.add_optimizer(e.optimizer),
    events.ScalerFound: lambda session, e: session.add_scaler(e.scaler),
    events.DataWaited: lambda session, e: session.data_wait(e.seconds),
    events.BatchSeen: lambda session, e: session.batch(
        e.inputs, e.targets, training=e.training, source=e.source, trained=e.trained
    ),
    events.OutputsSeen: lambda session, e: session.outputs(*e),
    events.LossMade: lambda session, e: session.loss(e.value, where=e.where),
    events.GraphWhole: lambda session, e: session.before_backward(e.loss, e.factor),
    events.BackwardBegins: lambda session, e: session.backward_begin(e.stale),
    events.BackwardEnds: lambda session, e: session.backward_end(),
    events.GradientsClipped: lambda session, e: session.clip(e.norm, e.limit),
    events.GradientsZeroed: lambda session, e: session.zero_grad(e.owner),
    events.StepBegins: lambda session, e: session.optimizer_step_begin(e.optimizer),
    events.StepEnds: lambda session, e: session.optimizer_step_end(e.optimizer),
    events.StepSkipped: lambda session, e: session.skipped(),
    events.ValidationPassed: lambda session, e: session.validation(e.name, e.value),
    events.MetricLogged: lambda session, e: session.metric(e.name, e.value),
}


Report = Callable[..., None]  # a stage, and more by name: how far it got, for whoever started the discovery


@dataclass
class Scene:
    """The state of the training, for all parts to read. Each field is written by one part alone, named
    here."""

    # the finder of models
    roots: list[Any] = field(default_factory=list)  # weak references
    training: bool = True  # whether the last call of a root was part of training
    fed: int = 0  # calls of roots in training since the last step
    within_function: bool = False  # something is compiled that cannot be looked into
    # the loop
    optimizers: int = 0  # that were made
    primary: int | None = (
        None  # id of the optimizer that steps first, which counts the steps; 0 when it is gone
    )
    main: set[int] | None = None  # ids of its parameters
    trained: set[int] = field(default_factory=set)  # ids of those of all optimizers
    steps: int = 0
    inside_backward: bool = False
    main_line: str = ""  # of the first backward pass
    scaled: tuple[Any, Any] | None = None  # what the loss scaler gave last, and got: weak references
    # an experiment
    held_back: bool = False  # this step is none (accumulation)
    # the loaders
    loader: Any = None  # weak reference
    data: int | None = None  # id of the data whose batch was drawn last
    trained_data: set[int] = field(default_factory=set)  # ids of the data that was trained on
    most: int = 0  # values in the largest tensor of the batch drawn last
    pair: Any = None  # of a batch of two: weak references to the first and the second
    # the losses
    untold: bool = False  # no loss function is called with the targets

    def alive(self) -> list[Any]:
        """The roots that the script has not freed."""
        return [root for known in self.roots if (root := known()) is not None]


class Stream:
    """`open_session` is called when something first trains and may refuse (None); `after_step` after every
    optimizer step, with their number; it may raise."""

    def __init__(
        self,
        open_session: Callable[[], Session | None],
        lines: Lines,
        after_step: Callable[[int], None],
        report: Report,
    ) -> None:
        self.open_session, self.lines, self.after_step, self.report = open_session, lines, after_step, report
        self.active = True
        # As the backend's, before there is a session.
        self.apart: Callable[[], AbstractContextManager[object]] = nullcontext
        self.missed: set[str] = set()  # what failed before there was one
        self.let_go = (
            False  # something failed; steps are still counted, for whoever wants to end after so many
        )
        self.successor: Callable[[], Any] = lambda: None  # the optimizer that now counts the steps
        self.thread: threading.Thread | None = None  # that trains what is recorded
        self.ident: int | None = None  # of that thread: `Thread.ident` is a call, and asked for at each hook
        self.lock = threading.RLock()
        self.attentive = False  # some listener needs every loss
        self.opened: Session | None = None
        self.known: dict[str, Fact] = {}
        self.scene = Scene()
        self.patches = Patches()
        self.handles: list[Any] = []
        self.ends: list[Callable[[], None]] = []  # what else is to be undone
        self.listeners: dict[type, list[Callable[[Any], None]]] = {}

    def hear(self, kind: type, listener: Callable[[Any], None]) -> None:
        """From now on `listener` is called with every event of a kind, after those that came before it."""
        self.listeners.setdefault(kind, []).append(listener)

    def tell(self, event: Any) -> None:
        """Something happened."""
        kind = type(event)
        for listener in self.listeners.get(kind, ()):
            listener(event)
        method = METHODS.get(kind)
        if method is not None:
            session = self.opened
            if session is None and kind in events.OPENING:
                session = self.session()
            if session is not None and (kind in events.ASIDE or not session.over or self.goes_on(session)):
                method(session, event)

    def goes_on(self, session: Session) -> bool:
        """Whether another optimizer has taken the place of the one that counted the steps, and was freed."""
        optimizer = self.successor()
        if optimizer is None:
            return False
        session.count_by(optimizer)
        return True

    def session(self) -> Session | None:
        """The session, opened at the first call; None once it is refused."""
        if self.opened is None and self.active:
            self.opened = self.open_session()
            self.follow_thread()
            if self.opened is None:
                self.active = False
                return None
            for name, value in self.known.items():
                self.opened.fact(name, value)
        return self.opened

    def anew(self) -> None:
        """The session was closed; the next one is of another model. Facts of the script hold for it, too."""
        self.opened = None
        self.known = {name: value for name, value in self.known.items() if name.startswith(OF_THE_SCRIPT)}

    def fact(self, name: str, value: Fact | None) -> None:
        """A setup fact; facts found before anything trains wait for the session."""
        if value is None or self.known.get(name) == value:
            return
        self.known[name] = value
        if self.opened is not None:
            self.opened.fact(name, value)

    def line(self, what: str, depth: int = 2) -> str:
        """The user's line that is at work, kept as the fact `where/<what>` when it is first seen."""
        place = self.lines.here(depth)
        if place and f"where/{what}" not in self.known:
            self.fact(f"where/{what}", place)
        return place

    def safely(self, hook: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
        """Call a hook while the clock is stopped. If it fails, say so once; the training and the recording
        go on."""
        if not self.active or self.elsewhere():
            return None
        with self.lock:
            clock = None if self.opened is None else self.opened.clock
            outermost = clock is not None and clock.enter()
            try:
                if outermost:
                    return without_warnings(hook, *given, **named)
                with self.apart() if clock is None else nullcontext():
                    return hook(*given, **named)
            except Exception as error:  # noqa: BLE001 - a training is never stopped by its observer
                self.left_out(getattr(hook, "__name__", "a hook"), error)
                return None
            finally:
                if clock is not None and outermost:
                    clock.leave()

    def elsewhere(self) -> bool:
        """Whether this is another thread than the one whose training is recorded, which is still at work."""
        if self.ident is None or self.ident == threading.get_ident():
            return False
        if self.thread is None or not self.thread.is_alive():
            self.thread = self.ident = None
        return self.thread is not None

    def follow_thread(self) -> None:
        """The thread at work is the one that trains what is recorded."""
        self.thread, self.ident = threading.current_thread(), threading.get_ident()

    def step_comes(self, counted: bool) -> None:
        """An optimizer is about to step, the one that counts the steps or another."""
        if self.elsewhere():
            if counted:
                self.follow_thread()
            elif "threads" not in self.known:
                self.fact("threads", "several")
                if self.opened is not None:
                    self.opened.event(
                        "note", "another thread trains, too: what it does is not recorded", "other-thread"
                    )

    def left_out(self, what: str, error: Exception) -> None:
        """A hook raised: the rest goes on, unless there is no room or no memory for it."""
        if isinstance(error, UNWRITABLE):
            self.failed(what, error)
        elif self.opened is not None:
            self.opened.leave_out(what.replace("_", " "), error, ONCE)
        elif what not in self.missed:
            self.missed.add(what)
            say(f"{what} failed ({error_line(error)}); the recording goes on without it")

    def failed(self, where: str, error: Exception) -> None:
        session = self.opened
        self.let_go = True
        self.detach()
        message = f"capture stopped: {where} failed ({type(error).__name__}: {str(error)[:300]})"
        if session is not None:
            session.event("note", message, "capture-failed")
        say(f"{message}; the training goes on")

    def detach(self) -> None:
        """Take everything away again, but for the hooks of steps, which do nothing from here on: this
        may be called from inside of one."""
        self.active = False
        self.patches.undo()
        remove_all(self.handles)
        for end in self.ends:
            end()

    def mind_forks(self) -> None:
        """A forked child keeps silent: the parent's session is not its own."""
        itself = weakref.ref(self)

        def forked() -> None:
            stream = itself()
            if stream is not None and stream.opened is not None:
                stream.opened, stream.active = None, False

        os.register_at_fork(after_in_child=forked)

"""Finds a training in a script that nobody has changed, and tells a session what happens in it.

PyTorch's own extension points are used: global optimizer hooks, module hooks, and thin wrappers
around the functions that every loop goes through. Each part knows one of them:

    discover_model    the root modules, what they are fed
    discover_loop     optimizers, backward, steps, accumulation
    discover_manual   steps of a loop without an optimizer object
    discover_grad     gradients that are not got from backward
    discover_loss     loss functions, validation passes
    discover_data     loaders, time waited for batches
    discover_extras   clipping, loss scaling, schedules, seeds, compilation
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from traindx.capture.process.guard import quietly, say
from traindx.capture.process.patches import Lines, Patches
from traindx.capture.session.session import Session
from traindx.capture.torch.discover.extras import Extras
from traindx.capture.torch.discover.grad import Grads
from traindx.capture.torch.discover.loaders import Loaders
from traindx.capture.torch.discover.loop import Loop
from traindx.capture.torch.discover.losses import Losses
from traindx.capture.torch.discover.models import Models
from traindx.vocabulary.setup import Fact

if TYPE_CHECKING:
    from traindx.capture.torch.checks.live import Live


class Report(Protocol):
    """Tells whoever started the discovery how far it got."""

    def __call__(self, stage: str, **more: Any) -> None: ...


class Discovery:
    """All parts, and what they share. `open_session` is called when something first trains and may
    refuse (None); `after_step` after every optimizer step, with their number; it may raise."""

    def __init__(
        self,
        open_session: Callable[[], Session | None],
        lines: Lines,
        after_step: Callable[[int], None],
        report: Report,
    ) -> None:
        self.open_session, self.lines, self.after_step, self.report = open_session, lines, after_step, report
        self.active = True
        self.opened: Session | None = None
        self.known: dict[str, Fact] = {}
        self.live: Live | None = None  # keeps the last step for the probes of `traindx check`
        self.patches = Patches()
        self.handles: list[Any] = []
        self.models, self.loop, self.losses = Models(self), Loop(self), Losses(self)
        self.loaders, self.extras = Loaders(self), Extras(self)
        self.parts = (self.models, self.loop, Grads(self), self.losses, self.loaders, self.extras)

    def attach(self, between: Callable[[], None] = lambda: None) -> None:
        """Put every hook in place. torch must have been imported. `between` is called before the one
        hook that may end the script: what it registers runs after all measuring."""
        for part in self.parts:
            part.attach()
        between()
        self.loop.attach_last()
        itself = weakref.ref(self)

        def forked() -> None:
            discovery = itself()
            if discovery is not None:
                discovery.forked()

        os.register_at_fork(after_in_child=forked)

    def detach(self) -> None:
        """Take everything away again, but for the hooks of steps, which do nothing from here on: this
        may be called from inside of one."""
        self.active = False
        self.patches.undo()
        for handle in self.handles:
            handle.remove()
        self.handles.clear()
        self.models.detach()

    def end(self) -> None:
        """The script is over: hand on what is still held back, and let go."""
        for part in (self.loop, self.losses):
            self.safely(part.end)
        self.detach()
        self.loop.release()

    def forked(self) -> None:
        """In a child process: the parent's session is not ours."""
        if self.opened is not None:
            self.opened = None
            self.active = False

    def session(self) -> Session | None:
        """The session, opened at the first call; None once it is refused."""
        if self.opened is None and self.active:
            self.opened = self.open_session()
            if self.opened is None:
                self.active = False
                return None
            for name, value in self.known.items():
                self.opened.fact(name, value)
        return self.opened

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

    def safely(self, hook: Callable[..., Any], *given: Any) -> Any:
        """Call a hook; if it fails, say so once and let go. The training goes on, and its clock stands
        still meanwhile."""
        if not self.active:
            return None
        clock = None if self.opened is None else self.opened.clock
        outermost = clock is not None and clock.enter()
        try:
            return quietly(hook, *given) if outermost else hook(*given)
        except Exception as error:  # noqa: BLE001 - a training is never stopped by its observer
            self.failed(getattr(hook, "__name__", "a hook"), error)
            return None
        finally:
            if clock is not None and outermost:
                clock.leave()

    def failed(self, where: str, error: Exception) -> None:
        session = self.opened
        self.detach()
        message = f"capture let go: {where} failed ({type(error).__name__}: {str(error)[:300]})"
        if session is not None:
            session.event("note", message, "capture-failed")
        say(f"{message}; the training goes on")

"""`traindx.keras.Watch`: a callback that records `fit`, reports findings, and stops on request.

watch = traindx.keras.Watch(out="runs/exp1")
model.fit(x, y, epochs=10, validation_data=held_out, callbacks=[watch])
print(watch.diagnose().to_text())
"""

import weakref
from pathlib import Path
from typing import Any

from traindx.capture.keras.backend import KerasBackend
from traindx.capture.keras.batches import Batches
from traindx.capture.keras.training import Listener, Training, refusal
from traindx.capture.process.guard import say
from traindx.capture.session import Session
from traindx.config import Config
from traindx.live.checks import Checks, newest, print_news
from traindx.pipeline import Diagnosis, diagnose


class Watch(Listener):
    """Records every `fit` to which it is passed, one after the other. `check_every`: steps between two checks
    of what was recorded. A finding is printed on stderr once, when it has lasted. `stop`: end `fit` when continuing is
    useless. `out`: the record's folder (None: a temporary one). `options` are those of
    `Session`. A sentence on stderr names a model that cannot be recorded; it trains unchanged."""

    def __init__(
        self, out: str | Path | None = None, *, check_every: int = 500, stop: bool = False,
        config: Config | None = None, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(self._training_of, self._fitted)
        self._out, self._check_every, self._stop = None if out is None else Path(out), check_every, stop
        self._checks, self._options = Checks(config), options
        self._batches = Batches()
        weakref.finalize(self, self._batches.remove)
        self._watched: Training | None = None
        self.session: Session | None = None

    def _training_of(self, model: Any) -> Training | None:
        why = refusal(model)
        if why:
            say(f"not recorded: {why}")
            return None
        if self.session is None or self._watched is None:
            backend = KerasBackend()
            self.session = Session(self._out, backend, **self._options)
            weakref.finalize(self, self.session.close)
            self._watched = Training(self.session, backend, self._stepped, self._batches)
        return self._watched

    def _stepped(self) -> None:
        if self.session is not None and self.session.step % self._check_every == 0:
            self.session.flush()
            if print_news(self._checks, self._checks.check(self.session.folder), self._stop):
                self.model.stop_training = True

    def _fitted(self) -> None:
        if self.session is not None:
            self.session.flush()

    def diagnose(self) -> Diagnosis:
        """The diagnosis of the record so far. Raises ReadError before the first step."""
        if self.session is not None:
            self.session.flush()
        folder = self._out or Path(".") if self.session is None else self.session.folder
        return diagnose(newest(folder), self._checks.config)

    def close(self) -> None:
        """Write everything and remove all hooks."""
        self._batches.remove()
        if self.session is not None:
            self.session.close()

"""What the callbacks of boosting libraries have in common: a record of rounds, opened with the first of them, and
checks of it."""

import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from traindx.capture.rounds.backend import RoundsBackend, settings_of, signals
from traindx.capture.session import Session
from traindx.config import Config
from traindx.live.checks import Checks, newest, print_news
from traindx.pipeline import Diagnosis, diagnose


class RoundsWatch:
    """Records the rounds of one `library`, one training after the other, and checks them every `check_every`
    rounds."""

    def __init__(
        self, library: str, out: str | Path | None, check_every: int, stop: bool, config: Config | None,
        settings: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.record = Record(library, out, settings)
        self._checks, self._check_every, self._stop = Checks(config), check_every, stop

    def add(self, number: int, evaluated: Mapping[str, Mapping[str, float]]) -> bool:
        """Round `number` (from 0) is over, with `evaluated[set][metric]`; whether the training is to end."""
        if self.record.add(number, evaluated) % self._check_every:
            return False
        return print_news(self._checks, self._checks.check(self.record.folder), self._stop)

    def diagnose(self) -> Diagnosis:
        """The diagnosis of the record so far. Raises ReadError before the first round."""
        return diagnose(newest(self.record.folder), self._checks.config)


class Record:
    """The rounds of one library, one training after the other. `out`: the record's folder (None: a temporary
    one)."""

    def __init__(self, library: str, out: str | Path | None, given: Mapping[str, Any]) -> None:
        self.library, self.out, self.given = library, None if out is None else Path(out), given
        self.session: Session | None = None
        self._first = 0

    def add(self, number: int, evaluated: Mapping[str, Mapping[str, float]]) -> int:
        """Round `number` (from 0) of a training is over, with `evaluated[set][metric]`. The rounds so far."""
        if self.session is None:
            self.session = Session(self.out, RoundsBackend(self.library))
            weakref.finalize(self, self.session.close)
            for fact, value in settings_of(self.given).items():
                self.session.fact(fact, value)
        self._first = self._first if number else self.session.step
        self.session.record_round(self._first + number + 1, signals(evaluated))
        return self.session.step

    @property
    def folder(self) -> Path:
        """Where the record is, written as far as it goes; before the first round there is nothing to be read
        in it."""
        if self.session is None:
            return self.out or Path(".")
        self.session.flush()
        return self.session.folder

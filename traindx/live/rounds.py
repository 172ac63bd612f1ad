"""What the callbacks of boosting libraries have in common: a record of rounds, and checks of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from traindx.capture.rounds.callback import Record
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

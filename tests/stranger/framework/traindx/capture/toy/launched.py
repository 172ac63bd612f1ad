"""The toy library in a script that `traindx run` started."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from traindx.capture.rounds.launched import Rounds
from traindx.capture.session.loop import RecordedProcess


def attach(process: RecordedProcess) -> None:
    rounds, library = Rounds(process, "toylib"), sys.modules["toylib"]

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def after_round(number: int, loss: float) -> None:
            original(number, loss)
            rounds.add(number, {"train": {"loss": loss}})

        return after_round

    rounds.stream.patches.replace(library, "after_round", make)

"""A toy library, whose `fit` calls `after_round(number, loss)` after each round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.capture.framework import Framework

if TYPE_CHECKING:
    from traindx.capture.session.loop import RecordedProcess


def attach(process: RecordedProcess) -> None:
    from traindx.capture.toy.launched import attach

    attach(process)


TOY = Framework(
    name="toylib", label="Toy", observed_by="its callback.", shows=("loss", "clock"), attach=attach
)

"""CSVLogger files against the history objects that fit() returned."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.readers.formats import keras_log
from traindx.readers.raw import RawLog

LOGGED = oracle("keras")
KERAS = LOGS / "keras"


def joined(name: str, key: str) -> list[float]:
    return [value for history in LOGGED[name] for value in history[key]]


@pytest.mark.parametrize("name", ["plain", "appended", "diverged"])
def test_columns_are_the_histories(name: str) -> None:
    log = keras_log.read(source(KERAS / f"{name}.csv"))[0]
    for key in LOGGED[name][0]:
        assert_values(log.columns[key], joined(name, key), rtol=1e-12)
    assert log.boundaries == list(accumulate(len(history["loss"]) for history in LOGGED[name][:-1]))
    assert log.events == []


def test_losses_under_the_wrong_name_are_put_back() -> None:
    log = keras_log.read(source(KERAS / "shifted.csv"))[0]
    assert_values(log.columns["loss"], joined("shifted", "loss"), rtol=1e-12)
    assert_values(log.columns["val_loss"], joined("shifted", "val_loss"), rtol=1e-12)
    (event,) = log.events
    assert event.code == "columns-shifted"
    assert event.place == "line 32"
    assert log.event_rows == {0: 30}


def restarted(second: np.ndarray, other: np.ndarray) -> RawLog:
    """A run whose loss falls from 0.4 to 0.1, then one with these columns under the same header."""
    first = np.linspace(0.4, 0.1, 12)
    rows = [
        f"{i},{a!r},{b!r}" for i, (a, b) in enumerate(zip(first.tolist(), (2 * first).tolist(), strict=True))
    ]
    rows += [
        f"{i},{a!r},{b!r}" for i, (a, b) in enumerate(zip(second.tolist(), other.tolist(), strict=True))
    ]
    return keras_log.read(memory("epoch,loss,val_loss\n" + "\n".join(rows) + "\n"))[0]


@pytest.mark.parametrize(
    "second",
    [np.linspace(0.9, 0.2, 12), np.linspace(0.4, 3.0, 12), np.linspace(0.1, 0.05, 12), np.full(12, np.nan)],
    ids=["higher", "diverging", "going on", "not finite"],
)
def test_a_run_that_merely_differs_is_left_alone(second: np.ndarray) -> None:
    log = restarted(second, 2 * second)
    assert log.events == []
    assert_values(log.columns["loss"], np.concatenate([np.linspace(0.4, 0.1, 12), second]))


def test_only_its_own_tables_are_claimed() -> None:
    assert keras_log.sniff(source(KERAS / "plain.csv")) > 0.8
    assert keras_log.sniff(source(LOGS / "lightning_csv" / "version_0" / "metrics.csv")) == 0.0
    assert keras_log.sniff(memory("epoch,val_loss,loss\n0,1,2\n1,1,2\n")) == 0.0

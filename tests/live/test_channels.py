"""What every kind of alert channel keeps: each file in traindx/live/alerts/channels, on the receiver that its test has."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from traindx.installed import modules_of
from traindx.live.alerts import channels
from traindx.live.alerts.messages import NotDelivered, message
from traindx.vocabulary.live import LiveEvent

NAMES = sorted(home.rpartition(".")[2] for home in modules_of(channels.__name__, channels.__path__))
every_channel = pytest.mark.parametrize("name", NAMES)
WORDS = "It failed: $(touch pwned) `id`; %s"
EVENT = LiveEvent(cursor="ab:1", run="exp/a b.log", source="a b.log", kind="run-failed", text=WORDS)


def both(name: str) -> tuple[ModuleType, ModuleType]:
    """The channel and its test."""
    if name == "apprise":
        pytest.importorskip("apprise")
    test = f"tests.live.channels.{name}"
    assert importlib.util.find_spec(test), f"{name}: add tests/live/channels/{name}.py with receiver()"
    return importlib.import_module(f"{channels.__name__}.{name}"), importlib.import_module(test)


@every_channel
def test_a_message_arrives_as_it_is(name: str, tmp_path: Path) -> None:
    channel, test = both(name)
    with test.receiver(tmp_path) as receiver:
        channel.check(receiver.address)
        channel.send(receiver.address, message([EVENT, EVENT], tmp_path / "receipt"))
        assert WORDS in "\n".join(receiver.arrived())
        assert len(receiver.arrived()) == 2


@every_channel
def test_a_message_that_does_not_arrive_is_said_without_secrets(name: str, tmp_path: Path) -> None:
    channel, test = both(name)
    with test.receiver(tmp_path) as receiver:
        channel.check(receiver.failing)
        with pytest.raises(NotDelivered) as raised:
            channel.send(receiver.failing, message([EVENT], tmp_path / "receipt"))
        assert receiver.arrived() == []
    assert str(raised.value)
    assert "hunter2secret" not in str(raised.value)
    assert "token4711" not in str(raised.value)

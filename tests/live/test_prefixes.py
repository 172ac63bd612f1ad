"""What is known of a growing log is what `diagnose` says of its beginning (100 logs at 20 places each:
`python -m benchmarks.streams.prefixes`), and how often that is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.streams import prefixes
from traindx.live.judging_times import SHARE, Looks, share_of

LOGS = Path(__file__).parents[1] / "logs"


@pytest.mark.parametrize(
    "name",
    [
        "csv/sparse_twice.csv",
        "jsonl/bare_nan.jsonl",
        "lightning_csv/version_0/metrics.csv",
        "text/crash.log",
        "text/megatron_wrapped.log",
    ],
)
def test_a_growing_log_is_judged_as_its_beginning(name: str, tmp_path: Path) -> None:
    assert prefixes.is_followed(LOGS / name)
    assert list(prefixes.differences(LOGS / name, 5, tmp_path)) == []


def test_a_difference_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A follower that never looks again is caught."""
    monkeypatch.setattr(prefixes, "APART", 0.0)
    log = tmp_path / "train.log"
    log.write_text("".join(f"step {i} | loss {2 + 1 / (1 + i):.4f} | lr 0.01\n" for i in range(400)))
    assert prefixes.is_followed(log)
    assert len(list(prefixes.differences(log, 5, tmp_path))) > 0


class Followed:
    """A log of many rows, looked at twice a second; a look costs `cost` seconds of a processor."""

    def __init__(self, cost: float) -> None:
        self.looks, self.cost, self.now, self.bytes = Looks(), cost, 0.0, 1_000_000
        self.times: list[float] = []

    def go_on(self, seconds: float, line: bytes, share: float = SHARE) -> None:
        for half in range(2 * int(seconds)):
            self.now += 0.5
            if half % 2:
                self.bytes += len(line)
                self.looks.notice(self.bytes, line)
            if self.looks.due(self.now, self.bytes, share):
                self.looks.begin(self.now, share)
                self.looks.looked(self.bytes, self.cost)
                self.times.append(self.now)


@pytest.mark.parametrize("line", [b"step 1 loss 0.2\n", b"step 1 loss nan\n"])
@pytest.mark.parametrize("cost", [0.02, 0.5, 3.0])
def test_looks_take_no_more_than_their_share(cost: float, line: bytes) -> None:
    """Also where every line speaks of a failure. One look may have been made ahead of time."""
    log = Followed(cost)
    log.go_on(3600, line)
    assert len(log.times) > 10
    assert len(log.times) * cost <= SHARE * 3600 + 2 * cost
    assert max(b - a for a, b in zip(log.times, log.times[1:], strict=False)) <= cost / SHARE + 1


def test_many_runs_share_what_they_take() -> None:
    log = Followed(0.5)
    log.go_on(3600, b"step 1 loss 0.2\n", share_of(200))
    assert 0 < len(log.times) * 0.5 <= 3600 * 0.4 / 200 + 1


def test_the_first_failure_is_looked_at_at_once() -> None:
    log = Followed(3.0)
    log.go_on(200, b"step 1 loss 0.2\n")
    quiet = len(log.times)
    log.go_on(1, b"step 1 loss nan\n")
    assert log.now - log.times[-1] < 1
    assert len(log.times) == quiet + 1


def test_a_log_that_grows_fast_is_looked_at_more_often() -> None:
    slow, fast = Followed(3.0), Followed(3.0)
    slow.go_on(600, b"step 1 loss 0.2\n")
    fast.go_on(600, b"step 1 loss 0.2\n" * 1000)
    assert len(fast.times) > 2 * len(slow.times)

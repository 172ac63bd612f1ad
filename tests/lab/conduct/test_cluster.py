"""Starts as tasks of a real Ray on this machine. Needs the extra `ray`; loudly skipped where it is not there."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("ray", reason="Ray is not installed: nothing is known of trials on it")

from tests.lab.conduct.test_warm import NET, TRAINS, project, written
from tests.lab.repair.test_search import searched
from traindx.errors import ConfigError
from traindx.lab.conduct.attempts import attempt
from traindx.lab.conduct.cluster import Cluster
from traindx.lab.repair.options import Options

pytestmark = pytest.mark.slow
__all__ = ["project"]
# The first time that it runs, what started it dies: the keeper's parent is Ray's worker.
KILLS = """
import os, signal, sys
if not os.path.exists(sys.argv[3]):
    open(sys.argv[3], "w").close()
    with open(f"/proc/{os.getppid()}/stat") as stat:
        os.kill(int(stat.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ray") / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    return written(folder, train=TRAINS, kills=KILLS + TRAINS, net=NET)


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[Cluster]:
    made = Cluster(attempt, folder)
    yield made
    made.close()


def test_a_task_records_the_same_numbers_as_a_start(cluster: Cluster, folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "train.py", "5", "0"]
    far = cluster(command, tmp_path / "far", ("lr=*0.5", "seed=3"), None, threads=1)
    near = attempt(command, tmp_path / "near", ("lr=*0.5", "seed=3"), None, threads=1, folder=folder)
    assert far.conducted.ok, far.conducted.tail
    assert far.run is not None
    assert near.run is not None
    for name in ("train/loss", "lr", "grad_norm"):
        assert np.array_equal(far.run.series[name].values, near.run.series[name].values)


def test_a_worker_that_is_killed_is_made_up_for_once(cluster: Cluster, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = [sys.executable, "kills.py", "5", "0", str(mark)]
    tried = cluster(command, tmp_path / "out", ("seed=3",), None, threads=1, writable=(str(tmp_path),))
    assert mark.exists()
    assert tried.conducted.ok, tried.conducted.tail
    assert tried.run is not None


def test_failures_are_reported_as_by_a_start(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no-such-program"):
        cluster(["no-such-program"], tmp_path / "out", (), None)


def test_a_task_that_is_stopped_ends(cluster: Cluster, folder: Path, tmp_path: Path) -> None:
    (folder / "hangs.py").write_text("import time\ntime.sleep(600)\n")
    stop = threading.Event()
    threading.Timer(3.0, stop.set).start()
    with pytest.raises(InterruptedError):
        cluster([sys.executable, "hangs.py"], tmp_path / "out", (), None, stop=stop)


def test_the_verdicts_are_those_of_the_local_pool(
    cluster: Cluster, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two at a time, here and there."""
    monkeypatch.chdir(folder)
    (folder / "high.py").write_text(TRAINS.replace("lr=1e-2", "lr=3.0").replace("range(4)", "range(12)"))
    reports = []
    for name, start in (("far", cluster), ("near", attempt)):
        place = tmp_path / name
        place.mkdir()
        reports.append(
            searched(
                place, start, Options(steps=60), jobs=2, command=[sys.executable, "high.py", "5", "0"]
            ).report
        )
    far, near = reports
    assert far.verdict == near.verdict
    assert [(t.fix, t.verdict, t.interventions, t.gains) for t in far.trials] == [
        (t.fix, t.verdict, t.interventions, t.gains) for t in near.trials
    ]
    assert any(t.verdict == "confirmed" for t in near.trials)
    assert os.getcwd() == str(folder)

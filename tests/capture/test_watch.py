"""`traindx.watch` inside a loop: diagnoses on the way, and the loader's time."""

from __future__ import annotations

import gc
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

import traindx  # noqa: E402
from tests.capture.session.test_session import fit, net, read  # noqa: E402
from traindx.errors import ReadError  # noqa: E402
from traindx.features.shared import Features  # noqa: E402


def test_diagnosing_inside_the_loop(tmp_path: Path) -> None:
    """Findings are reported once, when they are new; without a folder it works as well."""
    reported: list[set[str]] = []

    def note(diagnosis: traindx.Diagnosis) -> None:
        reported.append({f.slug for f in diagnosis.first.findings})

    model = net()
    watch = fit(
        None,
        120,
        model=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=1e-9),
        batch=lambda step: torch.randn(32, 6) * (1 if step < 60 else math.nan),
        on_finding=note,
        check_every=20,
    )
    assert reported
    assert any("loss-not-finite" in found for found in reported)
    assert len(reported) < 6
    folder = watch.session.folder
    assert watch.diagnose().first.run.steps >= 120
    assert folder.is_dir()
    del watch
    gc.collect()
    assert not folder.exists()


def test_nothing_to_diagnose_yet(tmp_path: Path) -> None:
    model = net()
    with traindx.watch(model, torch.optim.SGD(model.parameters(), lr=1.0), out=tmp_path) as watch:
        with pytest.raises(ReadError):
            watch.diagnose()
        assert watch.session.active


def test_processes_share_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torchrun gives them their rank; a process group is asked first, where there is one."""
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank in (0, 1):
        monkeypatch.setenv("RANK", str(rank))
        fit(tmp_path, 20 + 10 * rank)
    run = read(tmp_path)
    assert (run.setup.number("world_size"), run.setup.number("ranks_reporting")) == (2, 2)
    assert [len(run.series[f"{prefix}train/loss"]) for prefix in ("", "rank/1/")] == [20, 30]
    assert not [event for event in run.events if event.kind == "resume"]


def test_the_loader_is_timed(tmp_path: Path) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path) as watch:
        seen = list(watch.loader([1, 2]))
        for x in watch.loader(torch.randn(5, 4, 6)):
            model(x).sum().backward()
            optimizer.step()
    assert seen == [1, 2]
    assert len(read(tmp_path).series["time/data"]) == 5


@pytest.mark.parametrize("simulator", ["gymnasium", ""])
def test_a_simulator_is_recorded_and_its_loss_is_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simulator: str
) -> None:
    if simulator:
        monkeypatch.setitem(sys.modules, simulator, ModuleType(simulator))
    fit(tmp_path, 30)
    run = read(tmp_path)
    assert run.setup.word("simulator") == simulator
    assert Features(run).loss_is_no_score is bool(simulator)

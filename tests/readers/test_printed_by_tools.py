"""Tables of YOLO without a drawn bar, DeepXDE's `loss.dat`, a time that touches the next word, processes that failed."""

from __future__ import annotations

import math

import pytest

from tests.readers.sources import memory
from traindx import pipeline
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.vocabulary import Run

ROW = """\
      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size
       {epoch}/50      2.62G      {box}      2.663       1.38         43        640: {bar}
                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): {end}
                   all        128        929      0.65      0.54      {map50}      0.45
"""
BARS = (
    ("100% 120/120 [00:20<00:00,  5.9it/s]", "100% 4/4 [00:01<00:00,  2.9it/s]"),  # in a notebook
    ("100%|██████████| 120/120 [00:20<00:00,  5.9it/s]", "100%|██████████| 4/4 [00:01<00:00,  2.9it/s]"),
)


def run_of(text: str, name: str = "log") -> Run:
    (run,) = [run for log in read_source(memory(text, name)) for run in assemble(log)]
    return run


@pytest.mark.parametrize("bars", BARS)
def test_headings_of_yolo_before_any_bar(bars: tuple[str, str]) -> None:
    rows = [
        ROW.format(epoch=e, box=2.0 - e / 10, map50=0.5 + e / 100, bar=bars[0], end=bars[1])
        for e in range(1, 6)
    ]
    run = run_of("".join(rows))
    assert list(run.series["train/box_loss"].values) == pytest.approx([2.0 - e / 10 for e in range(1, 6)])
    assert list(run.series["val/map50"].values) == pytest.approx([0.5 + e / 100 for e in range(1, 6)])
    assert set(run.series["val/precision"].values) == {0.65}


def test_a_level_loss_of_a_detector_that_is_good_is_no_failed_start() -> None:
    bar, end = BARS[0]
    late = [
        ROW.format(epoch=e, box=f"{0.5 + e / 1e4:.4f}", map50=0.95, bar=bar, end=end) for e in (40, 41, 42)
    ]
    (found,) = pipeline.diagnose([run_of("".join(late))]).document.runs
    assert "loss-flat-from-start" not in {f.slug for f in found.findings}


def test_a_time_that_touches_the_next_word() -> None:
    lines = [f"2019-11-08 23:{i:02}:35iters: {20 * i}, loss:{2 / i:.4f}" for i in range(1, 30)]
    run = run_of("\n".join(lines))
    assert list(run.series["train/loss"].steps) == [20.0 * i for i in range(1, 30)]
    assert set(run.series) == {"train/loss"}


@pytest.mark.parametrize("metric", ["", " 0.25"])
def test_losses_of_deepxde(metric: str) -> None:
    lines = ["# step, loss_train, loss_test, metrics_test"]
    lines += [f"{1000 * i} {1 / i} {2 / i} {3 / i} {4 / i}{metric}" for i in range(1, 20)]
    run = run_of("\n".join(lines), "loss.dat")
    assert list(run.series["train/loss"].values) == pytest.approx([3 / i for i in range(1, 20)])
    assert list(run.series["val/loss"].values) == pytest.approx([7 / i for i in range(1, 20)])
    assert run.series["train/loss"].steps[-1] == 19000
    assert not any(math.isclose(v, 0.25) for v in run.series["val/loss"].values[4:])


@pytest.mark.parametrize(
    ("line", "failed"),
    [
        ("thread 'main' panicked at 'index out of bounds: the len is 3', src/main.rs:10:5", True),
        ("ERROR - Subprocess exited with code 3221226356", True),
        ("worker process exited with status 0", False),
    ],
)
def test_processes_that_failed(line: str, failed: bool) -> None:
    run = run_of(f"epoch 1 loss 0.5\nepoch 2 loss 0.4\n{line}\n")
    assert any(event.kind == "crash" for event in run.events) == failed

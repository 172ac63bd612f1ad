"""Rows as people paste them: thousands' commas, names of one tool only, sentences around numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.readers.sources import memory
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.vocabulary import Run


def run_of(text: str) -> Run:
    (run,) = [run for log in read_source(memory(text)) for run in assemble(log)]
    return run


def test_a_counter_with_thousands_before_a_comma() -> None:
    lines = "".join(
        f"INFO: <epoch: {20 + i}, iter:   {4 + i},200, lr:1.000e-04> l_pix: {0.03 / (i + 1):.4e} \n"
        for i in range(4)
    )
    run = run_of(lines)
    assert run.axis == "step"
    (loss,) = [s for n, s in run.series.items() if n.startswith("train/")]
    np.testing.assert_array_equal(loss.steps, [4200, 5200, 6200, 7200])


def test_a_list_of_numbers_is_no_number_with_thousands() -> None:
    run = run_of("".join(f"step {i} loss {3 / i:.3f} sizes: 12,345,67\n" for i in range(1, 6)))
    np.testing.assert_allclose(run.series["train/loss"].values, [3, 1.5, 1, 0.75, 0.6])


@pytest.mark.parametrize(
    ("total", "first"),
    [(80000, 1210.0), (1173, 2 * 1173 + 1210 % 1173)],  # a plan, and the batches of an epoch
)
def test_a_round_number_of_steps_is_a_plan_and_not_an_epoch(total: int, first: float) -> None:
    start = 1210 % total
    lines = "".join(
        f"[TRAIN] epoch: 3, iter: {start + 10 * i}/{total}, loss: {0.4 - i / 100}, batch_cost: 0.41, reader_cost: 0.0002\n"
        for i in range(5)
    )
    run = run_of(lines)
    assert run.series["train/loss"].steps[0] == first
    assert {"time/step", "time/data"} <= set(run.series)


def test_a_name_begins_after_the_sentence_before_it() -> None:
    lines = "".join(f"Epoch {i} complete. Avg Training Loss: {4 / i:.3f}\n" for i in range(1, 6))
    assert "train/loss" in run_of(lines).series
    assert not run_of(lines).events


def test_an_unknown_name_is_the_loss_if_there_is_no_other() -> None:
    lines = "".join(
        f"Epoch: [0][{10 * i}/1200]\tIz {10 * i}  lr 0.0002  Qu {25.6 - i / 9:.4f} ({25.6:.4f})\tTime 0.31 (0.3)\n"
        for i in range(1, 7)
    )
    run = run_of(lines)
    assert run.originals["train/loss"] == "Qu"
    assert any("--map" in e.message for e in run.events)
    with_loss = run_of(lines.replace("\tTime", "\tLoss 0.7\tTime"))
    assert with_loss.originals["train/loss"] == "Loss"


def test_an_unknown_name_that_rises_in_each_of_several_runs_is_no_loss() -> None:
    """A correlation that is printed when it is better than before."""
    runs = [[0.7 - 0.1 * r + 0.05 * i**0.5 for i in range(8)] for r in range(4)]
    lines = "".join(
        f"better qucorr: {v:.4f} in batch: {10 * i + 10}\n" for run in runs for i, v in enumerate(run)
    )
    for log in read_source(memory(lines)):
        assert all("train/loss" not in run.series for run in assemble(log))


def test_a_chinese_sentence_with_numbers_is_no_row() -> None:
    (log,) = read_source(
        memory("请问我用的数据集有三万张图片，loss和acc开始为8与0，第9个epoch降到了3左右，之后就不变了\n")
    )
    assert not log.columns
    row = run_of("第1轮 损失 2.31 准确率 0.12\n第2轮 损失 1.92 准确率 0.31\n第3轮 损失 1.52 准确率 0.45\n")
    assert len(row.series) >= 1

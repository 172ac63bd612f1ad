"""Forms of logs met in public repositories: every series under its name, at its step, in its unit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from traindx.errors import ReadError
from traindx.readers import read_path
from traindx.vocabulary.run import Run

ROWS = range(1, 25)


def loss(row: int) -> float:
    return round(0.4 + 2 * 0.9**row, 5)


def read(path: Path, lines: Iterable[str]) -> list[Run]:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_path(str(path))


def only(path: Path, lines: Iterable[str]) -> Run:
    (run,) = read(path, lines)
    return run


def test_records_glued_behind_a_progress_bar(tmp_path: Path) -> None:
    bar = "\rEpoch Progress:   3%|#     | {0}/1000 [00:{0:02d}<24:53,  1.49s/it]"
    lines = [
        bar.format(r) + f"Dataset Size: 1%, Epoch: {r}, Train Loss: {loss(r)}, Val Loss: 2.5" for r in ROWS
    ]
    run = only(tmp_path / "train.txt", [bar.format(0), *lines])
    assert run.series["train/loss"].values.tolist() == [loss(r) for r in ROWS]
    assert run.series["train/loss"].steps.tolist() == list(ROWS)


def test_a_heading_before_a_progress_bar_is_one_still(tmp_path: Path) -> None:
    head = "epoch     train_loss  valid_loss  lr        :   0%|     | 0/24 [00:00<?, ?it/s]"
    run = only(
        tmp_path / "train.log", [head, *(f"{r}         {loss(r)}    {loss(r)}    0.001" for r in ROWS)]
    )
    assert run.series["val/loss"].values.tolist() == [loss(r) for r in ROWS]


def test_the_step_of_clus_logging_writer_follows_its_place(tmp_path: Path) -> None:
    head = "I0301 12:{0:02d}:00.000000 140 logging_writer.py:48] [{1}] learning_rate=0.001, loss={2}"
    run = only(tmp_path / "train.log", (head.format(r, 100 * r, loss(r)) for r in ROWS))
    assert run.series["train/loss"].steps.tolist() == [100 * r for r in ROWS]


@pytest.mark.parametrize("name", ["elapsed_s", "elapsed_sec", "elapsed", "elapsed (s)"])
def test_elapsed_is_the_time_of_a_row_or_a_clock(name: str, tmp_path: Path) -> None:
    took = [12.0 + r % 3 for r in ROWS]
    head = f"epoch,train_loss,{name}"
    each = only(tmp_path / "each.csv", [head, *(f"{r},{loss(r)},{took[r - 1]}" for r in ROWS)])
    assert each.series["time/step"].values.tolist() == took
    since = only(tmp_path / "since.csv", [head, *(f"{r},{loss(r)},{sum(took[:r])}" for r in ROWS)])
    np.testing.assert_allclose(since.series["time/step"].values, took[1:])


def test_a_time_of_one_iteration_that_rises_is_no_clock(tmp_path: Path) -> None:
    head = "iteration {0}/ 1000 | elapsed time per iteration (s): {1:.2f} | lm loss: {2:.6E} |"
    run = only(tmp_path / "train.log", (head.format(10 * r, 105 + r / 10, loss(r)) for r in ROWS))
    np.testing.assert_allclose(run.series["time/step"].values, [105 + r / 10 for r in ROWS])


@pytest.mark.parametrize("named", ["learning_rate_{}", "lr={}", "loss_lr{}", "lr {} loss"])
def test_one_column_a_rate_is_one_run_a_rate(named: str, tmp_path: Path) -> None:
    rates = ("0.1", "0.01", "1e-3")
    head = ",".join(["step", *map(named.format, rates)])
    rows = (f"{r},{loss(r)},{2 * loss(r)},{3 * loss(r)}" for r in ROWS)
    runs = read(tmp_path / "rates.csv", [head, *rows])
    assert [run.setup.lr for run in runs] == [0.1, 0.01, 0.001]
    for times, run in enumerate(runs, 1):
        assert set(run.series) == {"train/loss"}
        np.testing.assert_allclose(run.series["train/loss"].values, [times * loss(r) for r in ROWS])


@pytest.mark.parametrize("names", ["loss,lr0,lr1", "lr/pg0,lr/pg1,lr/pg2", "loss_0.1,loss_0.01,lr"])
def test_rates_of_groups_are_no_runs(names: str, tmp_path: Path) -> None:
    count = names.count(",") + 1
    run = only(tmp_path / "x.csv", [f"epoch,{names}", *(",".join([str(r)] + ["0.5"] * count) for r in ROWS)])
    assert run.points == len(ROWS)


MODEL_CARD = [
    "| Training Loss | Epoch | Step | Validation Loss |",
    "|:-------------:|:-----:|:----:|:---------------:|",
    "| No log        | 1.0   | 100  | 0.71            |",
    "| 0.62          | 2.0   | 200  | 0.55            |",
    "| **0.41**      | **3.0** | **300** | **0.52**   |",
    "| 0.33          | 4.0   | 400  | 0.58            |",
]


def test_a_model_card_keeps_rows_without_a_training_loss_and_the_row_in_bold(tmp_path: Path) -> None:
    run = only(tmp_path / "README.md", MODEL_CARD)
    assert run.series["train/loss"].values.tolist() == [0.62, 0.41, 0.33]
    assert run.series["val/loss"].values.tolist() == [0.71, 0.55, 0.52, 0.58]


def test_a_row_with_other_words_in_its_cells_is_none_of_the_table(tmp_path: Path) -> None:
    run = only(tmp_path / "README.md", [line.replace("No log", "not yet") for line in MODEL_CARD])
    assert run.series["val/loss"].values.tolist() == [0.55, 0.52, 0.58]


@pytest.mark.parametrize("hole", [100, 200_000], ids=["short", "longer than what is looked at"])
def test_a_log_that_was_emptied_while_it_was_written_begins_with_zeros(hole: int, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(bytes(hole) + "\n".join(f"step {r} | loss {loss(r)}" for r in ROWS).encode())
    (run,) = read_path(str(path))
    assert run.series["train/loss"].values.tolist() == [loss(r) for r in ROWS]


def test_nothing_but_zeros_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(bytes(5000))
    with pytest.raises(ReadError):
        read_path(str(path))


def ultralytics(bar: str) -> list[str]:
    lines = []
    for r in range(1, 9):
        lines += [
            "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size",
            *(
                f"\x1b[K     {r}/8      1.68G     {loss(r)}      2.6      1.2        95        640: {part}"
                for part in (bar.replace("100%", "50%"), bar)
            ),
            f"\x1b[K                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): {bar}",
            f"                   all         18         18      0.6      0.4      0.{40 + r}      0.3{r}",
        ]
    return lines


@pytest.mark.parametrize(
    "bar", ["100%|██████████| 50/50 [00:10<00:00,  4.6it/s]", "100% ━━━━━━━━━━━━ 50/50 4.6it/s 10.8s"]
)
def test_a_detector_with_either_progress_bar(bar: str, tmp_path: Path) -> None:
    run = only(tmp_path / "train.log", ultralytics(bar))
    assert run.series["train/box_loss"].values.tolist() == [loss(r) for r in range(1, 9)]
    assert run.series["val/map50"].values.tolist() == [round(0.4 + r / 100, 2) for r in range(1, 9)]
    assert run.series["val/map50_95"].steps.tolist() == list(range(1, 9))


@pytest.mark.parametrize("rule", ["-|-|-|-|-", "---|:---:|---|---|---:"])
def test_a_markdown_table_without_outer_bars_is_no_csv(rule: str, tmp_path: Path) -> None:
    rows = [f"{r - 1}/24|{loss(r)}|0.5|0.7{r}|0.6{r}" for r in ROWS]
    run = only(tmp_path / "results.md", ["epoch|loss|p|r|map", rule, *rows])
    assert run.series["train/loss"].values.tolist() == [loss(r) for r in ROWS]
    assert "val/recall" in run.series
    assert "train/reward" not in run.series


def test_a_table_of_bars_is_a_csv(tmp_path: Path) -> None:
    run = only(tmp_path / "results.csv", ["epoch|loss|lr", *(f"{r}|{loss(r)}|0.1" for r in ROWS)])
    assert run.format == "csv"
    assert run.series["train/loss"].values.tolist() == [loss(r) for r in ROWS]


def test_two_lines_of_headings_and_cells_that_are_empty(tmp_path: Path) -> None:
    """What MATLAB's trainNetwork prints."""
    rule = "|" + "=" * 107 + "|"
    head = [
        "|  Epoch  |  Iteration  | Time Elapsed |  Mini-batch  |  Validation  |  Mini-batch  |  Validation  |Base Learning|",
        "|         |             |  (hh:mm:ss)  |   Accuracy   |   Accuracy   |     Loss     |     Loss     |     Rate    |",
    ]
    row = "|{0:8d} |{1:12d} |     00:00:{0:02d} |{2:12.2f}% |{3:>13} |{4:13.4f} |{5:>13} |      0.0100 |"
    lines = [
        row.format(
            r,
            10 * r,
            90 - loss(r),
            "" if r % 2 else f"{80 - loss(r):.2f}%",
            loss(r),
            "" if r % 2 else f"{1 + loss(r):.4f}",
        )
        for r in ROWS
    ]
    run = only(tmp_path / "train.txt", [rule, *head, rule, *lines, rule])
    assert run.series["train/loss"].values == pytest.approx([loss(r) for r in ROWS], abs=1e-4)
    assert run.series["train/loss"].steps.tolist() == [10 * r for r in ROWS]
    assert run.series["val/loss"].values == pytest.approx(
        [1 + loss(r) for r in ROWS if r % 2 == 0], abs=1e-4
    )
    assert run.series["val/accuracy"].steps.tolist() == [10 * r for r in ROWS if r % 2 == 0]


@pytest.mark.parametrize(
    ("line", "series"),
    [
        ("Época {0}/24 | Train: {2:.1f}% | Val: {2:.1f}% | ", {"train/score", "val/score"}),
        ("Epoche {0}/24 | Total Loss: {1} (R²=+{3:.2f})", {"train/loss", "train/r2"}),
        ("It: {0} \t train NLL: {1} \t held-out NLL: {1}", {"train/loss", "val/loss"}),
        ("Epok {0}/24 - Kayıp: {1} - Doğruluk: {3:.4f}", {"train/loss", "train/accuracy"}),
        ("Época {0}/24, pérdida={1}, exactitud_validacion={2:.2f}%", {"train/loss", "val/accuracy"}),
    ],
)
def test_lines_in_other_languages(tmp_path: Path, line: str, series: set[str]) -> None:
    lines = [line.format(r, loss(r), 100 - 30 * loss(r), 1 - 0.3 * loss(r)) for r in ROWS]
    run = only(tmp_path / "train.txt", lines)
    assert {name for name in run.series if name.startswith(("train/", "val/"))} == series

"""Lines of loops that print as one speaks: ordinals, dots, bars on top of each other, and prefixed twins."""

from __future__ import annotations

from pathlib import Path

import pytest

import traindx
from traindx.vocabulary.run import Run

BAR = "100%|##########| 46/46 [00:05<00:00,  8.60it/s]\n"


def read_text(text: str, folder: Path) -> Run:
    (folder / "train.log").write_text(text)
    (run,) = traindx.read_all(folder / "train.log")
    return run


@pytest.mark.parametrize(
    "line",
    [
        "EPOCH {n} ... Validation Accuracy = {v}\n",
        "{n}th epoch: validation accuracy is {v}\n",
        "epoch #{n} ... val acc: {v}\n",
    ],
)
def test_epochs_with_dots_and_ordinals(tmp_path: Path, line: str) -> None:
    values = [0.24, 0.37, 0.33, 0.42, 0.49, 0.59]
    run = read_text("".join(BAR + line.format(n=n, v=v) for n, v in enumerate(values, 1)), tmp_path)
    assert list(run.series["val/accuracy"].values) == values
    assert list(run.series["val/accuracy"].steps) == [1, 2, 3, 4, 5, 6]


def test_bars_in_a_log_without_epochs_count_nothing(tmp_path: Path) -> None:
    values = [0.735, 0.765, 0.766, 0.78, 0.79, 0.8, 0.81, 0.82]
    bars = "100%|######| 6250/6250 [03:45<00:00, 27.72it/s]\n  0%|      | 6/6250 [00:00<04:32, 22.94it/s]\n"
    run = read_text("".join(f'{bars}-- "test accuracy {v}\n\n' for v in values), tmp_path)
    assert list(run.series["val/accuracy"].values) == values


def test_the_cursor_moves_up_between_a_bar_and_a_record(tmp_path: Path) -> None:
    lines = (
        f"Validation: |  | 0/? [00:00<?, ?it/s]\x1b[AEpoch {n}: v_loss {2 - n / 9:.3f}  loss {3 - n / 5:.3f}  "
        f"v_recons {1 - n / 20:.3f}  recons {1 - n / 15:.3f}\n"
        for n in range(9)
    )
    run = read_text("".join(lines), tmp_path)
    assert {"train/loss", "val/loss"} <= set(run.series)
    assert run.series["train/loss"].values[0] == 3.0
    assert run.series["val/loss"].values[0] == 2.0


def test_one_prefixed_loss_is_that_of_a_value_network(tmp_path: Path) -> None:
    run = read_text(
        "".join(f"step {n}: v_loss {1 / (n + 1):.4f} loss {2 / (n + 1):.4f}\n" for n in range(9)), tmp_path
    )
    assert "val/loss" not in run.series


def test_similarities_are_no_parts_of_a_loss(tmp_path: Path) -> None:
    """A total that contains the PSNR would rise as the network learns."""
    lines = (
        f"Epoch: {n}, mae_loss: {0.03 / (n + 1):.4f}, psnr_loss: {30 + n}, ssim_loss: {0.7 + n / 50:.3f}\n"
        for n in range(10)
    )
    run = read_text("".join(lines), tmp_path)
    assert "train/loss" not in run.series or run.series["train/loss"].values[-1] < 0.01


def test_a_counter_glued_to_a_loss_that_is_a_tensor(tmp_path: Path) -> None:
    lines = (f"idx: {n}loss: tensor({8 - n / 9:.4f}, grad_fn=<NegBackward>)\n" for n in range(9))
    run = read_text("".join(lines), tmp_path)
    assert run.series["train/loss"].values[0] == 8.0
    assert list(run.series["train/loss"].steps) == list(range(9))


def test_a_total_next_to_its_parts_is_the_loss(tmp_path: Path) -> None:
    lines = [f"Epoch {n}: Rec={1 / n:.4f}, KL={2 / n:.4f}, Total={3 / n:.4f}\n" for n in range(1, 9)]
    assert read_text("".join(lines), tmp_path).series["train/loss"].values[0] == 3.0


def test_a_total_of_something_else_is_no_loss(tmp_path: Path) -> None:
    lines = [f"Epoch {n}: games={n}, Total={3 * n}, accuracy={n / 9:.3f}\n" for n in range(1, 9)]
    assert "train/loss" not in read_text("".join(lines), tmp_path).series


@pytest.mark.parametrize(("shift", "held_out"), [(0.0, False), (0.3, True)])
def test_the_mean_of_an_epoch_is_no_evaluation(tmp_path: Path, shift: float, held_out: bool) -> None:
    text = ""
    for epoch in range(1, 9):
        losses = [round(2 / epoch + 0.1 * (batch % 2), 4) for batch in range(6)]
        text += "".join(f"epoch {epoch}/8 step {n + 1}/6 loss={v:.4f}\n" for n, v in enumerate(losses))
        text += f"Epoch {epoch} average loss: {sum(losses) / 6 + shift:.4f}  (69.{epoch}s)\n"
    run = read_text(text, tmp_path)
    assert ("val/loss" in run.series) == held_out
    assert not any("running_mean" in name for name in run.series)


@pytest.mark.parametrize(("held", "is_loss"), [(1.3, True), (30.0, False)])
def test_a_bare_val_next_to_a_loss(tmp_path: Path, held: float, is_loss: bool) -> None:
    lines = [f"epoch {n}/9  loss={2.4 / n:.4f} (p=0.5)  val={held / n:.4f}  [best]\n" for n in range(1, 9)]
    assert ("val/loss" in read_text("".join(lines), tmp_path).series) == is_loss

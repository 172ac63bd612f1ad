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


@pytest.mark.parametrize(
    "printed",
    [
        "tensor({v}, device='cuda:0', grad_fn=<NllLossBackward>)",
        "tensor([{v}])",
        "tf.Tensor({v}, shape=(), dtype=float32)",
        "np.float64({v})",
        "Array({v}, dtype=float32)",
        "{v}",
    ],
)
@pytest.mark.parametrize("between", [" ", ": "])
def test_a_number_is_read_with_or_without_its_type(tmp_path: Path, printed: str, between: str) -> None:
    values = [2.5, 1.75, 1.25, 1.0, 0.875, 0.75]
    lines = (
        f"epoch {n} train_loss{between}{printed.format(v=v)} acc 0.{n}\n" for n, v in enumerate(values, 1)
    )
    run = read_text("".join(lines), tmp_path)
    assert list(run.series["train/loss"].values) == values
    assert list(run.series["train/accuracy"].values) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]


def test_several_numbers_of_one_type_leave_the_loss_alone(tmp_path: Path) -> None:
    lines = (f"epoch {n} loss 0.{9 - n} weights tensor([0.5, 0.{n}])\n" for n in range(1, 7))
    run = read_text("".join(lines), tmp_path)
    assert list(run.series["train/loss"].values) == [0.8, 0.7, 0.6, 0.5, 0.4, 0.3]


def test_a_name_may_be_glued_to_the_number_before_it(tmp_path: Path) -> None:
    lines = (f"{n} Val Pi loss:0.{90 - n}Val V loss:0.{50 - n}\n" for n in range(10, 20))
    run = read_text("".join(lines), tmp_path)
    assert run.series["val/pi_loss"].values[0] == 0.8
    assert run.series["val/v_loss"].values[-1] == 0.31


def test_rows_that_name_only_their_epoch_are_all_kept(tmp_path: Path) -> None:
    values = [round(2 / (n + 1), 4) for n in range(30)]
    run = read_text("".join(f"epoch:  {n // 10} loss:  {v}\n" for n, v in enumerate(values)), tmp_path)
    assert list(run.series["train/loss"].values) == values


def test_an_epoch_that_is_printed_twice_is_one(tmp_path: Path) -> None:
    lines = (f"Epoch {n}, Loss: {2 / n:.4f}\n" * 2 for n in range(1, 9))
    run = read_text("".join(lines), tmp_path)
    assert list(run.series["train/loss"].steps) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_heading_with_the_name_of_a_file_counts_for_the_lines_below(tmp_path: Path) -> None:
    lines = [
        f"  Epoch {n:04d} : models\\{n:04d}.pt\n     Dice = 0.{60 + n} ± 0.07  |  Jac = 0.{n}%\n"
        for n in range(9)
    ]
    run = read_text("".join(lines) + "best model: Epoch 0008  Dice = 0.68\n", tmp_path)
    dice = run.series["train/dice"]
    assert list(dice.steps) == list(range(9))
    assert list(dice.values) == [0.6, 0.61, 0.62, 0.63, 0.64, 0.65, 0.66, 0.67, 0.68]


def test_options_count_nothing_of_the_losses_below(tmp_path: Path) -> None:
    options = "Args:Namespace(eval_step=50, lr=0.0003, margin=0.3)\n"
    lines = (f"train_loss {2 / (n + 1):.4f}\nfeatures done\nval_loss {3 / (n + 1):.4f}\n" for n in range(12))
    run = read_text(options + "".join(lines), tmp_path)
    assert len(run.series["train/loss"].values) == len(run.series["val/loss"].values) == 12


def bars(total: int, loss: float, epoch: int, name: str) -> str:
    """The progress bar of one pass, redrawn at each batch."""
    return "".join(
        f"Epoch {epoch}/4 [{name}]: {100 * i // total:3d}%|#### | {i}/{total} [00:{i:02d}<00:01, 9.50it/s, "
        f"{'val_' * (name == 'Val')}loss={loss + 1 / (i + epoch):.4f}]\r"
        for i in range(1, total + 1)
    )


def test_the_bars_of_training_and_validation_count_one_run(tmp_path: Path) -> None:
    text = "".join(bars(30, 2 / e, e, "Train") + bars(6, 3 / e, e, "Val") + "\n" for e in range(1, 5))
    run = read_text(text, tmp_path)
    assert run.series["train/loss"].steps[-1] == 4 * 30
    assert list(run.series["val/loss"].steps) == [30, 60, 90, 120]


def test_scores_of_classes_are_no_moments(tmp_path: Path) -> None:
    steps = "".join(f"image {n}.jpg, loss: {2 / (n + 1):.4f}, accuracy: 0.{n + 10}\n" for n in range(40))
    classes = "".join(f"class [{n}], IoU: 0.{99 - 2 * n}\n" for n in range(40))
    run = read_text(steps + classes, tmp_path)
    assert len(run.series["train/loss"].values) == 40
    assert not any("iou" in name for name in run.series)

"""Files of one metric: named by their file where they do not name it themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from traindx.readers import read_path

LOSS = 2 * 0.97 ** np.arange(50.0)


def exported(path: Path, values: np.ndarray) -> None:
    """As TensorBoard's "download CSV" writes it."""
    lines = [f"{1.7e9 + 3 * i},{10 * i},{v!r}" for i, v in enumerate(values.tolist())]
    path.write_text("\n".join(["Wall time,Step,Value", *lines]) + "\n")


def test_downloads_of_tensorboard_are_named_by_their_tag(tmp_path: Path) -> None:
    exported(tmp_path / "run-a-tag-train_loss.csv", LOSS)
    exported(tmp_path / "run-a-tag-val_loss.csv", LOSS + 0.1)
    exported(tmp_path / "run-b-tag-train_loss.csv", LOSS + 0.2)
    one, other = read_path(str(tmp_path))
    assert set(one.series) == {"train/loss", "val/loss"}
    assert one.series["val/loss"].values.tolist() == (LOSS + 0.1).tolist()
    assert one.series["train/loss"].steps.tolist() == [10.0 * i for i in range(50)]
    times = one.series["train/loss"].times
    assert times is not None
    assert times[1] - times[0] == 3.0
    assert set(other.series) == {"train/loss"}


def test_a_tag_that_names_no_loss_is_none(tmp_path: Path) -> None:
    exported(tmp_path / "run-a-tag-rollout_ep_len_mean.csv", LOSS)
    (run,) = read_path(str(tmp_path / "run-a-tag-rollout_ep_len_mean.csv"))
    assert list(run.series) == ["rollout_ep_len_mean"]
    exported(tmp_path / "curve.csv", LOSS)  # renamed by hand: then a value next to a step is a loss
    (run,) = read_path(str(tmp_path / "curve.csv"))
    assert list(run.series) == ["train/loss"]


def test_columns_of_bare_numbers_are_named_by_their_file(tmp_path: Path) -> None:
    for name, values in (("train_loss", LOSS), ("val_accuracy", 1 - LOSS / 3)):
        (tmp_path / f"{name}.txt").write_text("\n".join(map(repr, values.tolist())))
    (run,) = read_path(str(tmp_path))
    assert set(run.series) == {"train/loss", "val/accuracy"}
    assert len(run.series["val/accuracy"]) == 50


def test_a_counter_and_a_number_are_a_loss(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    file.write_text("\n".join(f"{5 * i},{v}" for i, v in enumerate(LOSS.tolist())))
    (run,) = read_path(str(file))
    assert run.series["train/loss"].steps.tolist() == [5.0 * i for i in range(50)]


def test_two_columns_of_measurements_are_not(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    noise = np.random.default_rng(0).standard_normal((50, 2))
    file.write_text("\n".join(f"{a},{b}" for a, b in noise.tolist()))
    (run,) = read_path(str(file))
    assert "train/loss" not in run.series


def test_rows_of_a_batch_under_its_epoch_are_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("epoch,loss\n" + "".join(f"{i // 10},{v}\n" for i, v in enumerate(LOSS.tolist())))
    (run,) = read_path(str(file))
    np.testing.assert_allclose(run.series["train/loss"].steps, np.arange(50) / 10)


def test_train_and_validation_rows_of_an_epoch_share_its_step(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    rows = [
        f"{i},{phase},{v + (phase == 'val')}"
        for i, v in enumerate(LOSS.tolist())
        for phase in ("train", "val")
    ]
    file.write_text("\n".join(["epoch,phase,loss", *rows]))
    (run,) = read_path(str(file))
    assert (
        run.series["train/loss"].steps.tolist() == run.series["val/loss"].steps.tolist() == list(range(50))
    )

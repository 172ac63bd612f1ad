"""What logged names mean."""

from __future__ import annotations

import pytest

from traindx.readers.names.aliases import role_of
from traindx.vocabulary.signals import direction_of

MEANT = {
    "train/loss": [
        "loss",
        "train_loss",
        "Loss/train",
        "training_loss",
        "lm loss",
        "lm-loss",
        "total_loss",
        "train/loss_epoch",
        "train_loss_step",
        "trl:loss",
        "Train Loss",
    ],
    "val/loss": [
        "val_loss",
        "eval_loss",
        "test_loss",
        "valid_loss",
        "validation/epoch_loss",
        "loss_1/val",
        "eval/loss",
        "Loss/test",
    ],
    "lr": [
        "lr",
        "learning_rate",
        "learning rate",
        "Lr",
        "x/lr0",
        "lr/pg0",
        "lr-Adam",
        "train/learning_rate",
        "LearningRate",
    ],
    "grad_norm": ["grad_norm", "gnorm", "grad norm", "train/grad_norm", "GradNorm", "gradient_norm", "norm"],
    "loss_scale": ["loss scale", "loss_scale", "grad_scale"],
    "skipped_steps": ["number of skipped iterations"],
    "nan_steps": ["number of nan iterations"],
    "time/step": ["time", "elapsed time per iteration (ms)", "step_time", "iter_time", "batch_time", "dt"],
    "time/data": ["data_time", "data"],
    "throughput": ["samples per second", "samples_per_sec", "wps", "tokens/s", "img/s", "fps"],
    "mem/device": ["max_mem", "max mem", "memory", "gpu_mem"],
    "val/accuracy": ["val_accuracy", "val_acc", "test_acc", "eval_accuracy", "test_acc1", "valid_acc"],
    "train/accuracy": ["accuracy", "acc", "train_acc", "Acc"],
    "train/mean_squared_error": ["mean_squared_error"],
    "train/reward": ["rollout/ep_rew_mean", "r", "episode_reward"],
    "epoch": ["epoch", "train/epoch"],
    "": ["eta", "wall", "_timestamp", "_runtime", "pid"],
    "quant/loss_gap": ("quant/loss_gap", "qat_gap", "quantization_gap"),
    "quant/zero_fraction/fc1": ("quant/zero_fraction/fc1", "quant_zero_frac/fc1"),
    "quant/error/layers.3": ("quant/error/layers.3",),
}


@pytest.mark.parametrize(("signal", "name"), [(s, n) for s, names in MEANT.items() for n in names])
def test_meaning(signal: str, name: str) -> None:
    assert role_of(name).signal == signal


@pytest.mark.parametrize("name", ["mmm", "fast_rcnn/false_negative", "rpn/num_neg_anchors", "cos_init"])
def test_unknown_names_are_kept(name: str) -> None:
    assert role_of(name).signal == name


@pytest.mark.parametrize("name", ["eval_runtime", "eval_samples_per_second", "eval_steps_per_second"])
def test_the_pace_of_an_evaluation_is_not_that_of_training(name: str) -> None:
    assert role_of(name).signal.startswith("val/")


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        ("val.loss", "val/loss"),
        ("train.loss", "train/loss"),
        ("city_test.rmse", "val/city_rmse"),
        ("city_val.mIoU", "val/city_m_iou"),
        ("city_dev.auc", "val/city_auc"),
        # A dot before a digit belongs to a number, and a word that ends like a split is none.
        ("mAP@.5", "val/map50"),
        ("latest.loss", "train/latest_loss"),
        ("contest.auc", "train/contest_auc"),
    ],
)
def test_a_dot_between_words_cuts_a_name(name, signal):
    assert role_of(name).signal == signal


def test_split_words_of_other_forms() -> None:
    assert role_of("Validate Loss").signal == role_of("vali_loss").signal == "val/loss"
    assert role_of("valued_loss").signal == "train/valued_loss"


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("NRMSE", "lower"),
        ("projected errors", "lower"),
        ("lossG", "lower"),
        ("CF1", "higher"),
        ("meanIoU", "higher"),
        ("recall10", "higher"),
        ("negative log likelihood", "lower"),
        ("log likelihood", "higher"),
        ("std accuracy", "none"),
        ("loss_weight", "none"),
        ("entropy_coef", "none"),
        ("dice_coef", "higher"),
        ("mean_io_u_5", "higher"),
        ("iou_threshold", "none"),
        ("landscape", "none"),
    ],
)
def test_which_way_is_better(name: str, direction: str) -> None:
    assert direction_of(role_of(name).signal) == direction


@pytest.mark.parametrize("name", ["Time Taken", "Time cost", "us/step"])
def test_what_a_step_took_is_a_time(name: str) -> None:
    assert role_of(name).signal == "time/step"


@pytest.mark.parametrize("name", ["Generator Learning Rate", "params/learning_rate"])
def test_a_rate_of_a_part_is_a_rate(name: str) -> None:
    assert role_of(name).signal.startswith("lr/")


@pytest.mark.parametrize(
    ("name", "signal"), [("R²", "train/r2"), ("val_R^2", "val/r2"), ("R", "train/reward")]
)
def test_the_share_of_variance_is_no_reward(name: str, signal: str) -> None:
    assert role_of(name).signal == signal

"""What each script of tests/scripts is, and what must be recovered of it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Style(NamedTuple):
    """`facts` of the run's setup, `signals` the script's own numbers by canonical name, `lines`
    the text on the line of the script that a `where/...` fact names. `truth` is the file of its own numbers,
    `script` its name where that is another, `start` what starts it, `needs` a library that must be there."""

    title: str
    facts: dict[str, Any]
    signals: dict[str, str] = {"train/loss": "loss", "lr": "lr"}  # noqa: RUF012 - never changed
    lines: dict[str, str] = {}  # noqa: RUF012
    needs: str = ""
    truth: str = "truth.json"
    script: str = ""
    start: str = "python"


WITH_VAL = {"train/loss": "loss", "lr": "lr", "val/loss": "val_loss"}
WITH_ACCURACY = {"train/loss": "loss", "lr": "lr", "val/accuracy": "val_acc"}

STYLES: dict[str, Style] = {
    "plain_functions": Style(
        "functions, DataLoader, print",
        {"optimizer": "SGD", "momentum": 0.9, "batch_size": 40, "dataset_size": 400, "shuffle": True, "seed": 0,
         "loss": "cross_entropy", "classes": 2, "workers": 0, "steps_per_epoch": 10},
        WITH_VAL,
        {"backward": "loss.backward()", "step": "optimizer.step()", "optimizer": "torch.optim.SGD",
         "loss": "loss_fn(model(inputs), labels)", "zero_grad": "optimizer.zero_grad()"},
    ),
    "trainer_class": Style(
        "classes, argparse, epoch schedule",
        {"optimizer": "AdamW", "weight_decay": 0.05, "batch_size": 24, "dataset_size": 240, "schedule": "StepLR",
         "model": "Net", "dropout": 0.1, "seed": 1},
        WITH_VAL,
    ),
    "progress_bar": Style("progress bar, tensors", {"optimizer": "SGD", "loss": "mse_loss", "batch_size": 32}),
    "with_logging": Style(
        "logging module", {"optimizer": "Adam", "batch_size": 30, "dataset_size": 300, "classes": 2}, WITH_ACCURACY
    ),
    "csv_rows": Style("csv.DictWriter, own loss function", {"optimizer": "RMSprop", "batch_size": 40}, WITH_VAL),
    "summary_writer": Style(
        "SummaryWriter", {"optimizer": "Adagrad", "loss": "binary_cross_entropy_with_logits"}, WITH_ACCURACY,
        needs="tensorboard",
    ),
    "full_batch_tensors": Style(
        "plain tensors, full batch", {"optimizer": "NAdam", "batch_size": 100, "classes": 4}, WITH_VAL
    ),
    "gan": Style(
        "two models and optimizers (GAN)", {"optimizers": 2, "batch_size": 64},
        {"train/loss": "loss", "lr": "lr", "train/gan.py:28_loss": "second_loss"},
    ),
    "lbfgs_closure": Style("LBFGS closure", {"optimizer": "LBFGS", "loss": "mse_loss"}),
    "manual_sgd": Style(
        "SGD by hand, plain tensors", {"optimizer": "by hand", "parameters": 4}, {"train/loss": "loss"}
    ),
    "manual_module": Style(
        "SGD by hand through .data", {"optimizer": "by hand", "classes": 2, "batch_size": 120}, {"train/loss": "loss"}
    ),
    "manual_reload": Style(
        "SGD by hand, weights put back (Reptile)", {"optimizer": "by hand", "batch_size": 20}, {"train/loss": "loss"}
    ),
    "accumulation": Style(
        "gradient accumulation, clipping",
        {"accumulation": 4, "clip_norm": 0.5, "batch_size": 40, "dataset_size": 320},
        lines={"clip": "clip_grad_norm_"},
    ),
    "scaler_amp": Style(
        "GradScaler, autocast", {"precision": "bfloat16-mixed", "clip_norm": 1.0, "optimizer": "AdamW", "classes": 5}
    ),
    "rnn": Style("recurrent, state carried", {"model": "CharRNN", "clip_norm": 0.25, "classes": 12}),
    "cnn_batchnorm": Style(
        "convolutions, batch norm, batch schedule",
        {"schedule": "OneCycleLR", "planned_steps": 30, "has_normalization": True, "drop_last": True, "classes": 4},
        WITH_VAL,
    ),
    "tiny_gpt": Style(
        "transformer that returns its loss, groups", {"optimizer": "AdamW", "parameter_groups": 2, "clip_norm": 1.0,
                                                      "model": "GPT", "batch_size": 8}, WITH_VAL,
    ),
    "compiled": Style("torch.compile of a model", {"compiled": True, "loss": "cross_entropy"}),
    "compiled_step": Style("torch.compile of a function", {"compiled": True, "optimizer": "Adam"}),
    "loader_workers": Style(
        "loader workers, dict batches", {"workers": 2, "batch_size": 16, "dataset_size": 160, "loss": "smooth_l1_loss"}
    ),
    "multi_loss": Style("several losses", {"loss": "cross_entropy + mse_loss", "model": "TwoHeads", "batch_size": 30}),
    "custom_loss": Style("own loss and optimizer class", {"optimizer": "SignSGD", "batch_size": 40}),
    "package_training": Style("python -m package", {"momentum": 0.8, "nesterov": True, "loss": "huber_loss"}),
    "model_forward_parts": Style("parts of a model called", {"model": "Autoencoder", "parameters": 162}),
    "pool_workers": Style("multiprocessing, subprocess", {"optimizer": "SGD", "seed": 22}),
    "exits_with_3": Style("sys.exit(3)", {"loss": "mse_loss"}),
    "raises": Style("raises in a step", {"loss": "mse_loss"}),
    "forks": Style("forks; the child trains on", {"loss": "l1_loss"}),
    "two_ranks": Style(
        "DDP, two ranks by torchrun", {"wrapper": "DistributedDataParallel", "classes": 3},
        truth="truth0.json", start="torchrun",
    ),
    "spawned_ranks": Style(
        "DDP, two ranks by mp.spawn", {"wrapper": "DistributedDataParallel", "optimizer": "Adam", "model": "Linear"},
        truth="truth0.json",
    ),
}  # fmt: skip

STATUS = {"exits_with_3": 3, "raises": 1}

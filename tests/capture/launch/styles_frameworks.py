"""What each script of tests/scripts/frameworks is, and what must be recovered of it. All of them are healthy."""

from __future__ import annotations

from tests.capture.launch.styles import WITH_VAL, Style

WITH_NORM = {"train/loss": "loss", "lr": "lr", "grad_norm": "grad_norm"}

FRAMEWORKS: dict[str, Style] = {
    "hf_trainer": Style(
        "Hugging Face Trainer",
        {"optimizer": "AdamW", "model": "GPT2LMHeadModel", "batch_size": 16, "dataset_size": 800, "shuffle": True,
         "clip_norm": 1.0, "seed": 1, "schedule": "LambdaLR", "depth": 9, "activations": "NewGELUActivation"},
        {**WITH_VAL, "grad_norm": "grad_norm"}, needs="transformers",
    ),
    "lightning_trainer": Style(
        "Lightning Trainer",
        {"optimizer": "AdamW", "model": "Classifier", "batch_size": 25, "shuffle": True, "clip_norm": 1.0,
         "schedule": "CosineAnnealingLR", "seed": 4, "model_training_mode_during_backward": True,
         "inputs_shape": "12", "classes": 4},
        WITH_VAL, needs="lightning",
    ),
    "accelerate_loop": Style(
        "Accelerator, accumulation by its context",
        {"optimizer": "AdamW", "accumulation": 2, "clip_norm": 5.0, "shuffle": True, "batch_size": 32,
         "schedule": "LinearLR"},
        WITH_VAL, needs="accelerate", truth="truth0.json",
    ),
    "accelerate_launch": Style(
        "accelerate launch", {"optimizer": "AdamW", "accumulation": 2, "shuffle": True}, WITH_VAL,
        needs="accelerate", truth="truth0.json", script="accelerate_loop", start="accelerate",
    ),
    "accelerate_ranks": Style(
        "Accelerator, two ranks by torchrun",
        {"wrapper": "DistributedDataParallel", "accumulation": 2, "shuffle": True, "validation_in_train_mode": False},
        WITH_VAL, needs="accelerate", truth="truth0.json", script="accelerate_loop", start="torchrun",
    ),
    "wandb_offline": Style(
        "wandb, offline", {"optimizer": "SGD", "momentum": 0.9, "loss": "binary_cross_entropy_with_logits"},
        {"train/loss": "loss", "lr": "lr", "val/accuracy": "val_acc"}, needs="wandb",
    ),
    "mlflow_files": Style(
        "mlflow, store of files", {"optimizer": "Adam", "loss": "mse_loss"}, WITH_VAL, needs="mlflow"
    ),
    "tensorboard_scalars": Style(
        "SummaryWriter, its own tags", {"optimizer": "Adam", "schedule": "ExponentialLR"}, WITH_VAL,
        needs="tensorboard",
    ),
    "amp_float16": Style(
        "autocast to float16, GradScaler with skipped steps",
        {"precision": "float16-mixed", "clip_norm": 2.0, "validation_in_train_mode": False}, WITH_VAL,
    ),
    "ddp_epochs": Style(
        "DDP: DistributedSampler, no_sync, validation by one rank",
        {"wrapper": "DistributedDataParallel", "accumulation": 2, "shuffle": True, "batch_size": 40,
         "validation_in_train_mode": False},
        WITH_VAL, truth="truth0.json", start="torchrun",
    ),
    "fsdp2_blocks": Style(
        "fully_shard, two ranks",
        {"wrapper": "fully_shard", "clip_norm": 5.0, "parameters": 1443,
         "modules": "0 Linear, 1 GELU, 2 Linear, 3 GELU, 4 Linear"},
        WITH_NORM, truth="truth0.json", start="torchrun",
    ),
    "compiled_epochs": Style(
        "torch.compile, evaluation of plain tensors after a loader",
        {"compiled": True, "shuffle": True, "drop_last": True, "batch_size": 50}, WITH_VAL,
    ),
    "checkpointed": Style(
        "gradient checkpointing", {"depth": 9, "dropout": 0.1, "loss": "cross_entropy"}, WITH_VAL
    ),
    "sparse_embedding": Style(
        "sparse gradients, two optimizers", {"optimizer": "SparseAdam", "optimizers": 2, "loss": "mse_loss"}, WITH_VAL
    ),
    "shared_parameters": Style("tied weights, a block used twice", {"parameters": 5024, "classes": 24}, WITH_VAL),
}  # fmt: skip

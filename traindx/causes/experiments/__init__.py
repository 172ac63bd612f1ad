"""Which change from outside would cure which cause: the experiments that `traindx next` proposes.

A cause is confirmed when the finding that supports it is gone under its change, with everything else equal
(docs/interventions.md). Causes that are not listed here can only be inspected.
"""

from collections.abc import Mapping

# cause -> (what is compared with the run, the interventions)
TRIED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "learning-rate-too-high": ("the loss at a tenth of the learning rate", ("lr=*0.1",)),
    "learning-rate-too-low": ("the loss at ten times the learning rate", ("lr=*10",)),
    "missing-warmup": ("the loss with the same peak rate after a warm-up", ("lr.warmup=0.05",)),
    "learning-rate-schedule-fault": ("the loss at a constant learning rate", ("lr=constant",)),
    "momentum-too-high": ("the loss with a momentum of 0.9", ("momentum=0.9",)),
    "batch-too-small": ("the loss with 8 batches averaged at the same rate", ("accumulate=8",)),
    "batch-too-large": ("the loss with a quarter of the batch", ("batch=*0.25",)),
    "clip-too-tight": ("the loss without gradient clipping", ("clip=off",)),
    "unsuitable-optimizer": ("the loss with AdamW", ("optimizer=adamw",)),
    "weight-decay-too-high": ("the loss without weight decay", ("weight_decay=0",)),
    "dropout-too-high": ("both losses without dropout", ("dropout=0",)),
    "insufficient-regularization": (
        "the validation loss with dropout and weight decay",
        ("dropout=0.2", "weight_decay=0.01"),
    ),
    "bad-initialization": ("the loss from He's initial weights", ("init=he",)),
    "saturating-activations": ("the loss with ReLU", ("activation=relu",)),
    "deep-without-skip-or-norm": ("the loss with layer normalization", ("normalize=layer",)),
    "dead-relus": ("the loss with leaky ReLU", ("activation=leaky_relu",)),
    "exploding-recurrence": ("the gradient norm and the loss with clipping at norm 1.0", ("clip=1.0",)),
    "double-softmax": ("the loss with logits instead of probabilities", ("logits=on",)),
    "half-precision-range": ("the same steps in float32", ("precision=float32",)),
    "unnormalized-inputs": ("the loss with standardized inputs", ("inputs=standardize",)),
    "unnormalized-targets": ("the loss with standardized targets", ("targets=standardize",)),
    "class-imbalance": ("the loss with balanced class weights", ("class_weights=balanced",)),
    "corrupt-samples": ("the loss without outlier samples", ("drop=outliers",)),
    "unshuffled-data": ("the loss with shuffled data", ("data=shuffle",)),
    "missing-zero-grad": ("the loss with gradients zeroed after each step", ("zero_grad=each-step",)),
    "frozen-parameters": ("the loss with all parameters trainable", ("unfreeze=all",)),
    "params-not-in-optimizer": ("the loss with all parameters in the optimizer", ("register=all",)),
    "eval-mode-training": ("the loss with training in train mode", ("mode=train",)),
    "train-mode-evaluation": ("the validation loss in eval mode", ("eval_mode=eval",)),
    "unscaled-grad-accumulation": ("the loss with accumulated gradients averaged", ("loss=/accumulation",)),
    "data-loader-bottleneck": ("the time of a step with 8 loading workers", ("workers=8",)),
}

# Causes that a change helps without curing them: that it helped is weaker evidence for these.
HELPED: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("lr=*0.1",): (
        "missing-warmup", "momentum-too-high", "batch-too-small", "exploding-recurrence",
        "missing-zero-grad", "unscaled-grad-accumulation", "bad-initialization", "unnormalized-inputs",
        "unnormalized-targets",
    ),
    ("lr=*10",): ("undertrained", "clip-too-tight", "learning-rate-schedule-fault", "unsuitable-optimizer"),
    ("dropout=0.2", "weight_decay=0.01"): ("too-little-data", "label-noise"),
    ("clip=1.0",): ("learning-rate-too-high", "missing-warmup", "corrupt-samples"),
    ("optimizer=adamw",): ("learning-rate-too-low", "learning-rate-too-high", "unnormalized-inputs"),
    ("normalize=layer",): (
        "saturating-activations", "dead-relus", "bad-initialization", "exploding-recurrence",
        "unnormalized-inputs",
    ),
    ("init=he",): ("deep-without-skip-or-norm", "saturating-activations"),
    ("activation=relu",): ("deep-without-skip-or-norm",),
    ("accumulate=8",): ("learning-rate-too-high", "label-noise"),
}  # fmt: skip


def command(interventions: tuple[str, ...] = (), steps: int | None = None) -> str:
    """The command that runs the script with `interventions`, for `steps` of its steps (None: for all)."""
    options = [f'--with "{spec}"' if "*" in spec else f"--with {spec}" for spec in interventions]
    limit = [] if steps is None else [f"--steps {steps}"]
    return " ".join(["traindx run", *limit, *options, "-- python train.py"])

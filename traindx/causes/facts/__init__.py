"""The facts that weights refer to as "fact:<name>", and how a user can supply what the log lacks."""

from collections.abc import Mapping
from operator import eq, gt, lt

from traindx.causes.facts.curves import (
    answers_one_class,
    answers_rare_class,
    clamped_loss,
    double_softmax_floor,
    ended_with,
    event,
    huge_loss,
    starts_above_chance,
    tight_clip,
    validation_bad_at_once,
    validation_never_improves,
)
from traindx.causes.facts.setup import (
    FactCheck,
    bfloat16,
    clip_set,
    few_updates,
    finetuning,
    finished,
    half_precision,
    high_weight_decay,
    large_batch,
    lr_high_for_optimizer,
    lr_low_for_optimizer,
    no_regularization,
    no_warmup,
    normalizes_few,
    on_processor,
    parameters_exceed_data,
    plain_sgd,
    quantized,
    recurrent_model,
    setup_number,
    several_processes,
    shuffle_off,
    small_batch,
)
from traindx.features.shared import Features
from traindx.vocabulary import Run

FACTS: Mapping[str, FactCheck] = {
    "half-precision": half_precision,
    "bfloat16": bfloat16,
    "lr-high-for-optimizer": lr_high_for_optimizer,
    "lr-low-for-optimizer": lr_low_for_optimizer,
    "no-warmup": no_warmup,
    "clip-set": clip_set,
    "tight-clip": tight_clip,
    "few-updates": few_updates,
    "parameters-exceed-data": parameters_exceed_data,
    "small-dataset": setup_number("dataset_size", lt, 2000),  # nets memorize fewer samples within minutes
    "small-batch": small_batch,
    "normalizes-few": normalizes_few,
    "large-batch": large_batch,
    "rewards-logged": lambda run, features: features.is_reinforcement,
    "finetuning": finetuning,
    "recurrent-model": recurrent_model,
    "high-momentum": setup_number("momentum", gt, 0.98),  # averages over more than 50 steps, 1 / (1 - b)
    "high-weight-decay": high_weight_decay,
    "no-regularization": no_regularization,
    "high-dropout": setup_number("dropout", gt, 0.6),  # 0.5 is the highest usual value
    "shuffle-off": shuffle_off,
    "accumulates-gradients": setup_number("accumulation", gt, 1),
    "quantized": quantized,
    "no-workers": setup_number("workers", eq, 0),
    "resumed": event("kind", "resume"),
    "starts-above-chance": starts_above_chance,
    "double-softmax-floor": double_softmax_floor,
    "huge-loss": huge_loss,
    "validation-never-improves": validation_never_improves,
    "validation-bad-at-once": validation_bad_at_once,
    "finished": finished,
    "plain-sgd": plain_sgd,
    "on-processor": on_processor,
    "several-processes": several_processes,
    "clamped-loss": clamped_loss,
    "lower-rate-tried": lambda run, features: run.setup.word("tried") == "lower-rate" or None,
    "accumulation-scaled": event("code", "accumulation-scaled"),
    "answers-one-class": answers_one_class,
    "answers-rare-class": answers_rare_class,
    "ended-in-error": event("kind", "crash"),
    "labels-out-of-range": ended_with(
        r"target -?\d+ is out of bounds|t >= 0 && t < n_classes|label value of \S+ which is outside"
        r"|index out of range in self|\A(?![\s\S]*input_val >= zero)[\s\S]*device-side assert"
    ),
    "outputs-out-of-range": ended_with(
        r"input_val >= zero|all elements of (?:input|target) should be between 0 and 1"
    ),
    "no-graph": ended_with(
        r"does not require grad and does not have a grad_fn|no gradients provided for any"
    ),
    "killed": ended_with(r"\bkilled\b|sigkill|exit ?code:? (?:137|-9)\b"),  # also when host memory runs out
    "scale-exhausted": ended_with(
        r"minimum loss scale|loss scale (?:already at minimum|reached its minimum)"
    ),
    "collective-timeout": ended_with(
        r"collective operation timeout|WorkNCCL\(.*(?:timeout|timed out|timing out)|watchdog got stuck"
    ),
}

# fact -> (what to ask, how to answer); facts that the user cannot know are not here.
QUESTIONS: Mapping[str, tuple[str, str]] = {
    "half-precision": ("the number format it computes in", "--fact precision=fp16 (or bf16, fp32)"),
    "lr-high-for-optimizer": ("the learning rate and the optimizer", "--fact lr=0.1 --fact optimizer=sgd"),
    "lr-low-for-optimizer": ("the learning rate and the optimizer", "--fact lr=0.1 --fact optimizer=sgd"),
    "no-warmup": ("the number of warm-up steps", "--fact warmup_steps=0"),
    "clip-set": ("whether gradients are clipped", "--fact clip_norm=1.0 (0 for none)"),
    "parameters-exceed-data": ("model and data size", "--fact parameters=1e6 --fact dataset_size=50000"),
    "small-dataset": ("the number of training samples", "--fact dataset_size=50000"),
    "small-batch": ("the batch size", "--fact batch_size=64"),
    "large-batch": ("batch and data size", "--fact batch_size=64 --fact dataset_size=50000"),
    "finetuning": ("whether it starts from trained weights", "--fact finetuning=true"),
    "recurrent-model": ("what kind of model it is", "--fact model=lstm (or transformer, resnet ...)"),
    "high-momentum": ("the momentum", "--fact momentum=0.9"),
    "high-weight-decay": ("the weight decay", "--fact weight_decay=0.0001"),
    "high-dropout": ("the dropout", "--fact dropout=0.1"),
    "shuffle-off": ("whether the training data are shuffled", "--fact shuffle=true"),
    "accumulates-gradients": ("over how many batches gradients are accumulated", "--fact accumulation=1"),
    "quantized": ("whether it trains with quantization", "--fact quantized=false"),
    "no-workers": ("the number of data-loading workers", "--fact workers=4"),
    "starts-above-chance": ("the number of classes", "--fact classes=10"),
    "double-softmax-floor": ("the number of classes", "--fact classes=10"),
    "on-processor": ("the device it runs on", "--fact device=cuda"),
}


def facts_of(run: Run, features: Features) -> dict[str, bool]:
    """Every fact that the run shows, by its name."""
    checked = {name: check(run, features) for name, check in FACTS.items()}
    return {name: value for name, value in checked.items() if value is not None}

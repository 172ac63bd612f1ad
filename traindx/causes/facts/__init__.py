"""The facts that weights refer to as "fact:<name>": the name is the function's, in kebab case.

`QUESTIONS` says how a user can supply what the log lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from traindx.causes.facts import curves, setup
from traindx.features.shared import Features
from traindx.vocabulary.run import Run

FactCheck = Callable[..., bool | None]

FACTS: tuple[FactCheck, ...] = (
    setup.half_precision,
    setup.bfloat16,
    setup.lr_high_for_optimizer,
    setup.lr_low_for_optimizer,
    setup.no_warmup,
    setup.clip_set,
    curves.tight_clip,
    setup.few_updates,
    setup.parameters_exceed_data,
    setup.small_dataset,
    setup.small_batch,
    setup.normalizes_few,
    setup.large_batch,
    setup.rewards_logged,
    setup.finetuning,
    setup.recurrent_model,
    setup.high_momentum,
    setup.high_weight_decay,
    setup.no_regularization,
    setup.high_dropout,
    setup.shuffle_off,
    setup.accumulates_gradients,
    setup.quantized,
    setup.no_workers,
    setup.resumed,
    curves.starts_above_chance,
    curves.double_softmax_floor,
    curves.huge_loss,
    curves.validation_never_improves,
    curves.validation_bad_at_once,
    setup.finished,
    setup.plain_sgd,
    setup.on_processor,
    setup.several_processes,
    curves.clamped_loss,
    curves.accumulation_scaled,
    curves.answers_one_class,
    curves.ended_in_error,
    curves.labels_out_of_range,
    curves.no_graph,
    curves.killed,
    curves.scale_exhausted,
    curves.collective_timeout,
)

# fact -> (what to ask, how to say it); facts that the user cannot know are not here.
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
    """Every fact that can be told, by its name in kebab case."""
    told = {check.__name__.replace("_", "-"): check(run, features) for check in FACTS}
    return {name: value for name, value in told.items() if value is not None}

"""The facts that weights refer to as "fact:<name>": the name is the function's, in kebab case.

`QUESTIONS` says how a user can supply what the log lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from traindx.causes import curve_facts, setup_facts
from traindx.features.shared import Features
from traindx.vocabulary.run import Run

FactCheck = Callable[..., bool | None]

FACTS: tuple[FactCheck, ...] = (
    setup_facts.half_precision,
    setup_facts.bfloat16,
    setup_facts.lr_high_for_optimizer,
    setup_facts.lr_low_for_optimizer,
    setup_facts.no_warmup,
    setup_facts.clip_set,
    curve_facts.tight_clip,
    setup_facts.few_updates,
    setup_facts.parameters_exceed_data,
    setup_facts.small_dataset,
    setup_facts.small_batch,
    setup_facts.normalizes_few,
    setup_facts.large_batch,
    setup_facts.rewards_logged,
    setup_facts.finetuning,
    setup_facts.recurrent_model,
    setup_facts.high_momentum,
    setup_facts.high_weight_decay,
    setup_facts.no_regularization,
    setup_facts.high_dropout,
    setup_facts.shuffle_off,
    setup_facts.accumulates_gradients,
    setup_facts.quantized,
    setup_facts.no_workers,
    setup_facts.resumed,
    curve_facts.starts_above_chance,
    curve_facts.double_softmax_floor,
    curve_facts.huge_loss,
    curve_facts.validation_never_improves,
    curve_facts.validation_bad_at_once,
    setup_facts.finished,
    setup_facts.plain_sgd,
    setup_facts.on_processor,
    setup_facts.several_processes,
    curve_facts.clamped_loss,
    curve_facts.accumulation_scaled,
    curve_facts.answers_one_class,
    curve_facts.ended_in_error,
    curve_facts.labels_out_of_range,
    curve_facts.no_graph,
    curve_facts.killed,
    curve_facts.scale_exhausted,
    curve_facts.collective_timeout,
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

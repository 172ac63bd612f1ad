"""Facts that the set-up tells: the rate for its optimizer, the model against its data ...

Each is a pure function of the run: True, False, or None when it cannot be told.
"""

from __future__ import annotations

from traindx.causes.facts.optimizer import optimizer_family, peak_rate, updates
from traindx.features.performance.processes import ranks_of
from traindx.features.shared import Features
from traindx.vocabulary.rule import threshold
from traindx.vocabulary.run import Run


def half_precision(run: Run, features: Features) -> bool | None:
    """Computes in float16, whose range ends at 65504: told by the precision, or by a loss scale that is used."""
    name = run.setup.word("precision")
    if "float16" in run.setup.word("gradients_rounded_to").split():
        return True  # by hand, whatever the precision is called
    if "bfloat16" in run.setup.word("gradients_rounded_to").split():
        return None  # the range is not the matter, the rounding may be
    if name:
        return any(w in name for w in ("16", "half", "amp", "o1", "o2", "mixed")) and not bfloat16(
            run, features
        )
    scale = features.curve("loss_scale")
    return True if scale is not None and float(scale.values.max(initial=0.0)) > 1.0 else None


def bfloat16(run: Run, features: Features) -> bool | None:
    """Computes in bfloat16: the range of float32, but only 8 bits of mantissa."""
    name = run.setup.word("precision") + run.setup.word("gradients_rounded_to")
    return any(w in name for w in ("bf16", "bfloat16")) if name else None


def lr_high_for_optimizer(
    run: Run,
    features: Features,
    *,
    adaptive: float = threshold(3e-3, "peak lr", basis="convention", source="10x the 3e-4 usual for Adam"),
    momentum: float = threshold(
        0.5, "peak lr", basis="convention", source="5x the 0.1 usual for SGD with momentum"
    ),
    other: float = threshold(
        1.0, "peak lr", basis="convention", source="above 1 hardly any optimizer is stable"
    ),
) -> bool | None:
    """The peak learning rate is beyond what this kind of optimizer usually stands."""
    rate = peak_rate(run)
    limits = {"adaptive": adaptive, "sgd": momentum, "": other}
    return None if rate is None else rate > limits[optimizer_family(run)]


def lr_low_for_optimizer(
    run: Run,
    features: Features,
    *,
    adaptive: float = threshold(
        2e-6, "peak lr", basis="convention", source="a tenth of small fine-tuning rates"
    ),
    momentum: float = threshold(
        5e-4, "peak lr", basis="convention", source="a 200th of the 0.1 usual for SGD"
    ),
    other: float = threshold(1e-6, "peak lr", basis="convention", source="too low for any optimizer family"),
) -> bool | None:
    """The peak learning rate is below what this kind of optimizer usually needs."""
    rate = peak_rate(run)
    limits = {"adaptive": adaptive, "sgd": momentum, "": other}
    return None if rate is None else rate < limits[optimizer_family(run)]


def no_warmup(
    run: Run,
    features: Features,
    *,
    near_peak: float = threshold(
        0.9, "of the peak lr", basis="convention", source="a ramp starts well below its peak"
    ),
) -> bool | None:
    """The learning rate begins at its peak."""
    if (steps := run.setup.number("warmup_steps")) is not None:
        return steps <= 0
    lr = features.curve("lr")
    if lr is None or lr.n < 2 or lr.values.max() <= 0:
        return None
    return bool(lr.values[0] >= near_peak * lr.values.max())


def clip_set(run: Run, features: Features) -> bool | None:
    """Gradient clipping is on."""
    norm = run.setup.number("clip_norm")
    if norm is not None:
        return norm > 0
    return True if "clip_ratio" in run.series else None


def few_updates(
    run: Run,
    features: Features,
    *,
    least: float = threshold(
        100, "optimizer steps", basis="convention", source="SGD on small tasks needs hundreds"
    ),
) -> bool | None:
    """The whole run was a handful of optimizer steps."""
    count = updates(run)
    return None if count is None else count < least


def parameters_exceed_data(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(
        10.0, "parameters per sample", basis="seed", source="training-debugging practice, 10:1"
    ),
) -> bool | None:
    """Many more parameters than samples (counted only for nets trained from scratch)."""
    size, samples = run.setup.number("parameters"), run.setup.number("dataset_size")
    if size is None or not samples or finetuning(run, features):
        return None
    return size / samples > ratio


def small_dataset(
    run: Run,
    features: Features,
    *,
    few: float = threshold(
        2000, "samples", basis="convention", source="below this nets memorize within minutes"
    ),
) -> bool | None:
    """Few training samples."""
    samples = run.setup.number("dataset_size")
    return None if samples is None else samples < few


def small_batch(
    run: Run,
    features: Features,
    *,
    few: float = threshold(
        4, "samples per update", basis="convention", source="statistics of 4 samples are noise"
    ),
) -> bool | None:
    """Very few samples per update."""
    batch = run.setup.number("batch_size")
    return None if batch is None else batch * (run.setup.number("accumulation") or 1.0) <= few


def normalizes_few(
    run: Run,
    features: Features,
    *,
    few: float = threshold(
        4, "samples", basis="paper", source="Wu and He (2018), Group Normalization: error by batch"
    ),
) -> bool | None:
    """Batch normalization over very few samples: accumulating gradients does not help it."""
    batch = run.setup.number("batch_size")
    if batch is None or run.setup.flag("has_normalization") is None:
        return None
    return run.setup.number("normalization_momentum") is not None and batch <= few


def large_batch(
    run: Run,
    features: Features,
    *,
    few: float = threshold(
        10, "updates per epoch", basis="convention", source="an epoch is then hardly any training"
    ),
) -> bool | None:
    """The batch is so large that an epoch has only a few updates."""
    batch, samples = run.setup.number("batch_size"), run.setup.number("dataset_size")
    if not batch or samples is None:
        return None
    return samples / (batch * (run.setup.number("accumulation") or 1.0)) < few


def rewards_logged(run: Run, features: Features) -> bool | None:
    """Reinforcement learning: losses move with the policy and say little."""
    return features.is_reinforcement


def finetuning(run: Run, features: Features) -> bool | None:
    """Starts from trained weights: told by the user, by adapters, or by the model's name."""
    told = run.setup.flag("finetuning")
    if told is not None:
        return told
    names = " ".join((run.setup.word("model"), run.setup.word("adapter"), run.setup.word("peft")))
    return True if any(w in names for w in ("lora", "adapter", "pretrained", "finetun")) else None


def recurrent_model(run: Run, features: Features) -> bool | None:
    """The model is recurrent, told by its name or its modules."""
    name = " ".join((run.setup.word("model"), run.setup.word("modules"))).strip()
    if not name:
        return None
    return any(w in name for w in ("lstm", "gru", "rnn", "recurrent")) and not any(
        w in name for w in ("rcnn", "r-cnn")
    )


def high_momentum(
    run: Run,
    features: Features,
    *,
    above: float = threshold(
        0.98, "momentum", basis="theory", source="memory of 1/(1-b) > 50 steps: swings that long"
    ),
) -> bool | None:
    """Momentum so close to 1 that the velocity forgets slowly."""
    beta = run.setup.number("momentum")
    return None if beta is None else beta > above


def high_weight_decay(
    run: Run,
    features: Features,
    *,
    coupled: float = threshold(
        0.02, "weight decay", basis="convention", source="100x and more of the usual 1e-4"
    ),
    decoupled: float = threshold(
        0.4, "weight decay", basis="convention", source="AdamW recipes end near 0.3"
    ),
) -> bool | None:
    """Weight decay far above recipes (the limit is higher for decoupled decay)."""
    decay = run.setup.number("weight_decay")
    name = run.setup.word("optimizer")
    if decay is None:
        return None
    return decay > (decoupled if any(w in name for w in ("adamw", "lion", "muon", "lamb")) else coupled)


def no_regularization(run: Run, features: Features) -> bool | None:
    """Neither weight decay nor dropout is used."""
    decay, dropout = run.setup.number("weight_decay"), run.setup.number("dropout")
    if decay is None or dropout is None:
        return False if (decay or dropout) else None
    return decay == 0 and dropout == 0


def high_dropout(
    run: Run,
    features: Features,
    *,
    above: float = threshold(0.6, "dropout", basis="convention", source="0.5 is the most that is usual"),
) -> bool | None:
    """Drops more units than it keeps."""
    dropout = run.setup.number("dropout")
    return None if dropout is None else dropout > above


def shuffle_off(run: Run, features: Features) -> bool | None:
    """Training samples come in a fixed order (off, or only whole batches are shuffled)."""
    told = run.setup.word("shuffle")
    return None if not told else told in ("false", "no", "off", "0", "batch", "none", "0.0")


def accumulates_gradients(run: Run, features: Features) -> bool | None:
    """Several backward passes make one update."""
    count = run.setup.number("accumulation")
    return None if count is None else count > 1


def quantized(run: Run, features: Features) -> bool | None:
    """Trains with (simulated) quantization."""
    if any(n.startswith("quant/") for n in (*run.series, *run.panels)):
        return True
    return run.setup.flag("quantized")


def no_workers(run: Run, features: Features) -> bool | None:
    """Batches are made in the training process itself."""
    workers = run.setup.number("workers")
    return None if workers is None else workers == 0


def resumed(run: Run, features: Features) -> bool | None:
    """The run goes on from a checkpoint: told by an event, or by a first step far from the start."""
    return True if any(e.kind == "resume" for e in run.events) else None


def finished(run: Run, features: Features) -> bool | None:
    """The run got to its planned end."""
    planned, last = run.setup.number("planned_steps"), run.last_step
    if run.complete is not None:
        return run.complete
    return None if not planned or last is None else last >= 0.98 * planned


def plain_sgd(run: Run, features: Features) -> bool | None:
    """SGD without momentum."""
    if run.setup.word("optimizer") not in ("sgd", "gd", "gradientdescent"):
        return False if run.setup.word("optimizer") else None
    beta = run.setup.number("momentum")
    return None if beta is None else beta == 0


def on_processor(run: Run, features: Features) -> bool | None:
    """The run computes on the main processor instead of an accelerator."""
    device = run.setup.word("device")
    return None if not device else device.startswith("cpu")


def several_processes(run: Run, features: Features) -> bool | None:
    """Several processes train together, each on its own samples."""
    known = run.setup.number("world_size")
    return True if ranks_of(run) else None if known is None else known > 1

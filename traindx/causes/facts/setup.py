"""Facts about the setup: the learning rate for its optimizer, the size of model and data, and so on.

Each is a pure function of the run: True, False, or None when the run does not show it.
"""

from collections.abc import Callable

from traindx.causes.facts.optimizer import comparable_rate, optimizer_family, updates
from traindx.features.performance.processes import ranks_of
from traindx.features.shared import Features
from traindx.vocabulary import Run, threshold

FactCheck = Callable[[Run, Features], bool | None]


def setup_number(field: str, compare: Callable[[float, float], bool], limit: float) -> FactCheck:
    """Whether a number of the setup compares with `limit`; None where the number is unknown."""

    def check(run: Run, features: Features) -> bool | None:
        value = run.setup.number(field)
        return None if value is None else compare(value, limit)

    return check


def half_precision(run: Run, features: Features) -> bool | None:
    """Computes in float16, whose range ends at 65504: known by the precision, or by a loss scale above 1."""
    name = run.setup.word("precision")
    if "float16" in run.setup.word("gradients_rounded_to").split():
        return True  # the script rounds by itself, whatever its precision is called
    if "bfloat16" in run.setup.word("gradients_rounded_to").split():
        return None  # bfloat16 has the range of float32; rounding is another fact
    if name:
        return any(w in name for w in ("16", "half", "amp", "o1", "o2", "mixed")) and not bfloat16(
            run, features
        )
    scale = features.curve("loss_scale")
    return True if scale is not None and float(scale.values.max(initial=0.0)) > 1.0 else None


def bfloat16(run: Run, features: Features) -> bool | None:
    """Computes in bfloat16, which has the range of float32 but only 8 bits of mantissa."""
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
    """The peak learning rate is above the range in which this kind of optimizer is usually stable."""
    rate = comparable_rate(run)
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
    other: float = threshold(2e-6, "peak lr", basis="convention", source="too low for each of the families"),
) -> bool | None:
    """The peak learning rate is below what this kind of optimizer usually needs."""
    rate = comparable_rate(run)
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
    """The learning rate starts at its peak."""
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
        10.0, "parameters per sample", basis="convention", source="a common rule of thumb: 10 to 1"
    ),
) -> bool | None:
    """Many more parameters than samples (counted only for nets trained from scratch)."""
    size, samples = run.setup.number("parameters"), run.setup.number("dataset_size")
    if size is None or not samples or finetuning(run, features):
        return None
    return size / samples > ratio


def small_batch(
    run: Run,
    features: Features,
    *,
    few: float = threshold(
        4, "samples per update", basis="convention", source="statistics of 4 samples are mostly noise"
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
        4, "samples", basis="paper", source="Group Normalization, arXiv:1803.08494, figure 1"
    ),
) -> bool | None:
    """Batch normalization over very few samples. Accumulating gradients does not help it."""
    batch = run.setup.number("batch_size")
    if batch is None or run.setup.flag("has_normalization") is None:
        return None
    return run.setup.number("normalization_momentum") is not None and batch <= few


def large_batch(
    run: Run,
    features: Features,
    *,
    few: float = threshold(
        10, "updates per epoch", basis="convention", source="an epoch then hardly changes the model"
    ),
) -> bool | None:
    """The batch is so large that an epoch has only a few updates."""
    batch, samples = run.setup.number("batch_size"), run.setup.number("dataset_size")
    if not batch or samples is None:
        return None
    return samples / (batch * (run.setup.number("accumulation") or 1.0)) < few


def finetuning(
    run: Run,
    features: Features,
    *,
    most: float = threshold(
        0.5, "of the weights", basis="convention", source="the smaller part may be a new head"
    ),
) -> bool | None:
    """Starts from trained weights: known from the user, from adapters, from the model's name, or because most
    weights are no random draws when the training starts."""
    given, drawn = run.setup.flag("finetuning"), run.setup.number("initial_weights_drawn")
    if given is not None:
        return given
    if drawn is not None and drawn < most:
        return True
    names = " ".join((run.setup.word("model"), run.setup.word("adapter"), run.setup.word("peft")))
    return True if any(w in names for w in ("lora", "adapter", "pretrained", "finetun")) else None


def recurrent_model(run: Run, features: Features) -> bool | None:
    """The model is recurrent, by its name or its modules."""
    name = " ".join((run.setup.word("model"), run.setup.word("modules"))).strip()
    if not name:
        return None
    return any(w in name for w in ("lstm", "gru", "rnn", "recurrent")) and not any(
        w in name for w in ("rcnn", "r-cnn")
    )


def high_weight_decay(
    run: Run,
    features: Features,
    *,
    coupled: float = threshold(0.02, "weight decay", basis="convention", source="200 times the usual 1e-4"),
    decoupled: float = threshold(
        0.4, "weight decay", basis="convention", source="AdamW recipes end near 0.3"
    ),
) -> bool | None:
    """Weight decay far above usual recipes (the limit is higher for decoupled decay, or if it may be that)."""
    decay = run.setup.number("weight_decay")
    return None if decay is None else decay > (decoupled if may_decouple(run) else coupled)


def may_decouple(run: Run) -> bool:
    """Whether the optimizer takes weight decay apart from the gradient, or is not known."""
    name = run.setup.word("optimizer")
    return not name or any(word in name for word in ("adamw", "lion", "muon", "lamb"))


def no_regularization(run: Run, features: Features) -> bool | None:
    """Neither weight decay nor dropout is used."""
    decay, dropout = run.setup.number("weight_decay"), run.setup.number("dropout")
    if decay is None or dropout is None:
        return False if (decay or dropout) else None
    return decay == 0 and dropout == 0


def shuffle_off(run: Run, features: Features) -> bool | None:
    """Training samples have a fixed order: shuffling is off, or only whole batches are shuffled."""
    given = run.setup.word("shuffle")
    return given in ("false", "no", "off", "0", "batch", "none", "0.0") if given else None


def quantized(run: Run, features: Features) -> bool | None:
    """Trains with (simulated) quantization."""
    if any(n.startswith("quant/") for n in (*run.series, *run.panels)):
        return True
    return run.setup.flag("quantized")


def finished(run: Run, features: Features) -> bool | None:
    """The run reached its planned end."""
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
    """The run computes on the CPU instead of an accelerator."""
    device = run.setup.word("device")
    return None if not device else device.startswith("cpu")


def several_processes(run: Run, features: Features) -> bool | None:
    """Several processes train together, each on different samples."""
    known = run.setup.number("world_size")
    return True if ranks_of(run) else None if known is None else known > 1

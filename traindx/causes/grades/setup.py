"""Measures behind the grades that the setup gives; each a number in the unit of its scale, a word, or None."""

from __future__ import annotations

import math

from traindx.causes.facts.optimizer import optimizer_family, peak_rate, updates
from traindx.features.shared import Features
from traindx.vocabulary.rule import threshold
from traindx.vocabulary.run import Run

KINDS = (
    "adamw",
    "adam",
    "sgd",
    "rmsprop",
    "adagrad",
    "adadelta",
    "rprop",
    "lbfgs",
    "asgd",
    "nadam",
    "radam",
    "adamax",
)
CELLS = ("lstm", "gru", "rnn")


def rate(
    run: Run,
    features: Features,
    *,
    adaptive: float = threshold(
        2e-3, "lr", basis="convention", source="small nets under Adam: 1e-3 to 5e-3"
    ),
    momentum: float = threshold(
        0.03, "lr", basis="convention", source="small nets under SGD with momentum 0.9"
    ),
    plain: float = threshold(0.1, "lr", basis="convention", source="SGD without momentum"),
) -> float | None:
    """Decades of the peak rate above what is usual for the optimizer."""
    peak = peak_rate(run)
    if peak is None:
        return None
    family = optimizer_family(run)
    usual = {"adaptive": adaptive, "sgd": momentum if run.setup.number("momentum") else plain}.get(family)
    if usual is None:
        return None
    return math.log10(peak / usual) if peak > 0 else -math.inf


def optimizer(run: Run, features: Features) -> str | None:
    name = run.setup.word("optimizer")
    return next((kind for kind in KINDS if kind in name), "other") if name else None


def schedule(run: Run, features: Features) -> str | None:
    told = run.setup.known("scheduler")
    return None if told is None else "some"


def batch(run: Run, features: Features) -> float | None:
    return run.setup.number("batch_size")


def batch_share(run: Run, features: Features) -> float | None:
    size, samples = run.setup.number("batch_size"), run.setup.number("dataset_size")
    return size / samples if size and samples else None


def updates_made(run: Run, features: Features) -> float | None:
    """Steps of a run that has ended: a log that is still being written tells nothing of its budget."""
    counted = run.setup.number("optimizer_steps")
    return counted if counted is not None else (updates(run) if run.complete else None)


def depth(run: Run, features: Features) -> float | None:
    return run.setup.number("depth")


def normalization(run: Run, features: Features) -> str | None:
    told = run.setup.flag("has_normalization")
    return None if told is None else "there" if told else "missing"


def width(run: Run, features: Features) -> float | None:
    size, layers = run.setup.number("parameters"), run.setup.number("depth")
    narrow = run.setup.number("narrowest_width")
    if narrow is not None:
        return (
            None if run.setup.known("loss/2/function") else narrow
        )  # of several heads, all but one are in its way
    return math.sqrt(size / layers) if size and layers else None


def activation(run: Run, features: Features) -> str | None:
    """The kind of the hidden activations: none, rectifiers, saturating ones, others."""
    if run.setup.number("depth") is None:
        return None
    names = run.setup.word("activations")
    if (
        not names and model_kind(run, features) != "recurrent"
    ):  # the cells of those have activations of their own
        names = run.setup.word("graph_activations").replace("none", "")
    if any(w in names for w in ("sigmoid", "tanh", "softsign")):
        return "saturating"
    if "relu" in names or zeros_taken_in(run):
        return "rectifier"
    return "other" if names else "none"


def zeros_taken_in(run: Run) -> bool:
    """Whether modules take in what a rectifier gave out that was called as a function."""
    panel = run.panels.get("act_zero_fraction")
    return panel is not None and any(name.endswith(".input") for name in panel.modules)


def outputs_from(run: Run, features: Features) -> str | None:
    """The operation that the loss is fed from."""
    return run.setup.word("outputs_last_activation") or None


def model_kind(run: Run, features: Features) -> str | None:
    names = run.setup.word("modules")
    if not names:
        return None
    if any(w in names for w in CELLS):
        return "recurrent"
    if "attention" in names or "transformer" in names:
        return "attention"
    return "convolution" if "conv" in names else "dense"


def inputs_scale(run: Run, features: Features) -> float | None:
    values = [run.setup.number(n) for n in ("inputs_mean_abs_max", "inputs_std_max")]
    known = [v for v in values if v is not None]
    return max(known) if known else None


def inputs_spread(run: Run, features: Features) -> float | None:
    low, high = run.setup.number("inputs_std_min"), run.setup.number("inputs_std_max")
    return high / low if low and high else None


def targets_scale(run: Run, features: Features) -> float | None:
    values = [run.setup.number(n) for n in ("targets_mean_abs_max", "targets_std_max")]
    known = [v for v in values if v is not None]
    return max(known) if known else None


def outlier_share(run: Run, features: Features) -> float | None:
    values = [run.setup.number(n) for n in ("inputs_outlier_share", "targets_outlier_share")]
    known = [v for v in values if v is not None]
    return max(known) if known else None


def majority(
    run: Run,
    features: Features,
    *,
    half: float = threshold(
        0.5, "of the samples", basis="theory", source="fewer cannot outvote all others together"
    ),
    uneven: float = threshold(
        2.0, "x an even share", basis="convention", source="letters and words are never even"
    ),
) -> float | None:
    """Odds of the commonest class against the others', so that two classes can be as skewed as ten; a class that
    holds less than half of the samples is uneven at most. Not of pixels, most of which are background."""
    share, classes = run.setup.number("class_majority_share"), run.setup.number("classes_seen")
    if (
        features.is_game
        or run.setup.word("targets_shape").strip("1x")
        or share is None
        or not classes
        or classes < 2
    ):
        return None
    odds = share / max(1 - share, 1e-3) * (classes - 1)
    return odds if share >= half else min(odds, uneven)


def weight_decay(
    run: Run,
    features: Features,
    *,
    decoupled: float = threshold(
        0.1, "of the value", basis="convention", source="AdamW: 0.01 to 0.1; Adam, SGD: 1e-4"
    ),
) -> float | None:
    """As a penalty in the loss; decay that is decoupled from the gradient is given in larger numbers."""
    value = run.setup.number("weight_decay")
    apart = any(name in run.setup.word("optimizer") for name in ("adamw", "lion", "lamb"))
    return value * decoupled if value is not None and apart else value


def dropout(run: Run, features: Features) -> float | None:
    return run.setup.number("dropout")


def momentum(run: Run, features: Features) -> float | None:
    return run.setup.number("momentum") if optimizer_family(run) == "sgd" else None


def data_size(run: Run, features: Features) -> float | None:
    return run.setup.number("dataset_size")


def memory(run: Run, features: Features) -> float | None:
    size, samples = run.setup.number("parameters"), run.setup.number("dataset_size")
    return size / samples if size and samples else None


def precision(run: Run, features: Features) -> str | None:
    told = run.setup.word("precision") or run.setup.word("parameter_dtype")
    if not told:
        return None
    return "bfloat16" if "bf" in told else "float16" if "16" in told or "half" in told else "full"


def loss_kind(run: Run, features: Features) -> str | None:
    """What the loss function is for: classes, two classes, numbers."""
    name = run.setup.word("loss")
    if not name:
        return None
    if ("cross_entropy" in name and "binary" not in name) or "nll" in name:
        return "classes"
    if "bce" in name or "binary" in name:
        return "binary"
    return "numbers" if any(w in name for w in ("mse", "l1", "mae", "huber", "smooth")) else "other"


def reduction(run: Run, features: Features) -> str | None:
    """Of the loss that is differentiated where that was found out: a sum may be divided by the batch after all."""
    return run.setup.word("loss_reduction_seen") or run.setup.word("loss_reduction") or None


def class_weights(run: Run, features: Features) -> str | None:
    """Whether the rare classes count more, in the loss or in how samples are drawn."""
    if "weighted" in run.setup.word("sampler"):
        return "yes"
    told = run.setup.flag("loss_weighted")
    return None if told is None else "yes" if told else "no"


def shuffle(run: Run, features: Features) -> str | None:
    told = run.setup.flag("shuffle")
    return None if told is None else "on" if told else "off"


def purity(run: Run, features: Features) -> float | None:
    return None if features.is_game else run.setup.number("batch_class_purity")


def val_shift(run: Run, features: Features) -> float | None:
    return run.setup.number("val_inputs_shift")


def val_spread(run: Run, features: Features) -> float | None:
    return run.setup.number("val_inputs_spread_ratio")


def overlap(run: Run, features: Features) -> float | None:
    return run.setup.number("train_val_overlap_share")


def repeats(run: Run, features: Features) -> float | None:
    """None where one batch may be all the data."""
    if run.setup.number("batches_distinct") == 1 and run.setup.number("dataset_size") is None:
        return None
    return run.setup.number("batches_repeat_share")


def share(run: Run, name: str) -> float | None:
    """A count of parameters as a share of all."""
    count, total = run.setup.number(name), run.setup.number("parameters_total")
    return count / total if count is not None and total else None


def frozen(run: Run, features: Features) -> float | None:
    return share(run, "parameters_frozen")


def unheld(run: Run, features: Features) -> float | None:
    """An optimizer is known by its steps: where none steps, nobody knows what it holds. What a model uses and does
    not hold among its parameters is in none."""
    known, total = share(run, "parameters_without_optimizer"), run.setup.number("parameters_total")
    if known is None or not total or run.setup.number("backwards_without_step"):
        return None
    outside = run.setup.number("parameters_unregistered") or 0.0
    return (known * total + outside) / (total + outside)


def unreached(run: Run, features: Features) -> float | None:
    counts = [share(run, n) for n in ("parameters_without_gradient", "parameters_with_zero_gradient")]
    known = [c for c in counts if c is not None]
    return sum(known) if known else None


def unmoved(run: Run, features: Features) -> float | None:
    return None if run.setup.number("backwards_without_step") else share(run, "parameters_not_moving")


def uncleared(run: Run, features: Features) -> float | None:
    missing, checked = (
        run.setup.number("zero_grad_missing_steps"),
        run.setup.number("zero_grad_checked_steps"),
    )
    return missing / checked if missing is not None and checked else None


def eval_steps(run: Run, features: Features) -> float | None:
    return run.setup.number("steps_in_eval_mode_share")


def train_evaluation(run: Run, features: Features) -> float | None:
    return run.setup.number("validation_in_train_mode_share")


def backwards(run: Run, features: Features) -> float | None:
    return run.setup.number("backwards_per_step")


def nonfinite(run: Run, features: Features) -> str | None:
    """Where the first number that is not finite arose."""
    told = run.setup.word("nonfinite_first_direction")
    return told or None


def probabilities(run: Run, features: Features) -> str | None:
    """Whether a loss that is known is fed with probabilities; those that a model of Keras gives are what its own loss
    expects, which is not seen."""
    told = run.setup.flag("loss_input_looks_like_probabilities")
    seen = run.setup.word("loss_name") or run.setup.word("loss")
    return None if told is None or not seen else "yes" if told else "no"


def masked(run: Run, features: Features) -> float | None:
    return run.setup.number("label_negative_share")


def norm_momentum(run: Run, features: Features) -> float | None:
    return run.setup.number("normalization_momentum")


def alike_units(run: Run, features: Features) -> float | None:
    """Of those that are still alike once training has begun, where that was looked at: a table of zeros whose rows
    get gradients of their own is no fault."""
    known = [run.setup.number("weights_identical_units"), run.setup.number("weights_identical_units_later")]
    return min((share for share in known if share is not None), default=None)


def start_low(run: Run, features: Features) -> float | None:
    """Decades of the smallest initial gain of the layers."""
    least = run.setup.number("initial_gain_min")
    return math.log10(least) if least and least > 0 else None


def start_high(run: Run, features: Features) -> float | None:
    """Decades of the largest initial gain of the layers."""
    most = run.setup.number("initial_gain_max")
    return math.log10(most) if most and most > 0 else None

"""Measures of the setup behind the grades; each a number in the unit of its scale, a word, or None."""

import math
from collections.abc import Callable

from traindx.causes.facts.optimizer import comparable_rate, optimizer_family, updates
from traindx.causes.facts.setup import may_decouple
from traindx.features.comparisons.outputs_of_loss import is_language
from traindx.features.curves.progress import searches_within_steps
from traindx.features.shared import Features, favours_rare_classes
from traindx.vocabulary import Run, threshold

KINDS = (
    "adamw", "adam", "sgd", "rmsprop", "adagrad", "adadelta", "rprop", "lbfgs", "asgd", "nadam", "radam",
    "adamax",
)  # fmt: skip
CELLS = ("lstm", "gru", "rnn", "recurrent")

Measure = Callable[[Run, Features], float | str | None]


def number(field: str) -> Measure:
    """The number of the setup itself."""
    return lambda run, features: run.setup.number(field)


def decades(field: str) -> Measure:
    """The decimal logarithm of a positive number of the setup."""

    def measure(run: Run, features: Features) -> float | None:
        value = run.setup.number(field)
        return math.log10(value) if value and value > 0 else None

    return measure


def largest(*fields: str) -> Measure:
    """The largest of those numbers of the setup that are known."""
    return lambda run, features: max(known_numbers(run, *fields), default=None)


def word(field: str) -> Measure:
    """The word of the setup itself."""
    return lambda run, features: run.setup.word(field) or None


def flag_in_words(field: str, yes: str, no: str) -> Callable[[Run, Features], str | None]:
    """The word `yes` or `no` for a flag of the setup."""
    words: dict[bool | None, str] = {True: yes, False: no}
    return lambda run, features: words.get(run.setup.flag(field))


def known_numbers(run: Run, *fields: str) -> list[float]:
    return [value for value in (run.setup.number(field) for field in fields) if value is not None]


def quotient(run: Run, above: str, below: str) -> float | None:
    """One number of the setup divided by another."""
    count, total = run.setup.number(above), run.setup.number(below)
    return count / total if count is not None and total else None


def proportion(above: str, below: str) -> Measure:
    """One number of the setup divided by another; None where it is 0."""
    return lambda run, features: quotient(run, above, below) or None


def share_of_parameters(run: Run, field: str) -> float | None:
    """A count of parameters as a share of all."""
    return quotient(run, field, "parameters_total")


def frozen(run: Run, features: Features) -> float | None:
    """Parameters that are frozen, without those that were trained before, as a share of all."""
    share, drawn = share_of_parameters(run, "parameters_frozen"), run.setup.number("frozen_weights_drawn")
    return share if share is None or drawn is None else share * drawn


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
    trees: float = threshold(0.1, "lr", basis="convention", source="LightGBM's default; XGBoost's is 0.3"),
) -> float | None:
    """Decades of the peak rate above what is usual for the optimizer, or for boosted trees."""
    peak = comparable_rate(run)
    if peak is None:
        return None
    family = "trees" if run.boosted else optimizer_family(run)
    steps = {
        "adaptive": adaptive,
        "sgd": momentum if run.setup.number("momentum") else plain,
        "trees": trees,
    }
    usual = steps.get(family)
    if usual is None:
        return None
    return math.log10(peak / usual) if peak > 0 else -math.inf


def optimizer(run: Run, features: Features) -> str | None:
    name = run.setup.word("optimizer")
    return next((kind for kind in KINDS if kind in name), "other") if name else None


def schedule(run: Run, features: Features) -> str | None:
    return None if run.setup.known("scheduler") is None else "some"


def updates_made(run: Run, features: Features) -> float | None:
    """Steps of a run that has ended; a log that is still being written does not show its budget."""
    counted = None if searches_within_steps(run) else run.setup.number("optimizer_steps")
    return counted if counted is not None else (updates(run) if run.complete else None)


def width(run: Run, features: Features) -> float | None:
    size, layers = run.setup.number("parameters"), run.setup.number("depth")
    narrow = run.setup.number("narrowest_width")
    if narrow is not None:
        # With several heads, the narrowest layer is only on the path to one of them.
        return None if run.setup.known("loss/2/function") else narrow
    return math.sqrt(size / layers) if size and layers else None


def activation(run: Run, features: Features) -> str | None:
    """The kind of the hidden activations: none, rectifier, saturating or other."""
    if run.setup.number("depth") is None:
        return None
    names = run.setup.word("activations")
    if not names and model_kind(run, features) != "recurrent":  # recurrent cells have built-in activations
        names = run.setup.word("graph_activations").replace("none", "")
    if any(w in names for w in ("sigmoid", "tanh", "softsign")):
        return "saturating"
    if "relu" in names or zeros_taken_in(run):
        return "rectifier"
    return "other" if names else "none"


def zeros_taken_in(run: Run) -> bool:
    """Whether modules have inputs with zeros, as a rectifier that is called as a function leaves them."""
    panel = run.panels.get("act_zero_fraction")
    return panel is not None and any(name.endswith(".input") for name in panel.modules)


def model_kind(run: Run, features: Features) -> str | None:
    names = run.setup.word("modules")
    if not names:
        return None
    if any(w in names for w in CELLS):
        return "recurrent"
    if "attention" in names or "transformer" in names:
        return "attention"
    return "convolution" if "conv" in names else "dense"


def majority(
    run: Run,
    features: Features,
    *,
    half: float = threshold(0.5, "of the samples", basis="theory", source="less is no majority"),
    uneven: float = threshold(
        2.0, "x an even share", basis="convention", source="letters and words are never even"
    ),
) -> float | None:
    """Odds of the most common class against the others, so that two classes can be as skewed as ten.

    A class with less than half of the samples is at most uneven. Unknown for pixels, most of which are
    background, and for tokens, whose frequencies always differ.
    """
    share, classes = run.setup.number("class_majority_share"), run.setup.number("classes_seen")
    if (
        features.is_game
        or is_language(run)
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
    """As a penalty in the loss. Usual values of decoupled decay are larger and are scaled down."""
    value = run.setup.number("weight_decay")
    return value * decoupled if value is not None and may_decouple(run) else value


def momentum(run: Run, features: Features) -> float | None:
    return run.setup.number("momentum") if optimizer_family(run) == "sgd" else None


def precision(run: Run, features: Features) -> str | None:
    given = run.setup.word("precision") or run.setup.word("parameter_dtype")
    if not given:
        return None
    half = any(w in given for w in ("16", "half", "amp", "mixed"))
    return "bfloat16" if "bf" in given else "float16" if half else "full"


def loss_kind(run: Run, features: Features) -> str | None:
    """The task of the loss function: classes, binary, numbers or other."""
    name = run.setup.word("loss")
    if not name:
        return None
    if ("cross_entropy" in name and "binary" not in name) or "nll" in name:
        return "classes"
    if "bce" in name or "binary" in name:
        return "binary"
    return "numbers" if any(w in name for w in ("mse", "l1", "mae", "huber", "smooth")) else "other"


def reduction(run: Run, features: Features) -> str | None:
    """Of the loss that is differentiated, where observed: a sum may be divided by the batch size later."""
    return run.setup.word("loss_reduction_seen") or run.setup.word("loss_reduction") or None


def class_weights(run: Run, features: Features) -> str | None:
    """Whether rare classes count more, in the loss or in how samples are drawn."""
    if favours_rare_classes(run):
        return "yes"
    return flag_in_words("loss_weighted", "yes", "no")(run, features)


def purity(run: Run, features: Features) -> float | None:
    return None if features.is_game else run.setup.number("batch_class_purity")


def repeats(run: Run, features: Features) -> float | None:
    """None where one batch may be the whole data set."""
    if run.setup.number("batches_distinct") == 1 and run.setup.number("dataset_size") is None:
        return None
    return run.setup.number("batches_repeat_share")


def unheld(run: Run, features: Features) -> float | None:
    """None where no optimizer steps, because only a step shows which parameters it holds. Parameters
    that the model uses without registering them are in no optimizer."""
    known, total = (
        share_of_parameters(run, "parameters_without_optimizer"),
        run.setup.number("parameters_total"),
    )
    if known is None or not total or run.setup.number("backwards_without_step"):
        return None
    outside = run.setup.number("parameters_unregistered") or 0.0
    return (known * total + outside) / (total + outside)


def unreached(run: Run, features: Features) -> float | None:
    counts = [
        share_of_parameters(run, n) for n in ("parameters_without_gradient", "parameters_with_zero_gradient")
    ]
    known = [c for c in counts if c is not None]
    return sum(known) if known else None


def unmoved(run: Run, features: Features) -> float | None:
    if run.setup.number("backwards_without_step"):
        return None
    return share_of_parameters(run, "parameters_not_moving")


def uncleared(run: Run, features: Features) -> float | None:
    return quotient(run, "zero_grad_missing_steps", "zero_grad_checked_steps")


def probabilities(run: Run, features: Features) -> str | None:
    """Whether a known loss of scores gets probabilities. Unknown for most Keras models, whose built-in loss
    expects them, and nothing to remark for a plain binary cross-entropy, which is one of probabilities."""
    if (run.setup.word("loss_name") or run.setup.word("loss")) in ("", "binary_cross_entropy"):
        return None
    return flag_in_words("loss_input_looks_like_probabilities", "yes", "no")(run, features)


def alike_units(run: Run, features: Features) -> float | None:
    """Share of the units that are still equal once training has begun, where that was measured. A table
    of zeros whose rows get different gradients is no fault."""
    return min(known_numbers(run, "weights_identical_units", "weights_identical_units_later"), default=None)

"""Faults of the data: scale, labels, order, splits, amount."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.gym.faults.fault import Fault
from benchmarks.gym.recipe import Recipe

LABELLED = ("classes", "binary")


def raw(recipe: Recipe, times: float) -> Recipe | None:
    """Features that are not prepared; every one gets a unit of its own."""
    if recipe.net.kind != "mlp" or recipe.kind == "autoencoder":
        return None
    units = f"units = {times} ** np.linspace(-1, 2, x.shape[-1])\n"
    units += (
        "x_train, x_val, x_test = x_train * units + units, x_val * units + units, x_test * units + units"
    )
    return replace(recipe, spoil_late=units)


def huge(recipe: Recipe, times: float) -> Recipe | None:
    if recipe.kind in ("lm", "autoencoder"):
        return None
    return replace(
        recipe, spoil_late=f"x_train, x_val, x_test = {times} * x_train, {times} * x_val, {times} * x_test"
    )


def raw_target(recipe: Recipe, times: float) -> Recipe | None:
    if recipe.kind != "regression":
        return None
    line = (
        f"y_train, y_val, y_test = (150 + {times} * y_train, 150 + {times} * y_val, 150 + {times} * y_test)"
    )
    return replace(recipe, spoil_late=line)


def rare(recipe: Recipe, one_in: float) -> Recipe | None:
    """One class in most rows; the others are rare, in training and validation alike."""
    if recipe.kind not in LABELLED:
        return None
    body = (
        f"rare = np.random.RandomState(1).rand(len(y)) < 1 / {one_in}\n"
        "for_train, for_val = (y_train == 0) | rare[: len(y_train)], (y_val == 0) | rare[: len(y_val)]\n"
        "x_train, y_train, x_val, y_val = x_train[for_train], y_train[for_train], x_val[for_val], y_val[for_val]"
    )
    return replace(recipe, spoil=body)


def flipped(recipe: Recipe, share: float) -> Recipe | None:
    if recipe.kind not in LABELLED:
        return None
    body = (
        f"wrong = np.random.RandomState(2).rand(len(y_train)) < {share}\n"
        "y_train = np.where(wrong, np.random.RandomState(3).randint(0, y.max() + 1, len(y_train)), y_train)"
    )
    return replace(recipe, spoil=body, epochs=int(1.5 * recipe.epochs))


def misaligned(recipe: Recipe, _: float) -> Recipe | None:
    if recipe.kind == "lm":
        return None
    return replace(recipe, spoil="y_train = y_train[np.random.RandomState(4).permutation(len(y_train))]")


def renamed(recipe: Recipe, _: float) -> Recipe | None:
    """The training labels are numbered differently from the validation labels."""
    return (
        replace(recipe, spoil="y_train = (y_train + 1) % (y.max() + 1)")
        if recipe.kind == "classes"
        else None
    )


def hole(recipe: Recipe, _: float) -> Recipe | None:
    if recipe.kind == "lm":
        return None
    return replace(
        recipe, spoil_late="x_train = np.array(x_train)\nx_train.reshape(len(x_train), -1)[7, 0] = np.nan"
    )


def outliers(recipe: Recipe, times: float) -> Recipe | None:
    if recipe.kind == "regression":
        return replace(recipe, spoil_late=f"y_train = y_train.copy()\ny_train[::50] *= {times}")
    if recipe.kind in ("lm", "autoencoder"):
        return None
    return replace(recipe, spoil_late=f"x_train = np.array(x_train)\nx_train[::100] *= {times * 10}")


def sorted_by_class(recipe: Recipe, _: float) -> Recipe | None:
    if recipe.kind not in LABELLED:
        return None
    body = "by_class = np.argsort(y_train, kind='stable')\nx_train, y_train = x_train[by_class], y_train[by_class]"
    return replace(recipe, spoil=body, shuffle=False)


def leaked(recipe: Recipe, _: float) -> Recipe | None:
    """The validation rows are among the training rows, of which there are few and many wrongly labelled."""
    if recipe.kind not in LABELLED or recipe.net.kind != "mlp":
        return None
    body = (
        "x_train, y_train = np.concatenate([x_train[:200], x_val]), np.concatenate([y_train[:200], y_val])\n"
        "y_train = np.where(np.random.RandomState(5).rand(len(y_train)) < 0.25, np.random.RandomState(6).randint("
        "0, y.max() + 1, len(y_train)), y_train)\n"
        "y_val = y_train[-len(y_val):]"
    )
    net = replace(recipe.net, hidden=(256, 256), dropout=0.0)
    return replace(recipe, spoil=body, net=net, optimizer="Adam", lr=2e-3, epochs=max(40, 2 * recipe.epochs),
                   weight_decay=0.0, options="", scheduler="")  # fmt: skip


def unlike(recipe: Recipe, times: float) -> Recipe | None:
    """Validation inputs in another unit than training inputs."""
    if recipe.kind in ("lm", "autoencoder"):
        return None
    return replace(recipe, spoil_late=f"x_val = x_val * {times} + {times / 8}")


def masked(recipe: Recipe, share: float) -> Recipe | None:
    if recipe.kind != "lm":
        return None
    body = f"y_train = np.where(np.random.RandomState(7).rand(len(y_train), 1) < {share}, -100, y_train)"
    return replace(recipe, spoil=body)


def few(recipe: Recipe, rows: float) -> Recipe | None:
    if recipe.kind in ("lm", "autoencoder", "segment"):
        return None
    body = f"x_train, y_train = x_train[:{int(rows)}], y_train[:{int(rows)}]"
    return replace(recipe, spoil=body, batch=min(recipe.batch, 16), epochs=4 * recipe.epochs)


FAULTS = (
    Fault("own-units", "unnormalized-inputs", raw, (10, 30)),
    Fault("huge-inputs", "unnormalized-inputs", huge, (100, 1000), ("learning-rate-too-high",)),
    Fault("raw-target", "unnormalized-targets", raw_target, (70, 1000)),
    Fault("rare-classes", "class-imbalance", rare, (20, 60)),
    Fault("flipped-labels", "label-noise", flipped, (0.4, 0.7)),
    Fault("misaligned", "misaligned-labels", misaligned),
    Fault(
        "renamed-labels", "misaligned-labels", renamed, (1,), ("val-preprocessing-mismatch",), sees=("val",)
    ),
    Fault("hole", "corrupt-samples", hole),
    Fault("outliers", "corrupt-samples", outliers, (30, 100)),
    Fault("sorted", "unshuffled-data", sorted_by_class),
    Fault("leaked", "train-val-leakage", leaked, harm="report", sees=("val",)),
    Fault(
        "unlike-validation", "val-preprocessing-mismatch", unlike, (16, 255), harm="report", sees=("val",)
    ),
    Fault("all-masked", "fully-masked-labels", masked, (1.0, 0.9)),
    Fault("few-rows", "too-little-data", few, (30, 60), ("insufficient-regularization",), sees=("val",)),
)

"""The data that `fit` is given, as arrays."""

import numpy as np
from keras.src.models.model import Trainer

from traindx.capture.keras.interventions.api import (
    Any,
    Arguments,
    Callable,
    Change,
    Loss,
    Site,
    applies,
    keras,
)

SEED = 0x0DA7A
PARTS = ("x", "y", "sample_weight")
USUAL_BATCH = 32  # that of `fit`
FAR, TAIL, NORMAL, FEWEST = 20.0, 0.05, 3.2897, 20  # as `drop=outliers` in PyTorch


def length(site: Site, arguments: Arguments) -> int:
    """Samples of arrays. Refused: data sets and generators."""
    flat = keras.tree.flatten(arguments["x"])
    if not flat or not all(hasattr(part, "shape") and hasattr(part, "__getitem__") for part in flat):
        site.refuse("the data are no arrays: a data set or a generator makes its batches itself")
    return int(flat[0].shape[0])


def split(site: Site, arguments: Arguments) -> int:
    """Split the validation's share off the end of the arrays. Returns the samples left."""
    total, share = length(site, arguments), arguments.get("validation_split") or 0.0
    if not share:
        return total
    count = int(np.floor(total * (1.0 - share)))
    held = keep_samples(arguments, lambda part: part[count:])
    arguments |= keep_samples(arguments, lambda part: part[:count])
    arguments |= {"validation_data": tuple(held.values()), "validation_split": 0.0}
    return count


def map_parts(parts: Any, function: Callable[[Any], Any]) -> Any:
    return keras.tree.map_structure(function, parts)


def keep_samples(arguments: Arguments, choose: Callable[[Any], Any]) -> dict[str, Any]:
    """The training samples that `choose` takes of each array: inputs, targets and weights."""
    given = (name for name in PARTS if arguments.get(name) is not None)
    return {name: map_parts(arguments[name], choose) for name in given}


def host(part: Any) -> Any:
    return part if isinstance(part, np.ndarray) else keras.ops.convert_to_numpy(part)


@applies("batch", unused="the batches already have this size")
def batch(site: Site, wanted: Change) -> None:
    """The `batch_size` of `fit`, at most the number of samples. The rate stays. Refused for data sets, which make their
    batches themselves."""

    def resize(_model: Any, arguments: Arguments) -> None:
        own = arguments.get("batch_size") or USUAL_BATCH
        new = round(own * wanted.number) if wanted.relative else int(wanted.number)
        new = max(1, min(new, length(site, arguments)))
        if new != own:
            arguments["batch_size"] = new
            site.touched("fits")

    site.on_data(resize)


@applies("data", unused="the data already has this order")
def data(site: Site, kind: str) -> None:
    """`shuffle` and `fixed` set the `shuffle` of `fit`; `fixed` is the order of the arrays. `repeat-batch` trains on
    the first batch only, as many times as there are batches. Refused for data sets and generators."""

    def order(_model: Any, arguments: Arguments) -> None:
        count = split(site, arguments)
        if kind != "repeat-batch":
            if bool(arguments.get("shuffle")) != (kind == "shuffle"):
                arguments["shuffle"] = kind == "shuffle"
                site.touched("fits")
            return
        size = min(arguments.get("batch_size") or USUAL_BATCH, count)
        rows = np.tile(np.arange(size), count // size)
        arguments |= keep_samples(arguments, lambda part: host(part)[rows]) | {"shuffle": False}
        site.touched("fits")

    site.on_data(order)


@applies("labels")
def labels(site: Site, _value: str) -> None:
    """`permute` gives each training sample the label of another one, with one permutation for each `fit`. Validation
    keeps its own labels."""

    def permute(_model: Any, arguments: Arguments) -> None:
        count = split(site, arguments)
        order = np.random.default_rng(SEED).permutation(count)
        arguments["y"] = map_parts(arguments["y"], lambda part: host(part)[order])
        site.fact("labels_permuted", "over all samples")
        site.touched("fits")

    site.on_data(permute)


@applies("drop", unused="no training sample is an outlier")
def drop(site: Site, _value: str) -> None:
    """`outliers` leaves out training samples whose inputs hold NaN, infinities, or a value more than 20 robust
    deviations from its feature's median, judged over all samples. Evaluation keeps all its samples."""

    def leave_out(_model: Any, arguments: Arguments) -> None:
        count = split(site, arguments)
        bad = np.zeros(count, bool)
        for part in [*keras.tree.flatten(arguments["x"]), *keras.tree.flatten(arguments["y"])]:
            if part is not None and host(part).dtype.kind == "f":
                bad |= far_samples(host(part))
        if bad.any():
            arguments |= keep_samples(arguments, lambda part: host(part)[~bad])
            site.touched("samples", int(bad.sum()))

    site.on_data(leave_out)


def far_samples(values: Any) -> Any:
    """Which samples of `values[n, ...]` hold something that is not finite or far, by feature (the last dimension)."""
    flat = values.reshape(len(values), -1)
    bad = ~np.isfinite(flat).all(1)
    columns = values.reshape(len(values), -1, values.shape[-1] if values.ndim > 1 else 1)
    kept = columns[~bad].reshape(-1, columns.shape[-1]).astype(np.float64)
    if len(kept) >= FEWEST:
        low, middle, high = np.quantile(kept, [TAIL, 0.5, 1 - TAIL], axis=0)
        deviation = np.where(high > low, (high - low) / NORMAL, np.inf)
        with np.errstate(invalid="ignore"):
            bad |= (np.abs(columns - middle) / deviation > FAR).any((1, 2))
    return bad


@applies("inputs")
def inputs(site: Site, kind: str) -> None:
    """`standardize` brings each feature (the last dimension) to mean 0 and standard deviation 1 over the training
    samples, in training, validation, `evaluate` and `predict`; constant features become 0. Refused for token ids.
    `blank` makes all training and validation inputs 0, `shuffle` exchanges the inputs of the training samples."""
    scales = Scales(site)

    def alter(model: Any, arguments: Arguments) -> None:
        count = split(site, arguments)
        if kind == "standardize":
            scales.fitted(model, arguments)
        elif kind == "shuffle":
            order = np.random.default_rng(SEED).permutation(count)
            arguments["x"] = map_parts(arguments["x"], lambda part: host(part)[order])
        else:
            arguments["x"] = map_parts(arguments["x"], lambda part: np.zeros_like(host(part)))
            if isinstance(arguments.get("validation_data"), tuple | list):
                x, *rest = arguments["validation_data"]
                arguments["validation_data"] = (map_parts(x, lambda part: np.zeros_like(host(part))), *rest)
        site.touched("fits")

    site.on_data(alter)


class Scales:
    """Means and deviations of the inputs of each model."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.of: dict[int, list[tuple[Any, Any]]] = {}
        for name in ("evaluate", "predict"):
            site.wrap(Trainer, name, self.called)

    def fitted(self, model: Any, arguments: Arguments) -> None:
        flat = [host(part) for part in keras.tree.flatten(arguments["x"])]
        if any(part.dtype.kind != "f" and part.ndim < 3 for part in flat):
            self.site.refuse("the inputs are whole numbers: token ids, or classes")
        if id(model) not in self.of:
            self.of[id(model)] = [moments(part) for part in flat]
        arguments["x"] = self.scaled(model, arguments["x"])
        held = arguments.get("validation_data")
        if isinstance(held, tuple | list):
            arguments["validation_data"] = (self.scaled(model, held[0]), *held[1:])
        elif held is not None:
            self.site.refuse("the validation data are a data set")

    def scaled(self, model: Any, x: Any) -> Any:
        flat = [
            ((host(part).astype(np.float64) - mean) / deviation).astype(np.float32)
            for part, (mean, deviation) in zip(keras.tree.flatten(x), self.of[id(model)], strict=True)
        ]
        return keras.tree.pack_sequence_as(x, flat)

    def called(self, original: Any, model: Any, x: Any = None, *args: Any, **named: Any) -> Any:
        if x is not None and id(model) in self.of and not self.site.hooks.inside_fit:
            x = self.scaled(model, x)
        return original(model, x, *args, **named)


def moments(part: Any) -> tuple[Any, Any]:
    """By feature; a constant one is divided by infinity. Values that are not finite do not count."""
    rows = part.reshape(-1, part.shape[-1] if part.ndim > 1 else 1).astype(np.float64)
    rows = np.where(np.isfinite(rows), rows, np.nan)
    deviation = np.nanstd(rows, axis=0)
    return np.nanmean(rows, axis=0), np.where(deviation > 0, deviation, np.inf)


@applies("class_weights", unused="the classes are balanced")
def class_weights(site: Site, _value: str) -> None:
    """`class_weight` of `fit`: n / (classes x samples of the class), of all labels. The recorded training loss is
    weighted. Refused: data sets, losses without classes, and sample weights, which Keras cannot combine with it."""

    def weigh(model: Any, arguments: Arguments) -> None:
        loss = Loss(model)
        if "cross_entropy" not in loss.name:
            site.refuse(f"the loss is {loss.name}, not a cross-entropy")
        if arguments.get("sample_weight") is not None:
            site.refuse("the samples have weights")
        split(site, arguments)
        y = host(arguments["y"])
        found = loss.labels(y) if y.ndim < 2 or y.shape[-1] > 1 else y[..., 0]
        classes, counts = np.unique(np.asarray(found).reshape(-1).astype(np.int64), return_counts=True)
        if counts.max() > counts.min():
            weights = counts.sum() / (len(classes) * counts)
            arguments["class_weight"] = {int(c): float(w) for c, w in zip(classes, weights, strict=True)}
            site.fact("loss_weighted", True)
            site.touched("fits")

    site.on_data(weigh)

"""Arrays, however they are stored, as chunks: samples flattened, and thinned if they have too many
features."""

import difflib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from traindx.errors import ConfigError
from traindx.survey.hashes import sample_marks
from traindx.survey.table import (
    MOST_FIELDS,
    Chunk,
    Field,
    Table,
    Wanted,
    escape_name,
    list_names,
    rows_a_chunk,
)
from traindx.vocabulary import Floats

Array = np.ndarray[Any, np.dtype[Any]]
Blocks = Callable[[], Iterator[tuple[Array, Array | None]]]

INPUTS = ("x", "x_train", "train_x", "data", "inputs", "features", "images", "train_images", "arr_0")
TARGETS = ("y", "y_train", "train_y", "target", "targets", "label", "labels", "train_labels", "arr_1")


def table(
    name: str,
    form: str,
    shape: tuple[int, ...],
    blocks: Blocks,
    wanted: Wanted,
    *,
    target: str | None,
    dtype: np.dtype[Any] | None = None,
    names: tuple[str, ...] = (),
    **known: Any,
) -> Table:
    """A Table over pairs of blocks `(inputs[n, ...], targets[n] or None)` whose samples have `shape`;
    `dtype` is that of the targets."""
    width = int(np.prod(shape)) if shape else 1
    stride = -(-width // MOST_FIELDS)
    places = range(0, width, stride)
    named = names if len(names) == width else tuple(feature_name(i, shape) for i in range(width))
    fields = tuple(Field(named[i]) for i in places)
    if wanted.fields is not None and len(wanted.fields) != len(fields):
        raise ConfigError(
            f"{escape_name(name, 200)}: samples have another shape than those of the training data"
        )
    made = Table(
        name=name,
        format=form,
        fields=fields,
        chunks=lambda: chunks(blocks(), width, stride, wanted, target),
        target=target,
        target_kind="number" if dtype is None or dtype.kind in "fiu" else "category",
        **known,
    )
    if stride > 1:
        made.notes.append(
            f"samples have {width:,} values; one in {stride} was read (all of them for duplicates)"
        )
    return made


def feature_name(index: int, shape: tuple[int, ...]) -> str:
    """The position of a value in its sample: "7" in a vector, "0,3,12" in an image."""
    return ",".join(str(int(i)) for i in np.unravel_index(index, shape or (1,)))


def chunks(
    blocks: Iterator[tuple[Array, Array | None]], width: int, stride: int, wanted: Wanted, target: str | None
) -> Iterator[Chunk]:
    start = 0
    for inputs, targets in blocks:
        rows = np.asarray(inputs).reshape(len(inputs), width)
        for at in range(0, len(rows), rows_a_chunk(width)):
            part = rows[at : at + rows_a_chunk(width)]
            goal = None if targets is None else targets[at : at + len(part)]
            marks = sample_marks(part.astype(np.float64)) if stride > 1 else None
            values = part[:, ::stride].astype(np.float64)
            yield Chunk(
                start, values, None if goal is None else as_target(goal, wanted, target), marks=marks
            )
            start += len(part)


def as_target(values: Array, wanted: Wanted, name: str | None) -> Floats:
    """Targets as numbers: classes of one-hot rows, codes of words."""
    if values.ndim > 1 and values.shape[-1] > 1 and values.dtype.kind in "fiub":
        return np.asarray(values.reshape(len(values), -1).argmax(1), dtype=np.float64)
    values = values.reshape(len(values))
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    words = [None if w is None or w != w else str(w) for w in values.tolist()]
    return wanted.codes.encode(name or "target", words)


def as_numpy(value: Any) -> Array:
    """An array, or a tensor as one; half precision becomes float32, which NumPy may lack otherwise."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) in ("torch.bfloat16", "torch.float16") else value
        value = value.numpy()
    return np.asarray(value)


def usable(array: Array) -> bool:
    return array.dtype.kind in "fiub" and array.ndim >= 1


def pick_name(names: list[str], candidates: tuple[str, ...]) -> str | None:
    """The first of `candidates` among `names`, whatever the case."""
    lowered = {n.lower(): n for n in reversed(names)}
    return next((lowered[c] for c in candidates if c in lowered), None)


def pick_arrays(names: list[str], target: str | None) -> tuple[str | None, str | None]:
    """Which array holds the inputs and which the targets. Raises ConfigError for a missing target."""
    if target is not None and target not in names:
        near = difflib.get_close_matches(target, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {list_names(names, 12)}"
        raise ConfigError(f"--target: there is no array {escape_name(target)!r}; {hint}")
    return pick_name([n for n in names if n != target], INPUTS), target or pick_name(names, TARGETS)

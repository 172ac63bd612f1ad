"""What a training step needs of memory, and what would fit."""

from typing import Literal

import msgspec

# Bytes of a unit, in lower case: K and kB count in thousands, KiB in 1024.
SIZES = {"": 1.0, "b": 1.0, "bytes": 1.0} | {
    f"{prefix}{end}": base**power
    for power, prefix in enumerate("kmgt", 1)
    for end, base in (("", 1e3), ("b", 1e3), ("i", 2.0**10), ("ib", 2.0**10))
}


class Need(msgspec.Struct, frozen=True):
    """One kind of tensors, in bytes."""

    kind: str
    bytes: float


class Option(msgspec.Struct, frozen=True):
    """A change, the bytes that a step would then need, whether that fits (None where the memory is not
    known), and whether the number was measured or is an estimate."""

    change: str
    bytes: float
    fits: bool | None
    basis: Literal["measured", "line", "estimate"]


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """`needed` bytes at the highest point of a step with `batch` samples: `standing` (weights, state of the
    optimizer), `fixed` with any batch, and `per_sample` for each sample; `largest` batch that fits into
    `available`."""

    batch: float | None
    needed: float
    available: float | None
    standing: float
    fixed: float
    per_sample: float | None
    largest: int | None
    needs: tuple[Need, ...] = ()
    options: tuple[Option, ...] = ()

"""Tensors that lie elsewhere, as on an accelerator: each operation is done for real, and what brings numbers to the
host is counted. No accelerator is needed: they say that they are not on the CPU, and hold a tensor that is."""

from __future__ import annotations

import traceback
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

import traindx

aten = torch.ops.aten
# What a GPU has to wait for: its result has a shape, or is a number, that the host must know.
WAITING = {
    aten._local_scalar_dense.default, aten.nonzero.default, aten.masked_select.default, aten.equal.default,
    aten._unique2.default, aten.unique_dim.default, aten.unique_consecutive.default, aten.is_nonzero.default,
}  # fmt: skip


class Far(torch.Tensor):
    """A tensor that is not on the host."""

    held: torch.Tensor
    seen: ClassVar[Counter[str]] = (
        Counter()
    )  # what came to the host since it was cleared, and the line that asked

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> Far:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            held.stride(),
            held.storage_offset(),
            dtype=held.dtype,
            device=torch.device("meta"),
        )
        made.held = held
        return made  # type: ignore[no-any-return]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        kwargs = kwargs or {}
        here = torch.device(kwargs["device"]).type == "cpu" if kwargs.get("device") is not None else False
        into_host = func is aten.copy_.default and not isinstance(args[0], Far)
        if here or into_host or func in WAITING:
            Far.seen[f"{func} {asked_by()}"] += 1
        kwargs = {
            k: torch.device("cpu") if k == "device" and v is not None else v for k, v in kwargs.items()
        }
        found = func(
            *tree_map_only(Far, lambda t: t.held, args), **tree_map_only(Far, lambda t: t.held, kwargs)
        )
        if here or into_host or func is aten._local_scalar_dense.default:
            return found
        name = func._schema.name
        if (
            name.endswith("_") and args and isinstance(args[0], Far)
        ):  # in place: what is reported must be the same
            return args[0]
        if name.startswith("aten::_foreach_") and name.endswith("_"):
            return None
        return tree_map_only(torch.Tensor, cls, found)


class MadeFar(TorchFunctionMode):
    """What is made on the device of far tensors is far too."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if kwargs.get("device") != torch.device("meta"):
            return func(*args, **kwargs)
        return Far(func(*args, **kwargs | {"device": "cpu"}))


def asked_by() -> str:
    """The innermost line of traindx that is at work, or where there is none, of the test."""
    own, tests = str(Path(traindx.__file__).parent), str(Path(__file__).parent)
    stack = [frame for frame in traceback.extract_stack() if frame.filename != __file__]
    found = [f for f in stack if f.filename.startswith(own)] or [
        f for f in stack if f.filename.startswith(tests)
    ]
    return f"{Path(found[-1].filename).name}:{found[-1].lineno}"

"""Tensors as flat numpy arrays without a copy, and the cheapest reductions over them on a CPU.

The choice of the operation matters a hundredfold on a CPU: `np.dot` and `np.max` run at memory speed, while
`torch.count_nonzero`, `torch.var_mean` and norms of order infinity do not.

Capture's own operations must be invisible to the script: tensor subclasses and modes count and change
what is done with PyTorch."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

Array = np.ndarray[Any, np.dtype[Any]]
NATIVE = (torch.float32, torch.float64)  # half precision has no fast arithmetic in numpy


def local_part(tensor: torch.Tensor) -> torch.Tensor:
    """The part of a tensor that this process holds, without its graph; the values of a sparse tensor."""
    tensor = tensor.detach()
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        tensor = getattr(tensor, "_local_tensor", tensor)
    if tensor.layout is not torch.strided:
        tensor = tensor.coalesce().values() if tensor.layout is torch.sparse_coo else tensor.values()
    return tensor


def flat(tensor: torch.Tensor) -> Array:
    """All values of a CPU tensor in the order of memory, which does not matter to sums and maxima. Only half
    precision and tensors with gaps are copied."""
    tensor = local_part(tensor)
    if tensor.dtype not in NATIVE:
        tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor.float()
    if not tensor.is_contiguous():
        strides = tensor.stride()
        tensor = tensor.permute(sorted(range(tensor.dim()), key=lambda d: -strides[d]))
    return np.asarray(tensor.numpy().reshape(-1))


def zeros(values: Array) -> int:
    return int(np.count_nonzero(values == 0))


def stretch(tensor: torch.Tensor, turn: int, size: int) -> Array:
    """`size` values of a CPU tensor in the order of memory (a view; half precision is copied): the first
    ones in turn 1, the next ones in each later turn. All values where there are no more than `size`."""
    tensor = local_part(tensor)
    native = tensor.dtype in NATIVE
    values = tensor.numpy().ravel("K") if native else tensor.reshape(-1)
    count = len(values)
    if count > size:
        start = (turn - 1) * size % (count - size + 1)
        values = values[start : start + size]
    return values if native else flat(values)


def window(tensor: torch.Tensor, start: int, size: int) -> torch.Tensor:
    """A stretch of a tensor's values as one dimension (a view where memory allows it)."""
    tensor = local_part(tensor)
    return tensor.reshape(-1) if tensor.numel() <= size else tensor.reshape(-1)[start : start + size]


def without_waiting(value: torch.Tensor) -> Any:
    """A float where a number is on the host; else the tensor, as reading it would wait for the device."""
    return float(value) if value.is_cpu else value


def vector(values: Sequence[Any]) -> torch.Tensor:
    """Numbers and tensors of one element as one vector in single precision, on the device of the first tensor."""
    device = next((v.device for v in values if isinstance(v, torch.Tensor)), torch.device("cpu"))
    # Numbers are created on the device: a copy from the host would wait.
    filled = (v if isinstance(v, torch.Tensor) else torch.full((), v, device=device) for v in values)
    return torch.stack([v.detach().float().to(device) for v in filled])


def tensors_in(found: Any) -> Iterator[torch.Tensor]:
    """All tensors in nested tuples, lists, dicts and dataclass-like outputs, in order."""
    if isinstance(found, torch.Tensor):
        yield found
    else:
        inner = (
            found.values() if isinstance(found, dict) else found if isinstance(found, list | tuple) else ()
        )
        for part in inner:
            yield from tensors_in(part)


def any_tensor(found: Any) -> torch.Tensor | None:
    """The first tensor of any type."""
    if type(found) is tuple and len(found) == 1:
        found = found[0]
    return found if isinstance(found, torch.Tensor) else next(tensors_in(found), None)


def first_tensor(found: Any) -> torch.Tensor | None:
    """The first floating tensor that is not empty."""
    # Asked twice of each module of a sampled pass, mostly of a tensor or of a tuple with one: generators
    # that call each other take three times as long.
    if type(found) is tuple and len(found) == 1:
        found = found[0]
    if isinstance(found, torch.Tensor):
        return found if found.is_floating_point() and found.numel() else None
    return next((t for t in tensors_in(found) if t.is_floating_point() and t.numel()), None)


def isolate_operations() -> AbstractContextManager[object]:
    """While this is entered, no `__torch_function__` is called, and no mode of the script sees an operation.
    A default device is such a mode, too, so what capture makes is on the host where it names no device."""
    # Disabling modes is slow, so it is done only where a mode is active.
    return without_modes() if torch._C._len_torch_dispatch_stack() else torch._C.DisableTorchFunction()


@contextmanager
def without_modes() -> Iterator[None]:
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        yield


def with_torch_functions() -> AbstractContextManager[object]:
    """Within `isolate_operations`, where a model of the user's is called: its tensors behave as they always do."""
    found: AbstractContextManager[object] = torch._C._EnableTorchFunction()
    return found

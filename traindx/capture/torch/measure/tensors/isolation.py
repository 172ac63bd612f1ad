"""Capture's own operations must be invisible to the script: tensor subclasses and modes count and change
what is done with PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch
from torch.utils._python_dispatch import _disable_current_modes


def isolated() -> AbstractContextManager[object]:
    """While this is entered, no `__torch_function__` is called, and no mode of the script sees an operation.
    A default device is such a mode, too, so what capture makes is on the host where it names no device."""
    # Disabling modes is slow, so it is done only where a mode is active.
    return without_modes() if torch._C._len_torch_dispatch_stack() else torch._C.DisableTorchFunction()


@contextmanager
def without_modes() -> Iterator[None]:
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        yield


def with_torch_functions() -> AbstractContextManager[object]:
    """Within `isolated`, where a model of the user's is called: its tensors behave as they always do."""
    found: AbstractContextManager[object] = torch._C._EnableTorchFunction()
    return found

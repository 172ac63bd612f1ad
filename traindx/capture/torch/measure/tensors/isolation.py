"""Capture's own operations are the user's to see nowhere: tensors of their own kinds and their modes count and change
what is done with PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import torch
from torch.utils._python_dispatch import _disable_current_modes


def apart() -> AbstractContextManager[object]:
    """While this is entered, no `__torch_function__` is called, and no mode of the script's sees anything. A default
    device is such a mode, too: what capture makes lies on the host where it does not say otherwise."""
    return without_modes() if torch._C._len_torch_dispatch_stack() else torch._C.DisableTorchFunction()


@contextmanager
def without_modes() -> Iterator[None]:
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        yield


def attached() -> AbstractContextManager[object]:
    """Within `apart`, where a model of the user's is called: its tensors do what they always do."""
    found: AbstractContextManager[object] = torch._C._EnableTorchFunction()
    return found

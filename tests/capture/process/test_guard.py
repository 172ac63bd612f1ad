"""What counts as running out of memory: failures of real allocations, and others that are none."""

from __future__ import annotations

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from traindx.capture.process.guard import ran_out_of_memory  # noqa: E402

MUCH = 1 << 50  # values: more than any machine gives at once


def test_the_host_has_not_so_much() -> None:
    with pytest.raises(RuntimeError) as refused:
        torch.empty(MUCH)
    assert type(refused.value) is RuntimeError
    assert ran_out_of_memory(refused.value)
    with pytest.raises(MemoryError) as numpys:
        np.empty(MUCH)
    assert ran_out_of_memory(numpys.value)
    assert ran_out_of_memory(OSError(12, os.strerror(12)))
    assert ran_out_of_memory(torch.OutOfMemoryError("CUDA error"))


def test_other_failures_are_none() -> None:
    with pytest.raises(RuntimeError) as shapes:
        torch.zeros(2, 3) @ torch.zeros(2, 3)
    assert not ran_out_of_memory(shapes.value)
    assert not ran_out_of_memory(KeyError("memory"))

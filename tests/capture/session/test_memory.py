"""Memory that a training has freed is not recorded as in use."""

from __future__ import annotations

import ctypes

import pytest

from traindx.capture.session.clock import Clock, host_memory

BLOCKS, SIZE = 3000, 60_000  # below what the C library maps by itself


def recorded() -> float:
    out: dict[str, float] = {}
    Clock().memory(None, out)
    return out["mem/host"]


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc keeps freed memory")
def test_freed_memory_below_something_in_use_is_returned() -> None:
    before = recorded()
    blocks = [bytearray(SIZE) for _ in range(BLOCKS)]
    in_use = recorded()
    assert in_use - before > 0.8 * BLOCKS * SIZE  # what is in use stays in memory
    last = blocks.pop()
    blocks.clear()
    kept = host_memory()
    assert kept is not None
    assert kept - before > 0.8 * BLOCKS * SIZE  # the C library keeps it
    assert recorded() - before < 0.2 * BLOCKS * SIZE
    assert len(last) == SIZE

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


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc keeps freed memory")
@pytest.mark.parametrize("leaked", [0, 400])
def test_what_each_step_takes_and_frees_is_returned_rarely_and_a_leak_is_seen(leaked: int) -> None:
    """Each return makes the next step ask for its memory again: at every step that took a fifth of a convolutional
    net's time."""
    seconds, kept, seen = 0.0, [], []
    clock = Clock(now=lambda: seconds)
    for _ in range(40):
        seconds += 1.0
        blocks = [bytearray(SIZE) for _ in range(BLOCKS)]
        kept += [blocks.pop(), *(bytearray(SIZE) for _ in range(leaked))]
        blocks.clear()
        out: dict[str, float] = {}
        clock.memory(None, out)
        seen += out.values()
    grown = seen[-1] - seen[0]
    assert len(seen) >= 8
    assert max(seen[1:]) - seen[0] < (BLOCKS + 40 * leaked) * SIZE  # never with what was freed
    if leaked:
        assert grown > 0.7 * 40 * leaked * SIZE
    else:
        assert len(seen) < 20
        assert grown < 0.2 * BLOCKS * SIZE

"""Samples of memory-too-small."""

from __future__ import annotations

from tests.captured import told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "a large model": told(
            "healthy", memory_available=16000000000.0, memory_needed=40000000000.0, memory_of="device"
        ),
        "to the brim": told("healthy", memory_available=16000000000.0, memory_needed=15900000000.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "it fits": told(
            "healthy", memory_available=16000000000.0, memory_needed=2000000000.0, memory_of="machine"
        ),
    }

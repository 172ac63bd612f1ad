"""Samples of memory-too-small."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "a large model": with_facts(
            "healthy", memory_available=16000000000.0, memory_needed=40000000000.0, memory_of="device"
        ),
        "to the brim": with_facts("healthy", memory_available=16000000000.0, memory_needed=15900000000.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "it fits": with_facts(
            "healthy", memory_available=16000000000.0, memory_needed=2000000000.0, memory_of="machine"
        ),
    }

"""Samples of disk-space-short."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "nearly full": with_facts("healthy", disk_free=100000000.0, disk_needed=4000000000.0),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "room enough": with_facts("healthy", disk_free=100000000000.0, disk_needed=4000000000.0),
    }

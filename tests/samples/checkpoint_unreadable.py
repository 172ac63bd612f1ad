"""Samples of checkpoint-unreadable."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "cut short": with_facts(
            "healthy",
            checkpoints_seen=3,
            checkpoints_unreadable=1,
            checkpoints_unreadable_names="last.pt (not a zip file)",
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "all whole": with_facts("healthy", checkpoints_seen=3, checkpoints_unreadable=0),
        "there is none": with_facts("healthy", checkpoints_seen=0, checkpoints_unreadable=0),
    }

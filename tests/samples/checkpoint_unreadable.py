"""Samples of checkpoint-unreadable."""

from __future__ import annotations

from tests.captured import told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "cut short": told(
            "healthy",
            checkpoints_seen=3,
            checkpoints_unreadable=1,
            checkpoints_unreadable_names="last.pt (not a zip file)",
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "all whole": told("healthy", checkpoints_seen=3, checkpoints_unreadable=0),
        "there is none": told("healthy", checkpoints_seen=0, checkpoints_unreadable=0),
    }

"""Samples of checkpoint-not-finite."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "weights of NaN": with_facts(
            "healthy",
            checkpoints_seen=2,
            checkpoints_not_finite=1,
            checkpoints_not_finite_names="best.safetensors (fc1.weight)",
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "all finite": with_facts("healthy", checkpoints_seen=2, checkpoints_not_finite=0),
    }

"""Samples of versions-unpinned."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "another version runs": with_facts(
            "healthy", pins_file="requirements.txt", pins_mismatched="torch 2.1.0 (2.13.0 is running)"
        ),
        "no file": with_facts("healthy", pins_file="none"),
        "a package without a pin": with_facts(
            "healthy", pins_file="pyproject.toml", pins_missing="torch, numpy"
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "a lock file": with_facts("healthy", pins_file="uv.lock", pins_missing="", pins_mismatched=""),
    }

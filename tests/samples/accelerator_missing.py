"""Samples of accelerator-missing."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "left on the processor": with_facts(
            "healthy",
            accelerator_usable=True,
            accelerator_present=True,
            accelerator="NVIDIA H200",
            parameters=20000000.0,
        ),
        "the build cannot use it": with_facts(
            "healthy",
            accelerator_usable=False,
            accelerator_present=True,
            accelerator="an NVIDIA device",
            parameters=20000000.0,
        ),
        "a small net": with_facts(
            "healthy", accelerator_usable=True, accelerator_present=True, accelerator="NVIDIA H200"
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "there is none": with_facts(
            "healthy", accelerator_usable=False, accelerator_present=False, parameters=20000000.0
        ),
        "it is used": with_facts(
            "healthy",
            accelerator_usable=True,
            accelerator_present=True,
            device="cuda:0",
            parameters=20000000.0,
        ),
    }

"""Samples of accelerator-missing."""

from __future__ import annotations

from tests.captured import told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "left on the processor": told(
            "healthy",
            accelerator_usable=True,
            accelerator_present=True,
            accelerator="NVIDIA H200",
            parameters=20000000.0,
        ),
        "the build cannot use it": told(
            "healthy",
            accelerator_usable=False,
            accelerator_present=True,
            accelerator="an NVIDIA device",
            parameters=20000000.0,
        ),
        "a small net": told(
            "healthy", accelerator_usable=True, accelerator_present=True, accelerator="NVIDIA H200"
        ),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "there is none": told(
            "healthy", accelerator_usable=False, accelerator_present=False, parameters=20000000.0
        ),
        "it is used": told(
            "healthy",
            accelerator_usable=True,
            accelerator_present=True,
            device="cuda:0",
            parameters=20000000.0,
        ),
    }

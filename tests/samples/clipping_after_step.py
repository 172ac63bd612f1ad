"""Samples of clipping-after-step."""

from __future__ import annotations

from tests.captured import told
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "every clip": told("clipped_after", clip_after_step=192),
        "said by the user": told("healthy", clip_after_step=True),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "none": told("healthy", clip_after_step=0),
        "said by the user not to be": told("healthy", clip_after_step=False),
    }

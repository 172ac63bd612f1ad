"""Samples of clipping-after-step."""

from __future__ import annotations

from tests.captured import with_facts
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "every clip": with_facts("clipped_after", clip_after_step=192),
        "said by the user": with_facts("healthy", clip_after_step=True),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "none": with_facts("healthy", clip_after_step=0),
        "said by the user not to be": with_facts("healthy", clip_after_step=False),
    }

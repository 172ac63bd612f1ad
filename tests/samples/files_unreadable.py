"""Samples of files-unreadable."""

from __future__ import annotations

from tests.make import surveyed
from traindx.vocabulary.run import Run


def fires() -> dict[str, Run]:
    return {
        "one of a thousand": surveyed(
            files_checked=1000, files_unreadable=1, files_unreadable_where="cats/7.png (ends early)"
        ),
        "not named": surveyed(files_checked=10, files_unreadable=10),
    }


def stays_quiet() -> dict[str, Run]:
    return {
        "all whole": surveyed(files_checked=1000, files_unreadable=0),
    }

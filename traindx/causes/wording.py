"""Small matters of wording."""

from __future__ import annotations


def lowered(title: str) -> str:
    """A title for the middle of a sentence: its first letter small, unless it begins with an acronym."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]

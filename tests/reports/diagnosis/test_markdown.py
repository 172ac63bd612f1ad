"""The Markdown report, read by a real Markdown parser."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.reports import made
from traindx.reports.diagnosis import markdown

OWN_HTML = {"<sub>", "</sub>", "</details>"}


def tokens(text: str) -> list[Token]:
    """All tokens, those within lines among them."""
    parser = MarkdownIt("commonmark", {"html": True, "linkify": False}).enable(["table", "strikethrough"])
    found = []
    for token in parser.parse(text):
        found += [token, *(token.children or ())]
    return found


def words(text: str) -> str:
    """What a reader sees."""
    return " ".join(t.content for t in tokens(text) if t.type in ("text", "code_inline"))


def cells(text: str) -> list[int]:
    """Cells in each row of each table."""
    counts: list[int] = []
    for token in tokens(text):
        if token.type == "tr_open":
            counts.append(0)
        elif token.type in ("td_open", "th_open"):
            counts[-1] += 1
    return counts


def test_all_contents_are_there() -> None:
    text = markdown.render(*made.document(made.sick(), made.healthy()))
    seen = words(text)
    for said in ("FAILED", "gradient-norm-explodes", "since step 23,620", "learning rate too high", "loss-diverges",
                 "71 %", "Lower the learning rate from 0.1 to 0.03.", "No fault was found.",
                 "about 12 min, likely to settle it", "1 needs loss_scale"):  # fmt: skip
        assert said in seen
    assert cells(text) == [5] * 3 + [4] * 7
    assert len(text) < 8000


def test_consequences_are_nested() -> None:
    lines = markdown.render(*made.document(made.sick())).splitlines()
    assert [line[:4] for line in lines if "**high**" in line or "**critical**" in line] == [
        "1. *",
        "   -",
        "   -",
    ]


@pytest.mark.parametrize("hostile", made.HOSTILE, ids=range(len(made.HOSTILE)))
def test_hostile_text_forms_no_markup(hostile: str) -> None:
    text = markdown.render(*made.hostile(hostile))
    found = tokens(text)
    assert {t.type for t in found} == {t.type for t in tokens(markdown.render(*made.hostile("harmless")))}
    for token in found:
        assert not token.type.startswith(("link", "image", "s_open", "em_open"))
        if token.type in ("html_inline", "html_block"):
            assert token.content.strip() in OWN_HTML or token.content.startswith("<details><summary>")
    assert cells(text) == [4, 4]
    assert text.replace("\n", "").isprintable()
    assert len(text) < 12_000


def test_nobody_is_mentioned_and_nothing_referred_to() -> None:
    outside = [
        t.content for t in tokens(markdown.render(*made.hostile(made.HOSTILE[9]))) if t.type == "text"
    ]
    joined = "".join(outside)
    for word in ("@everyone", "#1", "https://", "www."):
        assert word not in joined
        assert word in words(markdown.render(*made.hostile(made.HOSTILE[9])))  # kept in code spans


def test_no_runs() -> None:
    assert markdown.render(*made.document()).startswith("No runs were found.")

"""`traindx explain`: the page of a rule, cause, fix or pattern."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from traindx.cli.api import click, emit, stdout_width
from traindx.cli.catalogue_pages import Page, find, pages, sections

EXAMPLES = """\b
Examples:
  traindx explain LOS004
  traindx explain learning-rate-too-high
  traindx explain vanishing gradients
  traindx explain --list
"""
MAX_LINE = 100


@click.command(epilog=EXAMPLES)
@click.argument("words", nargs=-1, metavar="CODE-or-slug")
@click.option("--list", "listing", is_flag=True, help="List everything that has a page.")
def explain(words: tuple[str, ...], listing: bool) -> int:
    """Print the page of a rule, cause, fix or pattern.

    It is found by its code or slug, or by words in its title.
    """
    if bool(words) == listing:
        raise click.UsageError("give a code or slug, or --list", click.get_current_context())
    emit(contents(pages()) if listing else answer(find(" ".join(words))), None)
    return 0


def answer(found: Sequence[Page]) -> str:
    """The first page, and the names of the others."""
    width = max(len(page.slug) for page in found)
    others = [f"  {page.slug:{width}}  {page.title}"[: stdout_width()].rstrip() for page in found[1:]]
    return "\n".join([printed(found[0]), *(["", "See also", *others] if others else [])])


def printed(page: Page) -> str:
    """One page as text, wrapped to the terminal."""
    width = min(stdout_width(), MAX_LINE)
    heading = " ".join(part for part in (page.code, page.slug, f"({page.kind})") if part)
    parts = [heading + "\n" + "=" * len(heading), textwrap.fill(page.title, width)]
    for title, text in sections(page.text):
        parts.append((f"{title}\n{'-' * len(title)}\n" if title else "") + wrapped(text, width))
    ties = {**page.facts, **{tie: ", ".join(slugs) for tie, slugs in page.links.items()}}
    named = [f"{tie}: {value}" for tie, value in ties.items() if value]
    parts.append("\n".join(filled(line, width, "  ") for line in named))
    return "\n\n".join(part for part in parts if part)


def wrapped(text: str, width: int) -> str:
    """Paragraphs and list items filled to `width`; indented blocks and tables are kept line by line."""
    blocks = []
    for block in text.split("\n\n"):
        if block.startswith("- "):
            items = re.split(r"\n(?=- )", block)
            blocks.append("\n".join(filled(item, width, "  ") for item in items))
        else:
            kept = any(line.startswith((" ", "* ", "|")) for line in block.splitlines())
            blocks.append(block if kept else filled(block, width))
    return "\n\n".join(blocks)


def filled(text: str, width: int, indent: str = "") -> str:
    """A paragraph whose later lines begin with `indent`."""
    return textwrap.fill(" ".join(text.split()), width, subsequent_indent=indent, break_on_hyphens=False)


def contents(everything: Sequence[Page]) -> str:
    """One line a page, by kind."""
    width = max(len(page.slug) for page in everything)
    lines: list[str] = []
    for kind in dict.fromkeys(page.kind for page in everything):
        lines.append("fixes" if kind == "fix" else f"{kind}s")
        mine = [page for page in everything if page.kind == kind]
        lines += [
            f"  {page.code:6}  {page.slug:{width}}  {page.title}"[: stdout_width()].rstrip() for page in mine
        ]
        lines.append("")
    return "\n".join(lines).rstrip()

"""`traindx explain`: the page of a rule, cause, fix or pattern."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import click

from traindx import causes, fixes, rules
from traindx.cli.streams import emit, stdout_width
from traindx.errors import UnknownPage

EXAMPLES = """\b
Examples:
  traindx explain LOS004
  traindx explain learning-rate-too-high
  traindx explain --list
"""


class Page(NamedTuple):
    """What can be explained: `code` only for rules; `links` are other pages, by what ties them."""

    kind: str
    code: str
    slug: str
    title: str
    text: str
    links: dict[str, tuple[str, ...]]


@click.command(epilog=EXAMPLES)
@click.argument("word", required=False, metavar="CODE-or-slug")
@click.option("--list", "listing", is_flag=True, help="List everything that has a page.")
def explain(word: str | None, listing: bool) -> int:
    """Print the page of a rule, cause, fix or pattern."""
    if listing or word is None:
        if word is not None:
            raise click.UsageError("--list takes no slug", click.get_current_context())
        if not listing:
            raise click.UsageError("give a code or slug, or --list", click.get_current_context())
        emit(contents(pages()), None)
        return 0
    emit("\n\n\n".join(printed(page) for page in find(word)), None)
    return 0


def pages() -> tuple[Page, ...]:
    """Every page there is: rules by code, then causes, patterns and fixes."""
    told: dict[str, list[str]] = {}
    for fix in fixes.catalogue():
        for cause in fix.causes:
            told.setdefault(cause, []).append(fix.slug)
    return (
        *(Page("rule", r.code, r.slug, first_line(r.page), rest(r.page), {"follows": r.follows}) for r in rules.catalogue()),
        *(
            Page("cause", "", c.slug, c.title, c.page, {"seen by": seen_by(c.weights), "fixes": tuple(told.get(c.slug, ()))})
            for c in causes.catalogue()
        ),
        *(Page("pattern", "", p.slug, p.title, p.page, {}) for p in causes.patterns()),
        *(Page("fix", "", f.slug, f.title, f.page, {"for": f.causes}) for f in fixes.catalogue()),
    )


def first_line(page: str) -> str:
    return page.split("\n", 1)[0].strip()


def rest(page: str) -> str:
    return page.partition("\n")[2].strip()


def seen_by(weights: dict[str, object]) -> tuple[str, ...]:
    """The rules whose outcome speaks for or against a cause."""
    slugs = (key.split(":")[0] for key in weights if not key.startswith("fact:"))
    return tuple(dict.fromkeys(slugs))


def find(word: str) -> list[Page]:
    """The pages of a code or slug. Raises UnknownPage with the nearest names."""
    everything = pages()
    wanted = word.strip().lower().replace("_", "-").replace(" ", "-")
    found = [page for page in everything if wanted in (page.code.lower(), page.slug)]
    if found:
        return found
    names = [name for page in everything for name in (page.code.lower(), page.slug) if name]
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.6) or [name for name in names if wanted in name][:3]
    hint = f"did you mean {' or '.join(near)}?" if near else "`traindx explain --list` shows all"
    raise UnknownPage(f"nothing is called {word!r}; {hint}")


def printed(page: Page) -> str:
    """One page as text, wrapped to the terminal."""
    width = min(stdout_width(), 100)
    heading = " ".join(part for part in (page.code, page.slug, f"({page.kind})") if part)
    parts = [heading, "=" * len(heading), "", *textwrap.wrap(page.title, width)]
    if page.text:
        parts += ["", wrapped(page.text, width)]
    for tie, names in page.links.items():
        if names:
            parts += ["", *textwrap.wrap(f"{tie}: {', '.join(names)}", width, subsequent_indent="  ", break_on_hyphens=False)]
    return "\n".join(parts)


def wrapped(text: str, width: int) -> str:
    """Paragraphs filled to `width`; indented blocks, lists and headings are kept line by line."""
    blocks = []
    for block in text.split("\n\n"):
        lines = block.splitlines()
        kept = any(line.startswith((" ", "-", "*", "#", "|")) for line in lines)
        blocks.append(block if kept else textwrap.fill(" ".join(lines), width))
    return "\n\n".join(blocks)


def contents(everything: Sequence[Page]) -> str:
    """One line a page, by kind."""
    width = max(len(page.slug) for page in everything)
    lines = []
    for kind in dict.fromkeys(page.kind for page in everything):
        mine = [page for page in everything if page.kind == kind]
        lines += [f"{kind}s" if kind != "fix" else "fixes"]
        lines += [f"  {page.code:6}  {page.slug:{width}}  {page.title}"[: stdout_width()].rstrip() for page in mine]
        lines += [""]
    return "\n".join(lines).rstrip()

"""`traindx explain`: the page of a rule, cause, fix or pattern, in one shape. The generated docs are made of
these pages, too."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from traindx import causes, fixes, rules
from traindx.causes.catalogue import patterns  # `causes.patterns` is the module of that name
from traindx.causes.ranking.records import cause_words, rule_words, strongest_signs
from traindx.cli.api import click, emit, stdout_width
from traindx.errors import UnknownPage
from traindx.live.persistence import persistence_words

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
    return "\n".join([render_page(found[0]), *(["", "See also", *others] if others else [])])


def render_page(page: Page) -> str:
    """One page as text, wrapped to the terminal."""
    width = min(stdout_width(), MAX_LINE)
    heading = " ".join(part for part in (page.code, page.slug, f"({page.kind})") if part)
    parts = [heading + "\n" + "=" * len(heading), textwrap.fill(page.title, width)]
    for title, text in sections(page.text):
        parts.append((f"{title}\n{'-' * len(title)}\n" if title else "") + wrap_page(text, width))
    ties = {**page.facts, **{tie: ", ".join(slugs) for tie, slugs in page.links.items()}}
    named = [f"{tie}: {value}" for tie, value in ties.items() if value]
    parts.append("\n".join(fill_paragraph(line, width, "  ") for line in named))
    return "\n\n".join(part for part in parts if part)


def wrap_page(text: str, width: int) -> str:
    """Paragraphs and list items filled to `width`; indented blocks and tables are kept line by line."""
    blocks = []
    for block in text.split("\n\n"):
        if block.startswith("- "):
            items = re.split(r"\n(?=- )", block)
            blocks.append("\n".join(fill_paragraph(item, width, "  ") for item in items))
        else:
            kept = any(line.startswith((" ", "* ", "|")) for line in block.splitlines())
            blocks.append(block if kept else fill_paragraph(block, width))
    return "\n\n".join(blocks)


def fill_paragraph(text: str, width: int, indent: str = "") -> str:
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


SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)

# Words for a subject that its page has in none of its names.
ALSO = {"oom": "out-of-memory", "nan": "loss-not-finite", "lr": "learning-rate", "saturation": "saturating"}
ENDING = re.compile(r"(?<=\w{3})(?:t?ting|ning|ing|ed|es|s)$")


class Page(msgspec.Struct, frozen=True):
    """What can be explained. `code` is empty except for rules; `links` are other pages' slugs, by
    what ties them; `facts` are short properties (severity, applicability ...)."""

    kind: str
    code: str
    slug: str
    title: str
    text: str
    facts: Mapping[str, str]
    links: Mapping[str, tuple[str, ...]]


def pages() -> tuple[Page, ...]:
    """Every page there is: rules by code, then causes, patterns and fixes."""
    return (*rule_pages(), *cause_pages(), *pattern_pages(), *fix_pages())


def rule_pages() -> list[Page]:
    weighing = causes_by_rule()
    return [
        Page(
            "rule",
            r.code,
            r.slug,
            first_line(r.page),
            page_body(r.page),
            {
                "severity": r.severity,
                "needs": ", ".join(n.replace("|", " or ") for n in r.needs),
                "minimum points": str(r.min_points),
                "reported while training": persistence_words(r.persistence),
                "in test runs": rule_words(r.slug),
            },
            {
                "counts for or against": tuple(weighing.get(r.slug, ())),
                "may follow from": existing_rules(r.follows),
            },
        )
        for r in rules.catalogue()
    ]


def cause_pages() -> list[Page]:
    cures: dict[str, list[str]] = {}
    for fix in fixes.catalogue():
        for slug in fix.causes:
            cures.setdefault(slug, []).append(fix.slug)
    return [
        Page(
            "cause",
            "",
            c.slug,
            c.title,
            c.page,
            {
                "family": c.family,
                **dict(zip(("signs for it", "signs against it"), strongest_signs(c), strict=True)),
                "in test runs": cause_words(c.slug),
            },
            {"rules that count": rules_of(c.weights), "fixes": tuple(cures.get(c.slug, ()))},
        )
        for c in causes.catalogue()
    ]


def pattern_pages() -> list[Page]:
    return [Page("pattern", "", p.slug, p.title, p.page, {}, {}) for p in patterns()]


def fix_pages() -> list[Page]:
    return [
        Page(
            "fix",
            "",
            f.slug,
            f.title,
            f.page,
            {"applicability": f.applicability, "expected": f.expected},
            {"for": f.causes},
        )
        for f in fixes.catalogue()
    ]


def rules_of(weights: Iterable[str]) -> tuple[str, ...]:
    """The rules whose outcome counts for or against a cause, from the keys of its weights."""
    return existing_rules(key.split(":")[0] for key in weights)


def existing_rules(slugs: Iterable[str]) -> tuple[str, ...]:
    """Those that are rules. Causes and rules may name rules that are still to come; links may not."""
    known = {rule.slug for rule in rules.catalogue()}
    return tuple(dict.fromkeys(slug for slug in slugs if slug in known))


def causes_by_rule() -> dict[str, list[str]]:
    """Rule slug -> causes that weigh its outcome."""
    found: dict[str, list[str]] = {}
    for cause in causes.catalogue():
        for slug in rules_of(cause.weights):
            found.setdefault(slug, []).append(cause.slug)
    return found


def first_line(page: str) -> str:
    return " ".join(page.split("\n\n", 1)[0].split())


def page_body(page: str) -> str:
    return page.partition("\n\n")[2].strip()


def sections(text: str) -> list[tuple[str, str]]:
    """A page's (heading, text) pairs; text before the first `## ` heading has the heading ""."""
    parts = SECTION.split(text)
    found = [("", parts[0].strip())] if parts[0].strip() else []
    return found + [(h, t.strip()) for h, t in zip(parts[1::2], parts[2::2], strict=True)]


def find(word: str) -> list[Page]:
    """The pages of a code or slug, or those about some words. Raises UnknownPage with the nearest names."""
    everything = pages()
    wanted = word.strip().lower().replace("_", "-").replace(" ", "-")
    wanted = ALSO.get(wanted, wanted)
    found = [page for page in everything if wanted in (page.code.lower(), page.slug)] or about(
        wanted, everything
    )
    if found:
        return found
    near = nearest(wanted, everything)
    hint = f"did you mean {' or '.join(near)}?" if near else "`traindx explain --list` shows all"
    raise UnknownPage(f"nothing is called {word!r}; {hint}")


def about(wanted: str, everything: Sequence[Page], *, least: int = 3) -> list[Page]:
    """Pages whose name or title has every word of `wanted` of `least` letters or more, but for its ending: "vanishing
    gradients" finds gradients-vanish-with-depth. Those with the words in their name first, causes before rules."""
    words = [ENDING.sub("", word) for word in wanted.split("-") if len(word) >= least]
    starts = [re.compile(rf"\b{re.escape(word)}", re.IGNORECASE) for word in words]
    matching = [
        page for page in everything if starts and all(s.search(f"{page.slug} {page.title}") for s in starts)
    ]
    order = ("cause", "pattern", "rule", "fix")
    return sorted(
        matching, key=lambda p: (-sum(bool(s.search(p.slug)) for s in starts), order.index(p.kind))
    )


def nearest(wanted: str, everything: Sequence[Page]) -> list[str]:
    """Up to three names like `wanted`: by spelling, else those that contain it."""
    names = list(dict.fromkeys(name for page in everything for name in (page.code, page.slug) if name))
    spelled = difflib.get_close_matches(wanted, [name.lower() for name in names], n=3, cutoff=0.6)
    chosen = spelled or [name.lower() for name in names if len(wanted) > 2 and wanted in name.lower()][:3]
    return [name for name in names if name.lower() in chosen]

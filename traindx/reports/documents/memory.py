"""The memory that a step needs and what would fit, in every form."""

import msgspec

from traindx.reports.labels import number, percent
from traindx.reports.text_page import Page, Span
from traindx.vocabulary import Memory

HEADING = "Where the memory of a step goes"
FITS = {True: "fits", False: "does not fit", None: ""}
BASIS = {"measured": "measured", "line": "from two batch sizes", "estimate": "about"}


class Row(msgspec.Struct, frozen=True):
    """A line of the table: of the needs (share of all), or of the options (whether it fits)."""

    title: str
    size: str
    note: str


def size(count: float) -> str:
    """Bytes in the unit that suits them."""
    for unit, least in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= least:
            return f"{number(float(f'{count / least:.3g}'))} {unit}"
    return f"{number(round(count))} B"


def peak_sentence(memory: Memory) -> str:
    """The peak of a step, and the memory that is available."""
    batch = f" with batches of {number(memory.batch)}" if memory.batch else ""
    there = "" if memory.available is None else f"; {size(memory.available)} available"
    return f"{size(memory.needed)} at the peak of a step{batch}{there}"


def needs(memory: Memory) -> list[Row]:
    return [
        Row(n.kind, size(n.bytes), percent(n.bytes / memory.needed) if memory.needed else "")
        for n in memory.needs
    ]


def options(memory: Memory) -> list[Row]:
    """What would fit."""
    return [Row(o.change, size(o.bytes), ", ".join(w for w in (FITS[o.fits], BASIS[o.basis]) if w))
            for o in memory.options]  # fmt: skip


def line(memory: Memory) -> str:
    """Memory by batch size, and the largest batch that fits."""
    if memory.per_sample is None:
        return ""
    words = f"{size(memory.standing + memory.fixed)} at any batch size, and {size(memory.per_sample)} more for each sample"
    if memory.largest is None:
        return words
    if memory.largest < 1:
        return f"{words}: not even a batch of one fits"
    return f"{words}: batches of up to {number(memory.largest)} fit"


def text(page: Page, memory: Memory) -> None:
    """The section of the terminal report."""
    page.heading(HEADING)
    page.flow(peak_sentence(memory), indent=1, style="dim")
    for rows, head in ((needs(memory), "kind"), (options(memory), "instead")):
        if rows:
            page.table(
                (f" {head}", f"{'memory':>8}", ""),
                [[Span(f" {row.title}"), Span(f"{row.size:>8}"), Span(row.note)] for row in rows],
                flexible=0,
            )
            page.blank()
    if line(memory):
        page.flow(line(memory), indent=1)

"""The search for a learning rate as text, Markdown or JSON."""

import shlex
from collections.abc import Sequence
from pathlib import PurePath

import msgspec
import numpy as np

from traindx.reports import json, labels, markdown
from traindx.reports.plots import sketch
from traindx.reports.text_page import Page, Span
from traindx.vocabulary import Floats, series
from traindx.vocabulary.rates import RateSearch

ROWS, MARGIN = 10, 14  # of the plot; columns left of it for the numbers of its axis
BAR = 24  # columns of the longest bar of a tried rate
LEGEND = "loss against learning rate (log scale), smoothed, mean of the seeds; 1 suggested, 2 largest safe"


def render(search: RateSearch, form: str = "text", *, width: int = 80, color: bool = False) -> str:
    """A search as "text", "markdown" or "json"; `width` and `color` are for text."""
    if form == "json":
        return json.dumps(msgspec.to_builtins(search, enc_hook=json.plain_number))
    if form == "markdown":
        return as_markdown(search)
    page = Page(width, color=color)
    as_text(search, page)
    return page.text()


def mean_curve(search: RateSearch) -> tuple[Floats, Floats]:
    """Rates, and the mean over the seeds of the smoothed losses, as far as all have them."""
    n = min(len(s.smoothed) for s in search.sweeps)
    rates = np.array(search.sweeps[0].rates[:n])
    return rates, np.mean([s.smoothed[:n] for s in search.sweeps], axis=0)


def facts(search: RateSearch) -> list[tuple[str, str, str]]:
    """(name, value, remark) of what was found."""
    if search.suggested is None or search.safe is None or search.steepest is None:
        return []
    at_least = "or more: the loss still fell at the highest rate" if search.open_end else ""
    between = f"between {labels.number(search.low)} and {labels.number(search.high)}, "
    return [
        (
            "suggested",
            labels.number(search.suggested),
            between + f"reading {seeds(search)} and their halves alone",
        ),
        ("steepest", labels.number(search.steepest), "where the loss falls fastest against log(rate)"),
        (
            "largest safe",
            labels.number(search.safe),
            at_least or "half the rate at which the loss is lowest",
        ),
    ]


def seeds(search: RateSearch) -> str:
    return labels.plural(len(search.seeds), "seed")


def title(search: RateSearch) -> str:
    optimizer = f" ({labels.name(search.optimizer, 24)})" if search.optimizer else ""
    words = [PurePath(word).name if word.startswith("/") else word for word in search.command]
    return f"Learning rate of {labels.name(shlex.join(words), 60)}{optimizer}"


def extent(search: RateSearch) -> str:
    return f"{seeds(search)}, {search.steps} steps, {search.seconds:.0f} s"


def as_text(search: RateSearch, page: Page) -> None:
    page.pair(title(search), extent(search), style="bold")
    page.blank()
    if search.suggested is None:
        page.flow(search.reason, indent=0, first="No suggestion: ", lead_style="yellow")
    rows = facts(search)
    wide = max((len(value) for _, value, _ in rows), default=0)
    for name, value, remark in rows:
        style = "green" if name == "suggested" else ""
        page.row(f"  {name:<13} ", Span(value.rjust(wide), style), Span(f"   {remark}", "dim"))
    page.blank()
    for line in plot(search, page.width):
        page.row(line)
    tried_text(search, page)
    for note in search.notes:
        page.blank()
        page.flow(labels.clean(note), indent=0, first="note: ", lead_style="yellow")


def plot(search: RateSearch, width: int) -> list[str]:
    """The curve in characters, its rates below."""
    rates, losses = mean_curve(search)
    if len(rates) < 2:
        return []
    marks = {i: float(np.log10(r)) for i, r in ((1, search.suggested), (2, search.safe)) if r is not None}
    plan = sketch.plan(series(np.log10(rates), losses), marks, min(width, 80) - MARGIN, ROWS)
    if plan is None:
        return []
    lines, below = sketch.draw(plan)
    start = below[0].index(below[0].strip()[0]) + 1
    return [*lines, below[0], " " * start + scale(rates, len(below[0]) - start), f"  {LEGEND}"[:width]]


def scale(rates: Floats, columns: int) -> str:
    """Powers of ten under the axis, at their places, as far as there is room."""
    low, high = float(np.log10(rates[0])), float(np.log10(rates[-1]))
    line = ""
    for power in range(int(np.ceil(low - 1e-9)), int(np.floor(high + 1e-9)) + 1):
        word = labels.number(float(f"1e{power}"))
        at = round((power - low) / (high - low) * (columns - 1))
        if at >= len(line) + (1 if line else 0) and at + len(word) <= columns + 4:
            line = line.ljust(at) + word
    return line


def tried_rows(search: RateSearch) -> list[tuple[float, list[float]]]:
    """Each tried rate with its final losses, one of each seed."""
    found: dict[float, list[float]] = {}
    for one in search.tried:
        found.setdefault(one.rate, []).append(one.loss)
    return sorted(found.items())


def tried_text(search: RateSearch, page: Page) -> None:
    """Final losses at constant rates, with bars."""
    rows = tried_rows(search)
    if not rows:
        return
    page.heading(tried_title(search))
    means = [float(np.mean(losses)) for _, losses in rows]
    most = max((m for m in means if np.isfinite(m)), default=1.0)
    for (rate, losses), mean in zip(rows, means, strict=True):
        bar = "█" * round(BAR * mean / most) if np.isfinite(mean) and mean > 0 and most > 0 else ""
        good = search.good is not None and search.good[0] <= rate <= search.good[1]
        words = "diverged" if np.isnan(mean) else "  ".join(labels.estimate(v) for v in losses)
        page.row(
            f"  {labels.number(rate):>9}  ", Span(bar.ljust(BAR), "green" if good else ""), f"  {words}"
        )
    page.row(Span(f"  {tried_end(search)}", "dim"))


def tried_title(search: RateSearch) -> str:
    return f"Final loss after {max(t.steps for t in search.tried)} steps at a constant rate"


def tried_end(search: RateSearch) -> str:
    if search.good is None:
        return "no rate lowered the loss in so few steps"
    low, high = (labels.number(rate) for rate in search.good)
    return f"about as good as the best: {low} to {high}"


def as_markdown(search: RateSearch) -> str:
    lines = [f"## {markdown.text(title(search))}", markdown.text(extent(search))]
    if search.suggested is None:
        lines.append(f"**No suggestion**: {markdown.text(search.reason)}")
    else:
        table = ["| | rate | |", "|---|---:|---|"]
        table += [f"| {name} | {value} | {markdown.text(remark)} |" for name, value, remark in facts(search)]
        lines.append("\n".join(table))
    if search.tried:
        head = [
            "| rate | " + " | ".join(f"seed {s}" for s in search.seeds) + " |",
            "|---:" * (1 + len(search.seeds)) + "|",
        ]
        body = [
            f"| {labels.number(rate)} | {' | '.join(map(final_loss_text, losses))} |"
            for rate, losses in tried_rows(search)
        ]
        lines += [f"### {tried_title(search)}", "\n".join(head + body), markdown.text(tried_end(search))]
    lines += [f"- {markdown.text(note)}" for note in search.notes]
    return "\n\n".join(lines) + "\n"


def final_loss_text(loss: float) -> str:
    return "diverged" if np.isnan(loss) else labels.estimate(loss)


def rows_of(search: RateSearch) -> Sequence[tuple[float, float]]:
    """(rate, mean final loss) of what was tried, for figures."""
    return [(rate, float(np.mean(losses))) for rate, losses in tried_rows(search)]

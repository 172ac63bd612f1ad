"""Where a step's time goes, in every form: one list of rows that text, Markdown and HTML show."""

import msgspec

from traindx.reports.labels import name, number, percent
from traindx.reports.text_page import Page, Span
from traindx.vocabulary import Operator, Profile

HEADING = "Where the time of a step goes"
BAR = 24  # columns of a bar for a whole step
SHOWN, NAME = 8, 56  # operators that the first screen lists, and columns of a name


class Row(msgspec.Struct, frozen=True):
    """A line of the tables; `share` in 0..1 is what its bar shows."""

    title: str
    seconds: str
    percent: str
    calls: str
    share: float


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them: "1.2 s", "34 ms", "870 us"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{number(float(f'{seconds / size:.3g}'))} {unit}"
    return f"{number(float(f'{seconds / 1e-6:.3g}'))} us"


def parts(profile: Profile) -> list[Row]:
    """The phases of a step on the host, and the time without computation."""
    rows = [Row(p.part, duration(p.seconds), percent(p.share), "", p.share) for p in profile.parts]
    share = profile.idle / profile.step_seconds if profile.step_seconds > 0 else 0.0
    title = "accelerator idle" if profile.accelerator else "no computation"
    own = [r for r in profile.parts if r.part == "between operators"]
    if profile.accelerator or not own or abs(own[0].seconds - profile.idle) > 0.01 * profile.step_seconds:
        rows.append(Row(title, duration(profile.idle), percent(share), "", min(share, 1.0)))
    return rows


def operators(profile: Profile) -> list[Row]:
    """The operators with the most time of their own."""
    return [Row(one.operator, duration(one.seconds), percent(one.share), calls(one), one.share)
            for one in profile.operators]  # fmt: skip


def calls(one: Operator) -> str:
    return f"{number(float(f'{one.calls:.3g}'))}"


def step_sentence(profile: Profile) -> str:
    steps = f"typical of {profile.steps} traced steps" if profile.steps > 1 else "one traced step"
    return f"{duration(profile.step_seconds)}, {steps}"


def text(page: Page, profile: Profile, *, full: bool) -> None:
    """The section of the terminal report."""
    page.heading(HEADING)
    page.row(Span(f" {step_sentence(profile)}", "dim"))
    table(page, parts(profile), ("part", f"{'time':>8}", "share", "", ""))
    listed = operators(profile)
    if listed:
        page.blank()
        table(page, listed[: None if full else SHOWN], ("operator", f"{'time':>8}", "share", "calls", ""))
    for gap in profile.gaps:
        page.flow(name(gap, 200), indent=1, first="- ", style="dim")


def table(page: Page, rows: list[Row], head: tuple[str, ...]) -> None:
    bar = "█" if page.unicode else "#"
    shown = [
        [Span(" " + name(row.title, NAME)), Span(f"{row.seconds:>8}"), Span(f"{row.percent:>5}"), Span(row.calls),
         Span(bar * round(BAR * row.share), "cyan")]
        for row in rows
    ]  # fmt: skip
    page.table((" " + head[0], *head[1:]), shown, flexible=0)

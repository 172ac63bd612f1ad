"""A comparison of several runs as text, Markdown, JSON or HTML."""

import math
from collections.abc import Iterator
from typing import Literal

import msgspec

from traindx.features.comparisons.runs import Comparison, Contest, Difference, SetupFact
from traindx.reports import html_page as page, json, labels, markdown
from traindx.reports.digest import digest
from traindx.reports.forms import write_form
from traindx.reports.labels import name, number, step
from traindx.reports.plots.curves import overlay_charts
from traindx.reports.text_page import Page, Span
from traindx.vocabulary import Document, Health, Run

SCHEMA = "traindx.comparison/1"
SHOWN_CONTESTS = 12
SHOWN_CHARTS = 8
CAVEAT = "There is one run of each: how much another seed would change the result is unknown."

Format = Literal["text", "json", "markdown", "html"]


class Row(msgspec.Struct, frozen=True):
    """One run or group in a contest, in words."""

    name: str
    end: str
    best: str
    difference: str
    verdict: str
    style: str


def render_compare(
    comparison: Comparison,
    document: Document,
    runs: tuple[Run, ...],
    format: Format = "text",
    *,
    width: int = 100,
    color: bool = False,
    unicode: bool = True,
) -> str:
    """The comparison in one of the four formats. `document` is the diagnosis of the same runs in the
    same order; `width`, `color` and `unicode` are for text, as in `text.render`."""
    return write_form(
        format,
        {
            "text": lambda: as_text(comparison, document, Page(width, color=color, unicode=unicode)),
            "json": lambda: as_json(comparison, document),
            "markdown": lambda: as_markdown(comparison, document),
            "html": lambda: as_html(comparison, document, runs),
        },
    )


def healths(comparison: Comparison, document: Document) -> Iterator[tuple[str, Health, int, str]]:
    """(name, health, points, first finding) of each run."""
    for own, d in zip(comparison.runs, document.runs, strict=True):
        seen = digest(d).findings
        words = (
            f"{seen[0].finding.slug} {labels.since_onset(d.run, seen[0].finding.onset_step)}".strip()
            if seen
            else ""
        )
        yield own, d.health, d.run.steps, words or "no fault found"


def rows(contest: Contest, comparison: Comparison) -> list[Row]:
    """Groups of a contest, the best first, then by their end level."""
    apart = {d.other: d for d in contest.differences}
    levels = {level.run: level for level in contest.levels}
    made: list[tuple[float, Row]] = []
    for group in comparison.groups:
        members = [levels[m] for m in group.members if m in levels]
        if not members:
            continue
        end = sum(m.end for m in members) / len(members)
        half = members[0].half if len(members) == 1 else math.nan
        more = f" ± {number(float(f'{half:.2g}'))}" if math.isfinite(half) else ""
        count = f" (mean of {len(members)})" if len(members) > 1 else ""
        top = (min if contest.direction == "lower" else max)(members, key=lambda m: m.best)
        best = f"{number(top.best)} at {step(top.best_step)}" if top.best_step is not None else "–"
        delta, verdict, style = describe_difference(apart.get(group.name), group.name == contest.best)
        key = -math.inf if group.name == contest.best else (end if contest.direction == "lower" else -end)
        made.append(
            (
                key if not math.isnan(key) else math.inf,
                Row(group.name, number(end) + more + count, best, delta, verdict, style),
            )
        )
    return [row for _, row in sorted(made, key=lambda m: m[0])]


def describe_difference(difference: Difference | None, is_best: bool) -> tuple[str, str, str]:
    """(difference with its interval, verdict in words, style)."""
    if is_best:
        return "", "best", "green"
    if difference is None or not math.isfinite(difference.difference):
        return "", "not finite at its end", "red"
    delta, half = signed_number(difference.difference), difference.high - difference.difference
    if difference.verdict == "cannot tell":
        return delta, "too few points to tell", "dim"
    delta += f" ± {number(float(f'{half:.2g}'))}"
    said = {
        "within noise": ("within noise", "dim"),
        "better": ("worse", "yellow"),
        "worse": ("better at shared steps", "dim"),
    }
    return delta, *said[difference.verdict]


def signed_number(value: float) -> str:
    """A difference with its sign and three digits."""
    shown = number(float(f"{value:.3g}"))
    return shown if value < 0 or not math.isfinite(value) else f"+{shown}"


def conclusions(comparison: Comparison) -> list[str]:
    """One sentence for each group that is best on something, clear wins apart from ties, and one where
    the order is another at the last step that runs of different length share."""
    clear: dict[str, list[str]] = {}
    level: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    early: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for contest in comparison.contests:
        if contest.best is None:
            continue
        unsure = tuple(d.other for d in contest.differences if d.verdict != "better")
        if unsure:
            level.setdefault((contest.best, unsure), []).append(contest.signal)
        else:
            clear.setdefault(contest.best, []).append(contest.signal)
        behind = tuple(d.other for d in contest.shared if d.verdict != "better")
        if behind:
            early.setdefault((contest.best, behind), []).append(contest.signal)
    made = [
        f"{name(best)} is best on {join_some(signals)}, by more than the noise."
        for best, signals in clear.items()
    ]
    for (best, unsure), signals in level.items():
        made.append(
            f"On {join_some(signals)} {name(best)} ends best, "
            f"but the difference to {join_some(list(unsure))} is within the noise."
        )
    for (best, behind), signals in early.items():
        made.append(
            f"The runs differ in length: at the last step that {name(best)} shares with {join_some(list(behind))}, "
            f"it is not ahead on {join_some(signals)}."
        )
    return made


def join_some(items: list[str], most: int = 6) -> str:
    """ "a, b and c", at most `most` of them named."""
    shown = [name(i, 48) for i in items[:most]]
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def shared_words(contest: Contest, axis: str) -> list[str]:
    """What the runs look like at the last step they share, where one is longer."""
    made = []
    for d in contest.shared:
        said = {
            "better": "worse",
            "worse": "better",
            "within noise": "within noise",
            "cannot tell": "too few points to tell",
        }
        place = f"at {axis} {step(d.at)}, the last that {name(d.best, 40)} and {name(d.other, 40)} share"
        made.append(f"{place}: {name(d.other, 40)} {signed_number(d.difference)} ({said[d.verdict]})")
    return made


def setup_words(fact: SetupFact, comparison: Comparison) -> str:
    """ "0.1 in a and b; 0.01 in c; not known in d"; a group represents all its members."""
    values = dict(zip(comparison.runs, fact.values, strict=True))
    holders: dict[str, list[str]] = {}
    for group in comparison.groups:
        same = len({repr(values[m]) for m in group.members}) == 1
        for holder, member in [(group.name, group.members[0])] if same else [(m, m) for m in group.members]:
            value = values[member]
            shown = (
                "not known"
                if value is None
                else (str(value).lower() if isinstance(value, bool) else number(value))
            )
            holders.setdefault(shown, []).append(holder)
    return "; ".join(f"{value} in {join_some(members, 4)}" for value, members in holders.items())


def setup_facts(comparison: Comparison) -> tuple[SetupFact, ...]:
    """The facts worth showing: not the seed, where seeds are what makes the groups."""
    seeds = any(len(g.members) > 1 for g in comparison.groups)
    return tuple(f for f in comparison.setup if not (seeds and f.name == "seed"))


def single_runs(comparison: Comparison) -> bool:
    return bool(comparison.contests) and all(len(g.members) == 1 for g in comparison.groups)


def axis_word(document: Document) -> str:
    return labels.axis(document.runs[0].run) if document.runs else "step"


def as_text(comparison: Comparison, document: Document, page: Page) -> str:
    """The comparison for a terminal."""
    page.row(Span(f"{labels.plural(len(comparison.runs), 'run')} compared", "bold"))
    for sentence in conclusions(comparison):
        page.flow(sentence, indent=1)
    if not comparison.contests:
        page.flow("The runs share no signal with a known better direction.", indent=1)
    if single_runs(comparison):
        page.flow(CAVEAT, indent=1, style="dim")
    page.blank()
    known = list(healths(comparison, document))
    cells = [
        [Span(name(n)), Span(labels.HEALTH_WORDS[h], h), Span(f"{p:,}"), Span(f)] for n, h, p, f in known
    ]
    page.table(("run", "health", "points", "first finding"), cells, flexible=0)
    for contest in comparison.contests[:SHOWN_CONTESTS]:
        page.heading(f"{name(contest.signal, 60)} ({contest.direction} is better)")
        body = [
            [
                Span(" " + name(r.name)),
                Span(r.end),
                Span(r.best),
                Span(r.difference),
                Span(r.verdict, r.style),
            ]
            for r in rows(contest, comparison)
        ]
        page.table((" run", "mean at the end", "best level", "difference", ""), body, flexible=0)
        for line in shared_words(contest, axis_word(document)):
            page.flow(line, indent=1, style="dim")
    if len(comparison.contests) > SHOWN_CONTESTS:
        rest = [c.signal for c in comparison.contests[SHOWN_CONTESTS:]]
        page.blank()
        page.flow(f"also compared (in the JSON): {join_some(rest, 12)}", indent=1, style="dim")
    page.heading("What differs in the setups")
    for fact in setup_facts(comparison):
        page.flow(setup_words(fact, comparison), indent=1, first=f"{name(fact.name, 40)}: ")
    if not setup_facts(comparison):
        page.row(" no difference in the logs")
    return page.text()


def as_markdown(comparison: Comparison, document: Document) -> str:
    """The comparison for a pull request."""
    text, code = markdown.text, markdown.code
    lines = [f"## {labels.plural(len(comparison.runs), 'run')} compared", ""]
    lines += [f"- {text(sentence)}" for sentence in conclusions(comparison)]
    lines += [f"- {CAVEAT}"] if single_runs(comparison) else []
    lines += ["", "| run | health | points | first finding |", "|---|---|---:|---|"]
    for own, health, points, finding in healths(comparison, document):
        lines.append(
            f"| {code(own, cell=True)} | {labels.HEALTH_WORDS[health]} | {points:,} | {text(finding)} |"
        )
    for contest in comparison.contests[:SHOWN_CONTESTS]:
        lines += ["", f"### {code(contest.signal)} ({contest.direction} is better)", ""]
        lines += ["| run | mean at the end | best level | difference | |", "|---|---|---|---|---|"]
        for r in rows(contest, comparison):
            lines.append(
                f"| {code(r.name, cell=True)} | {r.end} | {r.best} | {r.difference} | {r.verdict} |"
            )
        lines += [f"\n{text(line).capitalize()}" for line in shared_words(contest, axis_word(document))]
    lines += ["", "### What differs in the setups", ""]
    lines += [f"- {code(f.name)}: {text(setup_words(f, comparison))}" for f in setup_facts(comparison)]
    lines += [] if setup_facts(comparison) else ["No difference in the logs."]
    return "\n".join(lines) + "\n"


def as_json(comparison: Comparison, document: Document) -> str:
    """The comparison as strict JSON, with the health of each run."""
    built = msgspec.to_builtins(comparison, enc_hook=json.plain_number)
    health = [
        {"run": own, "id": d.run.id, "source": d.run.source, "health": d.health, "first_finding": finding}
        for (own, _, _, finding), d in zip(healths(comparison, document), document.runs, strict=True)
    ]
    return json.dumps(
        {"schema": SCHEMA, "traindx_version": document.traindx_version, **built, "runs": health}
    )


def as_html(comparison: Comparison, document: Document, runs: tuple[Run, ...]) -> str:
    """The comparison as a self-contained page with the runs' curves over each other."""
    signals = tuple(c.signal for c in comparison.contests[:SHOWN_CHARTS])
    charts = {"overlay": list(overlay_charts(runs, signals, comparison.runs))}
    contests = [(c, rows(c, comparison), shared_words(c, axis_word(document))) for c in comparison.contests]
    return page.build(
        "compare.html.j2",
        charts,
        version=document.traindx_version,
        conclusions=conclusions(comparison),
        caveat=CAVEAT if single_runs(comparison) else "",
        healths=[(n, h, labels.HEALTH_WORDS[h], p, f) for n, h, p, f in healths(comparison, document)],
        contests=contests,
        setup=[(f.name, setup_words(f, comparison)) for f in setup_facts(comparison)],
    )

"""The report that a person reads in a terminal."""

import numpy as np

from traindx.features.shared import Features
from traindx.reports import labels
from traindx.reports.diagnosis import text_sections as sections
from traindx.reports.diagnosis.brief import GRAVE, Brief, brief, cannot_tell, measures_cost
from traindx.reports.digest import Digest, digest, grouped_findings
from traindx.reports.plots import sketch
from traindx.reports.text_page import Page, Span
from traindx.vocabulary import Document, Finding, Run, RunDiagnosis, Series

PLOT_ROWS = 6
ROWS = 12  # runs of a summary; more that are fine, or too short to judge, are only counted
SCREENS = 2  # runs of several that get a screen in addition to their row
COURSE = 3  # points that show a course


def render(
    document: Document,
    runs: tuple[Run, ...] = (),
    *,
    width: int = 100,
    color: bool = False,
    unicode: bool = True,
    full: bool = False,
) -> str:
    """The diagnosis as text of at most `width` columns (40 to 140): a screen for each run, and with `full` all
    findings after it. `runs` gives the curves to plot; it belongs to `document.runs` one by one, or is
    empty. Nothing in it acts on a terminal but the colour codes, which are there only with `color`;
    `unicode=False` gives plain ASCII."""
    page = Page(width, color=color, unicode=unicode)
    curves: list[Run | None] = list(runs) if len(runs) == len(document.runs) else [None] * len(document.runs)
    several = len(document.runs) > 1
    if not document.runs:
        page.row("No runs were found.")
    if several:
        summary(page, document, full)
    drawn = {id(diagnosis): run for diagnosis, run in zip(document.runs, curves, strict=True)}
    for diagnosis in detailed_runs(document, full):
        run = drawn[id(diagnosis)]
        if several:
            page.blank()
            page.row(Span("─" * page.width, "dim"))
        one_run(page, diagnosis, run, several=several, full=full)
    if document.runs and not full:
        write_rest(page, document)
    return page.text()


def detailed_runs(document: Document, full: bool) -> list[RunDiagnosis]:
    """The runs that get a screen of their own: of several the worst few, and with `full` all."""
    if full or len(document.runs) <= 1:
        return list(document.runs)
    order = sorted(
        document.runs, key=lambda d: (cannot_tell(d), -labels.HEALTH_RANK[d.health], -d.run.steps)
    )
    judged = [d for d in order if not cannot_tell(d)]
    return ([d for d in judged if d.health != "healthy"] or judged or order)[:SCREENS]


def one_run(page: Page, diagnosis: RunDiagnosis, run: Run | None, *, several: bool, full: bool) -> None:
    """The first screen of one run (of several, a healthy one without its picture), and with `full` all the rest."""
    contents = digest(diagnosis)
    first = brief(diagnosis, contents, run)
    verdict(page, diagnosis, first, diagnosis.run.id if several else diagnosis.run.source)
    if run is not None and not measures_cost(diagnosis) and not (several and diagnosis.health == "healthy"):
        plot(page, run, contents)
    write_leading_cause(page, first)
    to_do(page, first)
    if diagnosis.profile is not None:
        from traindx.reports.documents import profile

        profile.text(page, diagnosis.profile, full=full)
    if diagnosis.memory is not None:
        from traindx.reports.documents import memory

        memory.text(page, diagnosis.memory)
    if full:
        sections.write_all_findings(page, diagnosis, contents)


def write_leading_cause(page: Page, first: Brief) -> None:
    """The leading cause and the evidence that decides."""
    if first.cause or first.facts:
        page.heading(first.heading or "What the log shows")
    if first.cause:
        page.flow(first.cause, indent=1)
    for fact in first.facts:
        page.flow(labels.clean(fact, 300), indent=1, first="- ", style="dim" if first.cause else "")


def to_do(page: Page, first: Brief) -> None:
    """One thing to do, at most two more, and what could change the answer."""
    if first.short:
        page.heading("What to add")
        page.flow(first.short, indent=1)
    elif first.first is not None:
        page.heading(first.doing)
        page.flow(labels.sentence(first.first.text, 400), indent=1)
        if first.first.reason:
            page.flow(first.first.reason, indent=3, style="dim")
    for item in () if first.short else first.then:
        condition = f"if {labels.lower_first(labels.name(item.otherwise, 80))}: " if item.otherwise else ""
        page.flow(
            condition + labels.lower_first(labels.sentence(item.text, 400)),
            indent=1,
            first="then  ",
            lead_style="dim",
        )
    if first.settle is not None:
        page.heading("What would settle it")
        page.flow(f"{labels.sentence(first.settle.measure, 120).rstrip('.')} ({first.worth})", indent=1)
        page.flow(labels.clean(first.settle.how, 240), indent=3, style="dim")


def write_rest(page: Page, document: Document) -> None:
    """What the first screens leave out, and how to see it."""
    left = []
    others = len(document.runs) - len(detailed_runs(document, full=False))
    left += (
        [f"the screens of {others} more runs" if others > 1 else "the screen of the other run"]
        if others
        else []
    )
    grouped = [grouped_findings(d.findings) for d in document.runs]
    found = sum(1 + len(s.consequences) for seen, _ in grouped for s in seen)
    left += [labels.plural(found, "finding")] if found else []
    noted = sum(len(notes) for _, notes in grouped)
    left += [labels.plural(noted, "note")] if noted else []
    left += (
        ["the evidence for every cause", "the forecast"] if any(d.forecast for d in document.runs) else []
    )
    left += ["what was not checked"] if any(d.not_evaluated for d in document.runs) else []
    page.blank()
    page.flow(f"More with --full: {', '.join(left) or 'how the log was read'}.", indent=1, style="dim")


def summary(page: Page, document: Document, full: bool) -> None:
    """One row for each run, worst health first. Of many runs, those without a finding are counted."""
    from traindx.features.comparisons.runs import without_common_folder  # only where there are several

    names = without_common_folder([d.run.id for d in document.runs])
    judged = zip(document.runs, names, strict=True)
    order = sorted(judged, key=lambda pair: (cannot_tell(pair[0]), -labels.HEALTH_RANK[pair[0].health]))
    faulty = [i for i, (d, _) in enumerate(order, 1) if any(f.severity != "info" for f in d.findings)]
    rows = []
    for d, short in order[: len(order) if full else max([ROWS, *faulty])]:
        seen, _ = grouped_findings(d.findings)
        main = seen[0].finding if seen else None
        silent = "cannot tell" if cannot_tell(d) else "no fault found"
        shown = f"{main.slug} {labels.since_onset(d.run, main.onset_step)}".strip() if main else silent
        decision = labels.decision_line(d.decision)
        rows.append([Span(labels.HEALTH_WORDS[d.health], d.health), Span(labels.name(short)), Span(f"{d.run.steps:,}"),
                     Span(labels.clean(shown, 90)), Span(decision)])  # fmt: skip
    page.row(Span(labels.plural(len(order), "run"), "bold"))
    page.table(("health", "run", "points", "first finding", "decision"), rows, flexible=1)
    if rest := len(order) - len(rows):
        page.flow(f"and {rest} more without a finding (each with --full)", style="dim")


def verdict(page: Page, diagnosis: RunDiagnosis, first: Brief, subject: str) -> None:
    """Health, subject (the source, or the run's name), extent and decision on one line, then the reason."""
    run, decision = diagnosis.run, diagnosis.decision
    word = Span(f" {first.word} ", first.style)
    extent = page.plain(labels.extent(run))
    action = page.plain(labels.decision_line(decision))
    room = page.width - len(word.text) - 1
    source = page.plain(labels.name(subject, 200))
    together = len(extent) + len(action) + 6
    if room - together >= min(labels.cells(source), 16):
        source = page.plain(labels.short_path(subject, max(room - together, 16)))
        gap = room - together + 2 - labels.cells(source)
        page.row(
            word,
            " ",
            Span(source, "bold"),
            f"  {extent}",
            " " * max(gap, 2),
            "  ",
            Span(action, diagnosis.health),
        )
    else:
        page.row(word, " ", Span(page.plain(labels.short_path(subject, room)), "bold"))
        page.flow(f"{extent}; {action}", indent=1)
    page.flow(first.why, indent=1)


def plot(page: Page, run: Run, contents: Digest) -> None:
    """The curve of the first finding, else the objective; findings are marked by their numbers at their onset."""
    series = choose_curve(run, contents)
    if series is None:
        return
    signal, raw = series
    marks = {s.number: s.finding.onset_step for s in contents.findings if s.finding.onset_step is not None}
    planned = sketch.plan(raw, marks, columns=min(page.width - 16, 100), rows=PLOT_ROWS)
    if planned is None:
        return
    about = [page.plain(labels.name(signal, 40))]
    about += ["log scale"] if planned.log else []
    about += [f"up to {labels.number(planned.beyond[0])}"] if planned.beyond[0] is not None else []
    about += [page.plain("× not finite")] if planned.bad else []
    page.blank()
    lines, below = sketch.draw(planned, unicode=page.unicode)
    page.row(Span("  " + ", ".join(about), "dim"))
    for line in lines:
        page.row("  " + line)
    page.row("  " + below[0])
    page.row(Span("  " + below[1], "dim"))


def choose_curve(run: Run, contents: Digest) -> tuple[str, Series] | None:
    """(name, curve) to draw: of the first finding's evidence, where it shows a course; else the objective. The objective
    is preferred to a line that does not move."""
    curve = Features(run).objective
    named = [
        p.signal
        for s in contents.findings[:1]
        for p in s.finding.evidence
        if is_worth_drawing(p.signal, s.finding)
    ]
    for signal in named:
        course = run.series.get(signal, ())
        if len(course) >= COURSE and (
            curve is None or signal == curve.name or not is_constant(run.series[signal])
        ):
            return signal, run.series[signal]
    return None if curve is None else (curve.name, curve.raw)


def is_worth_drawing(signal: str, finding: Finding) -> bool:
    """Whether to draw a signal of a finding: timings and the like only where the finding is grave."""
    return finding.severity in GRAVE or not signal.startswith(labels.NO_MEASURE)


def is_constant(series: Series) -> bool:
    """Whether a curve has one value throughout."""
    known = series.values[np.isfinite(series.values)]
    return len(known) > 0 and bool((known == known[0]).all())

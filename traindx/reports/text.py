"""The report that a person reads in a terminal."""

from __future__ import annotations

from traindx.features.comparison import without_common_folder
from traindx.features.shared import Features
from traindx.reports import labels, sketch
from traindx.reports.digest import Digest, Seen, digest, term_words
from traindx.reports.labels import clean, estimate, name, number, percent, since, step
from traindx.reports.layout import Page, Span
from traindx.vocabulary.diagnosis import Document, EvidencePoint, Finding, Hypothesis, RunDiagnosis, RunInfo
from traindx.vocabulary.run import Run

PLOT_ROWS = 8
SHOWN_EVIDENCE = 2
SHOWN_TERMS = 3
SHOWN_GROUPS = 5
SHOWN_EVENTS = 4
SHOWN_SIGNALS = 12


def render(
    document: Document,
    runs: tuple[Run, ...] = (),
    *,
    width: int = 100,
    color: bool = False,
    unicode: bool = True,
) -> str:
    """The diagnosis as text of at most `width` columns (40 to 140). `runs` gives the curves to plot;
    it belongs to `document.runs` one by one, or is empty. Nothing in it acts on a terminal but the
    colour codes, which are there only with `color`; `unicode=False` gives plain ASCII."""
    page = Page(width, color=color, unicode=unicode)
    curves: list[Run | None] = list(runs) if len(runs) == len(document.runs) else [None] * len(document.runs)
    several = len(document.runs) > 1
    if not document.runs:
        page.row("No runs were found.")
    if several:
        summary(page, document)
    for diagnosis, run in zip(document.runs, curves, strict=True):
        if several:
            page.blank()
            page.row(Span("─" * page.width, "dim"))
        one_run(page, diagnosis, run, several=several)
    return page.text()


def one_run(page: Page, diagnosis: RunDiagnosis, run: Run | None, *, several: bool) -> None:
    """All sections of one run; of several, a healthy one is shown in short."""
    short = several and diagnosis.health == "healthy"
    told = digest(diagnosis)
    verdict(page, diagnosis, diagnosis.run.id if several else diagnosis.run.source)
    findings(page, diagnosis.run, told)
    if not short and run is not None:
        plot(page, run, told)
    causes(page, diagnosis, told)
    if not short:
        advice(page, told)
    forecast(page, diagnosis.run, told)
    if not short:
        next_measures(page, told)
    notes(page, diagnosis.run, told)
    if not short:
        about_the_log(page, diagnosis, told)


def summary(page: Page, document: Document) -> None:
    """One row for each run, worst health first."""
    names = without_common_folder([d.run.id for d in document.runs])
    order = sorted(zip(document.runs, names, strict=True), key=lambda pair: -labels.HEALTH_RANK[pair[0].health])
    rows = []
    for d, short in order:
        told = digest(d)
        main = told.findings[0].finding if told.findings else None
        seen = f"{main.slug} {since(d.run, main.onset_step)}".strip() if main else "nothing wrong seen"
        decision = f"{d.decision.action} ({percent(d.decision.confidence)})"
        rows.append([Span(labels.HEALTH_WORDS[d.health], d.health), Span(name(short)), Span(f"{d.run.steps:,}"),
                     Span(clean(seen, 90)), Span(decision)])  # fmt: skip
    page.row(Span(labels.plural(len(rows), "run"), "bold"))
    page.table(("health", "run", "points", "first finding", "decision"), rows, flexible=1)


def verdict(page: Page, diagnosis: RunDiagnosis, subject: str) -> None:
    """Health, subject (the source, or the run's name), extent and decision on one line, then the reason."""
    run, decision = diagnosis.run, diagnosis.decision
    word = Span(f" {labels.HEALTH_WORDS[diagnosis.health]} ", diagnosis.health)
    extent = page.plain(labels.extent(run))
    action = page.plain(f"{decision.action} ({percent(decision.confidence)} sure)")
    room = page.width - len(word.text) - 1
    source = page.plain(name(subject, 200))
    together = len(extent) + len(action) + 6
    if room - together >= min(labels.cells(source), 16):
        source = page.plain(name(subject, max(room - together, 16)))
        gap = room - together + 2 - labels.cells(source)
        page.row(
            word, " ", Span(source, "bold"), f"  {extent}", " " * max(gap, 2), "  ", Span(action, diagnosis.health)
        )
    else:
        page.row(word, " ", Span(page.plain(name(subject, room)), "bold"))
        page.flow(f"{extent}; {action}", indent=1)
    page.flow(labels.sentence(decision.reason), indent=1)


def findings(page: Page, run: RunInfo, told: Digest) -> None:
    """Numbered findings, worst first, what follows from each indented under it."""
    if not told.findings:
        page.blank()
        page.flow(told.unseen, indent=1)
        return
    page.heading("What is wrong")
    for seen in told.findings:
        one_finding(page, run, seen)


def one_finding(page: Page, run: RunInfo, seen: Seen) -> None:
    finding = seen.finding
    title_line(page, run, finding, f" {seen.number} ")
    page.flow(clean(finding.message), indent=5)
    for point in finding.evidence[:SHOWN_EVIDENCE] if seen.number == 1 else ():
        page.flow(evidence_words(run, point), indent=5, style="dim")
    for consequence in seen.consequences:
        title_line(page, run, consequence, "   ↳ ")
        page.flow(clean(consequence.message, 300), indent=7)


def title_line(page: Page, run: RunInfo, finding: Finding, lead: str) -> None:
    """Severity, slug, onset and place, with the code at the right edge."""
    where = f" in {name(finding.where, 40)}" if finding.where else ""
    onset = f" {since(run, finding.onset_step)}" if finding.onset_step is not None else ""
    lead = page.plain(lead)
    slug, code = page.plain(name(finding.slug, 60)), page.plain(name(finding.code, 12))
    middle = page.plain(f"{onset}{where}")
    used = labels.cells(lead + finding.severity + slug + middle) + 2
    gap = page.width - used - len(code)
    tail: list[Span | str] = [" " * gap, Span(code, "dim")] if gap >= 1 else []
    page.row(lead, Span(finding.severity, finding.severity), "  ", Span(slug, "bold"), middle, *tail)


def evidence_words(run: RunInfo, point: EvidencePoint) -> str:
    """ "train/loss at step 1,209: 81,000 (expected 0.42)"."""
    at = f" at {labels.axis(run)} {step(point.step)}" if point.step is not None else ""
    unit = f" {name(point.unit, 24)}" if point.unit else ""
    against = f" (expected {number(point.expected)})" if point.expected is not None else ""
    return f"{name(point.signal, 60)}{at}: {number(point.value)}{unit}{against}"


def plot(page: Page, run: Run, told: Digest) -> None:
    """The objective's curve, findings marked by their numbers at their onset."""
    curve = Features(run).objective
    if curve is None:
        return
    marks = {s.number: s.finding.onset_step for s in told.findings if s.finding.onset_step is not None}
    planned = sketch.plan(curve.raw, marks, columns=min(page.width - 16, 100), rows=PLOT_ROWS)
    if planned is None:
        return
    about = [page.plain(name(curve.name, 40))]
    about += ["log scale"] if planned.log else []
    about += [f"up to {number(planned.beyond[0])}"] if planned.beyond[0] is not None else []
    about += [page.plain("× not finite")] if planned.bad else []
    page.blank()
    lines, below = sketch.draw(planned, unicode=page.unicode)
    page.row(Span("  " + ", ".join(about), "dim"))
    for line in lines:
        page.row("  " + line)
    page.row("  " + below[0])
    page.row(Span("  " + below[1], "dim"))


def causes(page: Page, diagnosis: RunDiagnosis, told: Digest) -> None:
    """The likely causes with their probability and what speaks for and against each."""
    if not told.hypotheses:
        return
    fired = {f.slug for f in diagnosis.findings}
    page.heading("Why" if told.findings else "How it looks")
    for hypothesis in told.hypotheses:
        one_cause(page, hypothesis, fired)
    rest = 1.0 - sum(h.probability for h in told.hypotheses)
    if rest >= 0.01 and len(diagnosis.hypotheses) > len(told.hypotheses):
        page.row(Span(f" {percent(rest):>5}  other causes", "dim"))


def one_cause(page: Page, hypothesis: Hypothesis, fired: set[str]) -> None:
    chance = page.plain(f" {percent(hypothesis.probability):>5}  ")
    title = page.plain(name(hypothesis.title, 60))
    pattern = f": {name(hypothesis.pattern, 40)}" if hypothesis.pattern else ""
    word = labels.likelihood(hypothesis.probability)
    page.row(Span(chance, "bold"), Span(title + page.plain(pattern), "bold"), f" ({word})")
    for lead, terms in (("for      ", hypothesis.for_), ("against  ", hypothesis.against)):
        strongest = sorted(terms, key=lambda t: -abs(t.log_odds))[:SHOWN_TERMS]
        if strongest:
            words = ", ".join(f"{name(term_words(t, fired), 60)} {t.log_odds:+.1f}" for t in strongest)
            more = f", and {len(terms) - SHOWN_TERMS} more" if len(terms) > SHOWN_TERMS else ""
            page.flow(words + more, indent=8, first=lead, style="dim", lead_style="dim")


def advice(page: Page, told: Digest) -> None:
    """What to do, with the concrete change first."""
    if not told.advice:
        return
    page.heading("What to do" if told.findings else "Worth doing")
    otherwise = ""
    for item in told.advice:
        if item.otherwise != otherwise:
            otherwise = item.otherwise
            page.flow(f"in case of {name(otherwise, 60)}:", indent=1)
        page.flow(labels.sentence(item.text, 400), indent=1, first="- ")
        if item.why:
            page.flow(clean(item.why, 300), indent=3, style="dim")


def forecast(page: Page, run: RunInfo, told: Digest) -> None:
    """One line for each forecast signal and step, with its intervals."""
    if not told.forecast:
        return
    page.heading("Forecast, if it goes on like this")
    for group in told.forecast:
        ranges = [f"{percent(p.level)} between {estimate(p.low)} and {estimate(p.high)}" for p in group]
        at = f"{name(group[0].signal, 60)} at {labels.axis(run)} {step(group[0].at_step)}"
        page.flow(f"{at}: {estimate(group[0].median)} ({'; '.join(ranges)})", indent=1)


def next_measures(page: Page, told: Digest) -> None:
    """What would settle most of what is still open, for the time it takes."""
    if not told.next:
        return
    page.heading("What would settle more")
    for item in told.next[:3]:
        page.flow(f"{clean(item.measure, 120)}: {clean(item.why, 240)}", indent=1, first="- ")
        page.flow(f"{clean(item.how, 240)} ({labels.settling(item)})", indent=3, style="dim")


def notes(page: Page, run: RunInfo, told: Digest) -> None:
    """What is worth knowing and no fault, one line each."""
    if told.notes:
        page.heading("Notes")
    for note in told.notes:
        onset = since(run, note.onset_step)
        place = f" ({onset})" if onset else ""
        page.flow(f"{name(note.slug, 60)}{place}: {clean(note.message, 240)}", indent=1, first="- ", style="dim")


def about_the_log(page: Page, diagnosis: RunDiagnosis, told: Digest) -> None:
    """What the reader noticed, what was mapped from what, and what could not be judged."""
    run = diagnosis.run
    page.heading("About the log")
    for event in told.log_events[:SHOWN_EVENTS]:
        place = f" ({name(event['place'], 40)})" if event.get("place") else ""
        page.flow(f"{name(event.get('kind', ''), 24)}: {clean(event.get('message', ''), 240)}{place}", indent=1)
    if len(told.log_events) > SHOWN_EVENTS:
        page.row(f" and {len(told.log_events) - SHOWN_EVENTS} more events")
    page.flow(signal_words(run), indent=1, first="read: ", style="dim", lead_style="dim")
    total = sum(u.count for u in told.unchecked)
    if not total:
        return
    reasons = [clean(u.sentence, 200) for u in told.unchecked]
    shown = reasons[:SHOWN_GROUPS]
    if len(reasons) > SHOWN_GROUPS:
        shown.append(f"{sum(u.count for u in told.unchecked[SHOWN_GROUPS:])} for other reasons")
    page.flow(
        f"{labels.plural(total, 'rule')}: {'; '.join(shown)}",
        indent=1,
        first="not checked: ",
        style="dim",
        lead_style="dim",
    )


def signal_words(run: RunInfo) -> str:
    """ "Hugging Face Trainer; train/loss from loss, lr from learning_rate, epoch". Further ranks are only counted."""
    parts = []
    ranks = {signal.name.split("/")[1] for signal in run.signals if signal.name.startswith("rank/")}
    signals = [signal for signal in run.signals if not signal.name.startswith("rank/")]
    for signal in signals[:SHOWN_SIGNALS]:
        own = signal.original in ("", signal.name)
        parts.append(name(signal.name, 48) if own else f"{name(signal.name, 48)} from {name(signal.original, 48)}")
    if len(signals) > SHOWN_SIGNALS:
        parts.append(f"and {len(signals) - SHOWN_SIGNALS} more")
    if ranks:
        parts.append(f"the same of {len(ranks)} more ranks" if len(ranks) > 1 else "the same of another rank")
    return f"{labels.framework(run)}; " + (", ".join(parts) or "no signals")

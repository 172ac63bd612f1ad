"""The sections of the terminal report behind its first screen (`--full`)."""

from traindx.reports.diagnosis.evidence_words import ABOUT, seen_slugs, term_words
from traindx.reports.digest import Digest, Seen
from traindx.reports.labels import (
    axis,
    cells,
    clean,
    estimate,
    framework,
    likelihood,
    lower_first,
    name,
    number,
    percent,
    plural,
    price_and_worth,
    probability_range,
    sentence,
    since_onset,
    step,
)
from traindx.reports.text_page import Page, Span
from traindx.vocabulary import EvidencePoint, Finding, Hypothesis, RunDiagnosis, RunInfo

SHOWN_EVIDENCE = 2
SHOWN_TERMS = 3
SHOWN_GROUPS = 5
SHOWN_EVENTS = 4
SHOWN_SIGNALS = 12


def write_all_findings(page: Page, diagnosis: RunDiagnosis, contents: Digest) -> None:
    """All findings of one run, and what could not be judged."""
    findings(page, diagnosis.run, contents)
    causes(page, diagnosis, contents)
    advice(page, contents)
    forecast(page, diagnosis.run, contents)
    next_measures(page, contents)
    notes(page, diagnosis.run, contents)
    about_the_log(page, diagnosis, contents)


def findings(page: Page, run: RunInfo, contents: Digest) -> None:
    """Numbered findings, worst first, what follows from each indented under it."""
    if not contents.findings:
        return
    page.heading("All findings")
    for seen in contents.findings:
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
    onset = f" {since_onset(run, finding.onset_step)}" if finding.onset_step is not None else ""
    lead = page.plain(lead)
    slug, code = page.plain(name(finding.slug, 60)), page.plain(name(finding.code, 12))
    middle = page.plain(f"{onset}{where}")
    used = cells(lead + finding.severity + slug + middle) + 2
    gap = page.width - used - len(code)
    tail: list[Span | str] = [" " * gap, Span(code, "dim")] if gap >= 1 else []
    page.row(lead, Span(finding.severity, finding.severity), "  ", Span(slug, "bold"), middle, *tail)


def evidence_words(run: RunInfo, point: EvidencePoint) -> str:
    """ "train/loss at step 1,209: 81,000 (expected 0.42)"."""
    at = f" at {axis(run)} {step(point.step)}" if point.step is not None else ""
    unit = f" {name(point.unit, 24)}" if point.unit else ""
    against = f" (expected {number(point.expected)})" if point.expected is not None else ""
    return f"{name(point.signal, 60)}{at}: {number(point.value)}{unit}{against}"


def causes(page: Page, diagnosis: RunDiagnosis, contents: Digest) -> None:
    """The candidate causes with their probability and the evidence for and against each."""
    if not contents.hypotheses:
        return
    fired = seen_slugs(diagnosis)
    page.heading("All candidate causes")
    page.flow(ABOUT, indent=1, style="dim")
    for hypothesis in contents.hypotheses:
        one_cause(page, hypothesis, fired)
    rest = 1.0 - sum(h.probability for h in contents.hypotheses)
    if rest >= 0.01 and len(diagnosis.hypotheses) > len(contents.hypotheses):
        page.row(Span(f" {percent(rest):>5}  other causes", "dim"))


def one_cause(page: Page, hypothesis: Hypothesis, fired: frozenset[str]) -> None:
    chance = page.plain(f" {percent(hypothesis.probability):>5}  ")
    title = page.plain(name(hypothesis.title, 60))
    pattern = f": {name(hypothesis.pattern, 40)}" if hypothesis.pattern else ""
    word = likelihood(hypothesis.probability)
    if hypothesis.interval is not None:
        word += f"; {probability_range(hypothesis.interval)}"
    page.row(Span(chance, "bold"), Span(title + page.plain(pattern), "bold"), f" ({word})")
    for lead, terms in (("for      ", hypothesis.for_), ("against  ", hypothesis.against)):
        strongest = sorted(terms, key=lambda t: -abs(t.log_odds))[:SHOWN_TERMS]
        if strongest:
            words = "; ".join(f"{name(term_words(t, fired), 60)} {t.log_odds:+.1f}" for t in strongest)
            more = f"; and {len(terms) - SHOWN_TERMS} more" if len(terms) > SHOWN_TERMS else ""
            page.flow(words + more, indent=8, first=lead, style="dim", lead_style="dim")


def advice(page: Page, contents: Digest) -> None:
    """What to do, with the concrete change first."""
    if not contents.advice:
        return
    page.heading("All advice")
    otherwise = ""
    for item in contents.advice:
        if item.otherwise != otherwise:
            otherwise = item.otherwise
            page.flow(f"if {lower_first(name(otherwise, 60))}:", indent=1)
        page.flow(sentence(item.text, 400), indent=1, first="- ")
        if item.why:
            page.flow(item.reason, indent=3, style="dim")


def forecast(page: Page, run: RunInfo, contents: Digest) -> None:
    """One line for each forecast signal and step, with its intervals."""
    if not contents.forecast:
        return
    page.heading("Forecast, if nothing changes")
    for group in contents.forecast:
        ranges = [f"{percent(p.level)} between {estimate(p.low)} and {estimate(p.high)}" for p in group]
        at = f"{name(group[0].signal, 60)} at {axis(run)} {step(group[0].at_step)}"
        page.flow(f"{at}: {estimate(group[0].median)} ({'; '.join(ranges)})", indent=1)


def next_measures(page: Page, contents: Digest) -> None:
    """The measurements that would reduce the uncertainty most for the time they take."""
    if not contents.next:
        return
    page.heading("What would narrow it down further")
    for item in contents.next[:3]:
        page.flow(f"{clean(item.measure, 120)}: {clean(item.why, 240)}", indent=1, first="- ")
        page.flow(
            f"{clean(item.how, 240)} ({price_and_worth(item, contents.open_bits)})", indent=3, style="dim"
        )


def notes(page: Page, run: RunInfo, contents: Digest) -> None:
    """Findings that are no fault, one line each."""
    if contents.notes:
        page.heading("Notes")
    for note in contents.notes:
        onset = since_onset(run, note.onset_step)
        place = f" ({onset})" if onset else ""
        page.flow(
            f"{name(note.slug, 60)}{place}: {clean(note.message, 240)}", indent=1, first="- ", style="dim"
        )


def about_the_log(page: Page, diagnosis: RunDiagnosis, contents: Digest) -> None:
    """The reader's remarks, which signal was read from which name, and what could not be judged."""
    run = diagnosis.run
    page.heading("About the log")
    for event in contents.log_events[:SHOWN_EVENTS]:
        place = f" ({name(event['place'], 40)})" if event.get("place") else ""
        page.flow(
            f"{name(event.get('kind', ''), 24)}: {clean(event.get('message', ''), 240)}{place}", indent=1
        )
    if len(contents.log_events) > SHOWN_EVENTS:
        page.row(f" and {len(contents.log_events) - SHOWN_EVENTS} more events")
    page.flow(signal_words(run), indent=1, first="read: ", style="dim", lead_style="dim")
    unchecked = contents.unchecked
    total = sum(u.count for u in unchecked)
    if not total:
        return
    reasons = [clean(u.sentence, 200) for u in unchecked]
    shown = reasons[:SHOWN_GROUPS]
    if len(reasons) > SHOWN_GROUPS:
        shown.append(f"{sum(u.count for u in unchecked[SHOWN_GROUPS:])} for other reasons")
    page.flow(
        f"{plural(total, 'rule')}: {'; '.join(shown)}",
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
        parts.append(
            name(signal.name, 48) if own else f"{name(signal.name, 48)} from {name(signal.original, 48)}"
        )
    if len(signals) > SHOWN_SIGNALS:
        parts.append(f"and {len(signals) - SHOWN_SIGNALS} more")
    if ranks:
        parts.append(
            f"the same signals of {len(ranks)} more ranks"
            if len(ranks) > 1
            else "the same signals of one more rank"
        )
    return f"{framework(run)}; " + (", ".join(parts) or "no signals")

"""The report as Markdown, short enough for a pull request or an issue."""

from traindx.features.comparisons.runs import without_common_folder
from traindx.reports import labels
from traindx.reports.diagnosis.brief import Brief, brief, cannot_tell
from traindx.reports.diagnosis.evidence_words import ABOUT, seen_slugs, term_words
from traindx.reports.digest import Digest, digest
from traindx.reports.documents import memory, profile
from traindx.reports.markdown import code, sentence, text
from traindx.vocabulary import Document, EvidenceTerm, Finding, Run, RunDiagnosis, RunInfo

SHOWN_TERMS = 3


def render(document: Document, runs: tuple[Run, ...] = ()) -> str:
    """The diagnosis as GitHub-flavoured Markdown. Text from logs can form no markup, link, mention
    or HTML in it. `runs` belongs to `document.runs` one by one and gives the numbers of the curves, or is empty."""
    parts = []
    if not document.runs:
        parts.append("No runs were found.")
    if len(document.runs) > 1:
        parts.append(summary(document))
    curves: list[Run | None] = list(runs) if len(runs) == len(document.runs) else [None] * len(document.runs)
    parts += [one_run(d, run) for d, run in zip(document.runs, curves, strict=True)]
    parts.append(f"<sub>traindx {text(document.traindx_version)}</sub>")
    return "\n\n".join(parts) + "\n"


def one_run(diagnosis: RunDiagnosis, curves: Run | None = None) -> str:
    """The first screen of one run, with the rest in a fold."""
    run, decision = diagnosis.run, diagnosis.decision
    contents = digest(diagnosis)
    first = brief(diagnosis, contents, curves)
    behind = [
        findings(run, contents),
        causes(diagnosis, contents),
        advice(contents),
        outlook(diagnosis, contents),
        notes(run, contents),
        unjudged_text(diagnosis, contents),
    ]
    parts = [
        f"## {first.word}: {code(run.id)}",
        f"{code(run.source, 160)}, {text(labels.framework(run))}, {text(labels.extent(run))}",
        f"**{labels.decision_line(decision)}**: {text(first.why)}",
        leading_cause_text(first),
        to_do(first),
        profile_section(diagnosis),
        memory_section(diagnosis),
        "<details><summary>Details</summary>",
        *behind,
        "</details>",
    ]
    return "\n\n".join(p for p in parts if p)


def leading_cause_text(first: Brief) -> str:
    """The leading cause and the evidence that decides."""
    lines = (
        [f"**{first.heading or 'What the log shows'}**: {text(first.cause)}".rstrip()] if first.cause else []
    )
    return "\n".join(
        [*lines, *([""] if lines and first.facts else []), *(f"- {text(fact)}" for fact in first.facts)]
    )


def to_do(first: Brief) -> str:
    """One thing to do, what comes after it, and what could change the answer."""
    lines = []
    if first.short:
        lines.append(f"**What to add**: {text(first.short)}")
    elif first.first is not None:
        lines += [
            f"**{first.doing}**: {sentence(first.first.text, 400)} {text(first.first.reason)}".rstrip(),
            "",
        ]
        for item in first.then:
            condition = f", if {text(labels.lower_first(item.otherwise), 80)}:" if item.otherwise else ""
            lines.append(f"- then{condition} {text(labels.lower_first(labels.sentence(item.text, 400)))}")
    if first.settle is not None:
        lines += ["", f"**What would settle it** ({first.worth}): {sentence(first.settle.measure, 120)} "
                  f"{code(first.settle.how, 240)}"]  # fmt: skip
    return "\n".join(lines).strip()


def summary(document: Document) -> str:
    """One row for each run, worst health first."""
    lines = ["| health | run | points | first finding | decision |", "|---|---|---:|---|---|"]
    names = without_common_folder([d.run.id for d in document.runs])
    for d, short in sorted(
        zip(document.runs, names, strict=True), key=lambda pair: -labels.HEALTH_RANK[pair[0].health]
    ):
        seen = digest(d).findings
        first = (
            f"{code(seen[0].finding.slug, cell=True)} {text(labels.since_onset(d.run, seen[0].finding.onset_step))}"
            if seen
            else "cannot tell"
            if cannot_tell(d)
            else "no fault found"
        )
        word = labels.HEALTH_WORDS[d.health]
        lines.append(
            f"| {word} | {code(short, cell=True)} | {d.run.steps:,} | {first} | {d.decision.action} |"
        )
    return "\n".join(lines)


def profile_section(diagnosis: RunDiagnosis) -> str:
    """Where the time of a traced step goes."""
    found = diagnosis.profile
    if found is None:
        return ""
    lines = [f"### {profile.HEADING}", "", f"{text(profile.step_sentence(found))}"]
    for title, rows in (("part", profile.parts(found)), ("operator", profile.operators(found))):
        if rows:
            lines += ["", f"| {title} | time | share | calls |", "|---|---:|---:|---:|"]
            lines += [
                f"| {code(r.title, cell=True)} | {r.seconds} | {r.percent} | {r.calls} |" for r in rows
            ]
    return "\n".join([*lines, "", *(f"- {text(gap)}" for gap in found.gaps)]).strip()


def memory_section(diagnosis: RunDiagnosis) -> str:
    """The memory that a step needs, and what would fit."""
    found = diagnosis.memory
    if found is None:
        return ""
    lines = [f"### {memory.HEADING}", "", text(memory.peak_sentence(found))]
    for title, rows in (("kind", memory.needs(found)), ("instead", memory.options(found))):
        if rows:
            lines += ["", f"| {title} | memory | |", "|---|---:|---|"]
            lines += [f"| {text(r.title)} | {r.size} | {text(r.note)} |" for r in rows]
    return "\n".join([*lines, "", text(memory.line(found))]).strip()


def findings(run: RunInfo, contents: Digest) -> str:
    if not contents.findings:
        return contents.unseen
    lines = ["### Findings", ""]
    for seen in contents.findings:
        lines.append(f"{seen.number}. {finding_words(run, seen.finding)}")
        lines += [f"   - followed by {finding_words(run, f)}" for f in seen.consequences]
    return "\n".join(lines)


def finding_words(run: RunInfo, finding: Finding) -> str:
    """ "**high** `loss-diverges` since step 1,200: The loss climbs ... (LOS002)"."""
    onset = labels.since_onset(run, finding.onset_step)
    place = f" {text(onset)}" if onset else ""
    where = f" in {code(finding.where)}" if finding.where else ""
    return f"**{finding.severity}** {code(finding.slug)}{place}{where}: {text(finding.message)} ({text(finding.code)})"


def causes(diagnosis: RunDiagnosis, contents: Digest) -> str:
    """The likely causes as a table."""
    if not contents.hypotheses:
        return ""
    fired = seen_slugs(diagnosis)
    lines = ["### All candidate causes", "", ABOUT, ""]
    lines += ["| probability | cause | for | against |", "|---:|---|---|---|"]
    for h in contents.hypotheses:
        pattern = f" ({text(h.pattern, 60)})" if h.pattern else ""
        chance = (
            labels.percent(h.probability)
            if h.interval is None
            else f"{labels.percent(h.probability)} ({labels.probability_range(h.interval)})"
        )
        chance = chance.replace("<", "&lt;").replace(">", "&gt;")
        words = f"{chance} | {text(h.title, 80)}{pattern}"
        lines.append(f"| {words} | {terms(h.for_, fired)} | {terms(h.against, fired)} |")
    return "\n".join(lines)


def terms(given: tuple[EvidenceTerm, ...], fired: frozenset[str]) -> str:
    strongest = sorted(given, key=lambda t: -abs(t.log_odds))[:SHOWN_TERMS]
    return "; ".join(f"{text(term_words(t, fired), 80)} {t.log_odds:+.1f}" for t in strongest) or "–"


def advice(contents: Digest) -> str:
    if not contents.advice:
        return ""
    lines = ["### All advice", ""]
    for item in contents.advice:
        otherwise = f" (if {text(labels.lower_first(item.otherwise), 80)})" if item.otherwise else ""
        lines.append(f"- **{sentence(item.text, 400)}**{otherwise} {text(item.reason)}".rstrip())
    return "\n".join(lines)


def outlook(diagnosis: RunDiagnosis, contents: Digest) -> str:
    """Forecast and next measurements."""
    lines = []
    axis = labels.axis(diagnosis.run)
    for group in contents.forecast:
        ranges = "; ".join(
            f"{labels.percent(p.level)} between {labels.estimate(p.low)} and {labels.estimate(p.high)}"
            for p in group
        )
        place = f"{code(group[0].signal)} at {text(axis)} {labels.step(group[0].at_step)}"
        lines.append(f"- {place}: {labels.estimate(group[0].median)} ({ranges})")
    if lines:
        lines = ["### Forecast, if nothing changes", "", *lines]
    if contents.next:
        lines += (
            ["", "### What would narrow it down further", ""]
            if lines
            else ["### What would narrow it down further", ""]
        )
        for item in contents.next[:3]:
            worth = labels.price_and_worth(item, contents.open_bits)
            lines.append(
                f"- **{text(item.measure, 120)}** ({worth}): {text(item.why, 240)}. {code(item.how, 240)}"
            )
    return "\n".join(lines)


def notes(run: RunInfo, contents: Digest) -> str:
    if not contents.notes:
        return ""
    lines = [
        f"- {code(n.slug)} {text(labels.since_onset(run, n.onset_step))}".rstrip()
        + f": {text(n.message, 240)}"
        for n in contents.notes
    ]
    return "\n".join(["### Notes", "", *lines])


def unjudged_text(diagnosis: RunDiagnosis, contents: Digest) -> str:
    """What the reader noticed and what could not be judged, folded away."""
    lines = [
        f"- {text(e.get('kind', ''), 24)}: {text(e.get('message', ''), 240)}"
        for e in contents.log_events[:10]
    ]
    lines += [f"- not checked: {text(u.sentence, 200)}" for u in contents.unchecked]
    if not lines:
        return ""
    count = sum(u.count for u in contents.unchecked)
    head = f"<details><summary>About the log; {labels.plural(count, 'rule')} not checked</summary>"
    return "\n".join([head, "", *lines, "", "</details>"])

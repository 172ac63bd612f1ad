"""The report as Markdown, short enough for a pull request or an issue."""

from __future__ import annotations

import re

from traindx.features.comparisons.runs import without_common_folder
from traindx.reports import labels, memory, profile
from traindx.reports.brief import Brief, brief, cannot_tell
from traindx.reports.digest import Digest, digest, term_words
from traindx.reports.labels import between, clean, estimate, percent, since, step
from traindx.vocabulary.diagnosis import Document, EvidenceTerm, Finding, RunDiagnosis, RunInfo
from traindx.vocabulary.run import Run

SHOWN_TERMS = 3
SPECIAL = re.compile(r"([\\`*_\[\]#|~$])")
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
JOINER = "&#8288;"  # word joiner: keeps "@name" and "#12" from becoming a mention or a reference


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


def text(value: object, limit: int = labels.TEXT_LIMIT) -> str:
    """Foreign text as plain words: no character can begin markup within a line. It must not stand at
    the beginning of one, where more characters mean something."""
    escaped = SPECIAL.sub(r"\\\1", clean(value, limit).translate(ENTITIES))
    escaped = escaped.replace("@", "@" + JOINER).replace("\\#", "\\#" + JOINER)
    return re.sub(r"(?i)\b(www|http|https|ftp)\b", lambda m: m[0][0] + JOINER + m[0][1:], escaped)


def code(value: object, limit: int = labels.NAME_LIMIT, *, cell: bool = False) -> str:
    """Foreign text as a code span, fenced longer than any backticks in it. In the cell of a table a
    pipe would end the cell even there, and is escaped."""
    inside = clean(value, limit)
    inside = inside.replace("|", "\\|") if cell else inside
    longest = max((len(run) for run in re.findall("`+", inside)), default=0)
    fence = "`" * (longest + 1)
    space = " " if inside.startswith("`") or inside.endswith("`") or not inside.strip() else ""
    return f"{fence}{space}{inside}{space}{fence}"


def sentence(value: object, limit: int = labels.TEXT_LIMIT) -> str:
    """Foreign text as a plain sentence."""
    return text(labels.sentence(value, limit))


def one_run(diagnosis: RunDiagnosis, curves: Run | None = None) -> str:
    """What is read first of one run, and all the rest folded away."""
    run, decision = diagnosis.run, diagnosis.decision
    told = digest(diagnosis)
    first = brief(diagnosis, told, curves)
    behind = [
        findings(run, told), causes(diagnosis, told), advice(told), outlook(diagnosis, told), notes(run, told),
        unjudged(diagnosis, told),
    ]  # fmt: skip
    parts = [
        f"## {first.word}: {code(run.id)}",
        f"{code(run.source, 160)}, {text(labels.framework(run))}, {text(labels.extent(run))}",
        f"**{decision.action}** ({percent(decision.confidence)} sure): {text(first.why)}",
        leading(first),
        to_do(first),
        profiled(diagnosis),
        room(diagnosis),
        "<details><summary>Everything that was seen</summary>",
        *behind,
        "</details>",
    ]
    return "\n\n".join(p for p in parts if p)


def leading(first: Brief) -> str:
    """The cause and the facts that decide."""
    lines = (
        [f"**{first.heading or 'What the log shows'}**: {text(first.cause)}".rstrip()] if first.cause else []
    )
    return "\n".join(
        [*lines, *([""] if lines and first.facts else []), *(f"- {text(fact)}" for fact in first.facts)]
    )


def to_do(first: Brief) -> str:
    """One thing to do, what after it, and what would have changed the answer."""
    lines = []
    if first.short:
        lines.append(f"**What to add**: {text(first.short)}")
    elif first.first is not None:
        lines += [
            f"**{first.doing}**: {sentence(first.first.text, 400)} {text(first.first.reason)}".rstrip(),
            "",
        ]
        for item in first.then:
            condition = f", if {text(labels.lowered(item.otherwise), 80)}:" if item.otherwise else ""
            lines.append(f"- then{condition} {text(labels.lowered(labels.sentence(item.text, 400)))}")
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
            f"{code(seen[0].finding.slug, cell=True)} {text(since(d.run, seen[0].finding.onset_step))}"
            if seen
            else "cannot tell"
            if cannot_tell(d)
            else "nothing wrong seen"
        )
        word = labels.HEALTH_WORDS[d.health]
        lines.append(
            f"| {word} | {code(short, cell=True)} | {d.run.steps:,} | {first} | {d.decision.action} |"
        )
    return "\n".join(lines)


def profiled(diagnosis: RunDiagnosis) -> str:
    """Where the time of a traced step goes."""
    found = diagnosis.profile
    if found is None:
        return ""
    lines = [f"### {profile.HEADING}", "", f"{text(profile.lead(found))}"]
    for title, rows in (("part", profile.parts(found)), ("operator", profile.operators(found))):
        if rows:
            lines += ["", f"| {title} | time | share | calls |", "|---|---:|---:|---:|"]
            lines += [
                f"| {code(r.title, cell=True)} | {r.seconds} | {r.percent} | {r.calls} |" for r in rows
            ]
    return "\n".join([*lines, "", *(f"- {text(gap)}" for gap in found.gaps)]).strip()


def room(diagnosis: RunDiagnosis) -> str:
    """What a step needs of memory, and what would fit."""
    found = diagnosis.memory
    if found is None:
        return ""
    lines = [f"### {memory.HEADING}", "", text(memory.lead(found))]
    for title, rows in (("kind", memory.needs(found)), ("instead", memory.options(found))):
        if rows:
            lines += ["", f"| {title} | memory | |", "|---|---:|---|"]
            lines += [f"| {text(r.title)} | {r.size} | {text(r.note)} |" for r in rows]
    return "\n".join([*lines, "", text(memory.line(found))]).strip()


def findings(run: RunInfo, told: Digest) -> str:
    if not told.findings:
        return told.unseen
    lines = ["### Findings", ""]
    for seen in told.findings:
        lines.append(f"{seen.number}. {finding_words(run, seen.finding)}")
        lines += [f"   - which is followed by {finding_words(run, f)}" for f in seen.consequences]
    return "\n".join(lines)


def finding_words(run: RunInfo, finding: Finding) -> str:
    """ "**high** `loss-diverges` since step 1,200: The loss climbs ... (LOS002)"."""
    onset = since(run, finding.onset_step)
    place = f" {text(onset)}" if onset else ""
    where = f" in {code(finding.where)}" if finding.where else ""
    return f"**{finding.severity}** {code(finding.slug)}{place}{where}: {text(finding.message)} ({text(finding.code)})"


def causes(diagnosis: RunDiagnosis, told: Digest) -> str:
    """The likely causes as a table."""
    if not told.hypotheses:
        return ""
    fired = {f.slug for f in diagnosis.findings}
    lines = ["### All causes worth naming", ""]
    lines += ["| probability | cause | for | against |", "|---:|---|---|---|"]
    for h in told.hypotheses:
        pattern = f" ({text(h.pattern, 60)})" if h.pattern else ""
        chance = (
            percent(h.probability)
            if h.interval is None
            else f"{percent(h.probability)} ({between(h.interval)})"
        )
        chance = chance.replace("<", "&lt;").replace(">", "&gt;")
        words = f"{chance} | {text(h.title, 80)}{pattern}"
        lines.append(f"| {words} | {terms(h.for_, fired)} | {terms(h.against, fired)} |")
    return "\n".join(lines)


def terms(given: tuple[EvidenceTerm, ...], fired: set[str]) -> str:
    strongest = sorted(given, key=lambda t: -abs(t.log_odds))[:SHOWN_TERMS]
    return ", ".join(f"{text(term_words(t, fired), 80)} {t.log_odds:+.1f}" for t in strongest) or "–"


def advice(told: Digest) -> str:
    if not told.advice:
        return ""
    lines = ["### All that could be done", ""]
    for item in told.advice:
        otherwise = f" (if {text(labels.lowered(item.otherwise), 80)})" if item.otherwise else ""
        lines.append(f"- **{sentence(item.text, 400)}**{otherwise} {text(item.reason)}".rstrip())
    return "\n".join(lines)


def outlook(diagnosis: RunDiagnosis, told: Digest) -> str:
    """Forecast and next measurements."""
    lines = []
    axis = labels.axis(diagnosis.run)
    for group in told.forecast:
        ranges = "; ".join(
            f"{percent(p.level)} between {estimate(p.low)} and {estimate(p.high)}" for p in group
        )
        place = f"{code(group[0].signal)} at {text(axis)} {step(group[0].at_step)}"
        lines.append(f"- {place}: {estimate(group[0].median)} ({ranges})")
    if lines:
        lines = ["### Forecast, if it goes on like this", "", *lines]
    if told.next:
        lines += ["", "### What would settle more", ""] if lines else ["### What would settle more", ""]
        for item in told.next[:3]:
            worth = labels.settling(item, told.open_bits)
            lines.append(
                f"- **{text(item.measure, 120)}** ({worth}): {text(item.why, 240)}. {code(item.how, 240)}"
            )
    return "\n".join(lines)


def notes(run: RunInfo, told: Digest) -> str:
    if not told.notes:
        return ""
    lines = [
        f"- {code(n.slug)} {text(since(run, n.onset_step))}".rstrip() + f": {text(n.message, 240)}"
        for n in told.notes
    ]
    return "\n".join(["### Notes", "", *lines])


def unjudged(diagnosis: RunDiagnosis, told: Digest) -> str:
    """What the reader noticed and what could not be judged, folded away."""
    lines = [
        f"- {text(e.get('kind', ''), 24)}: {text(e.get('message', ''), 240)}" for e in told.log_events[:10]
    ]
    lines += [f"- not checked: {text(u.sentence, 200)}" for u in told.unchecked]
    if not lines:
        return ""
    count = sum(u.count for u in told.unchecked)
    head = f"<details><summary>About the log; {labels.plural(count, 'rule')} not checked</summary>"
    return "\n".join([head, "", *lines, "", "</details>"])

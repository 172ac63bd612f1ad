"""The page of `traindx check`: text, Markdown, HTML and JSON."""

import html as escaping

import msgspec

from traindx.reports.documents.memory import size
from traindx.reports.labels import clean, number, percent
from traindx.reports.markdown import text as harmless
from traindx.reports.text_page import Page, Span
from traindx.vocabulary import CheckReport, CheckResult, Group, Hypothesis

TITLES: dict[Group, str] = {
    "environment": "Environment",
    "data": "Data",
    "architecture": "Architecture",
    "loop": "Training loop",
    "experiments": "Sanity experiments",
}
MARKS = {"passed": ("✓", "green"), "failed": ("✗", "red"), "not-run": ("-", "dim"), "noted": ("~", "yellow")}
PLAIN = {"✓": "+", "✗": "x", "-": "-", "~": "~"}
PLAIN_MARKS = {"passed": "ok", "failed": "FAILED", "not-run": "not run"}
TITLE_WIDTH = 38
SHOWN_CAUSES = 3
LIKELY = 0.1
BYTES = ("memory_", "disk_", "accelerator_memory", "host_memory")
SECONDS = ("latency", "time_step")


def headline(report: CheckReport) -> str:
    """ "3 failed, 38 passed, 8 not run; 41 s"."""
    counts = [
        (report.count("failed"), "failed"),
        (report.count("passed"), "passed"),
        (report.count("not-run"), "not run"),
    ]
    return ", ".join(f"{n} {word}" for n, word in counts) + f"; {report.seconds:.0f} s"


def groups(report: CheckReport) -> list[tuple[str, list[CheckResult]]]:
    found = [(TITLES[g], [c for c in report.checks if c.group == g]) for g in TITLES]
    return [(title, checks) for title, checks in found if checks]


def likely_causes(report: CheckReport) -> list[Hypothesis]:
    """The causes of the failures, most probable first; none where no check failed."""
    if report.diagnosis is None or not report.count("failed"):
        return []
    sick = [h for h in report.diagnosis.hypotheses if h.cause != "healthy" and h.probability >= LIKELY]
    return sick[:SHOWN_CAUSES]


def message_of(check: CheckResult) -> str:
    """The message of a check, with its facts or its remark."""
    if check.status == "not-run":
        return f"not run: {check.message}"
    parts = [check.message]
    if check.status == "passed" and check.facts and check.severity is None:
        parts.append("; ".join(fact(name, value) for name, value in check.facts.items()))
    message = " · ".join(parts)
    return f"{message}; also: {check.remark}" if check.remark else message


def mark_of(check: CheckResult) -> str:
    """The mark of a check with a finding: a failure, or passed with something to know."""
    return "failed" if check.status == "failed" else "noted"


def fact(name: str, value: object) -> str:
    """A fact as "depth 2", in units that a person reads."""
    title = name.replace("_", " ")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{title} {clean(value, 60)}"
    if name.startswith(BYTES):
        return f"{title} {size(float(value))}"
    if name.startswith(SECONDS):
        return f"{title} {seconds(float(value))}"
    return f"{title} {number(float(value))}"


def seconds(value: float) -> str:
    return (
        f"{value:.3g} s"
        if value >= 1
        else f"{value * 1e3:.3g} ms"
        if value >= 1e-3
        else f"{value * 1e6:.3g} µs"
    )


def render(report: CheckReport, *, width: int = 100, color: bool = False, unicode: bool = True) -> str:
    """The page as text of at most `width` columns."""
    page = Page(width, color=color, unicode=unicode)
    style = "failed" if report.count("failed") else "healthy"
    page.row(
        Span(f" {'FAILED' if style == 'failed' else 'PASSED'} ", style), " ", Span(command(report), "bold")
    )
    page.flow(headline(report), indent=1)
    for title, checks in groups(report):
        page.heading(title)
        for check in checks:
            check_row(page, check)
    if likely_causes(report):
        page.heading("Candidate causes")
    for hypothesis in likely_causes(report):
        page.flow(f"{percent(hypothesis.probability)}  {hypothesis.title} ({hypothesis.cause})", indent=1)
        if hypothesis.fixes:
            page.flow(hypothesis.fixes[0].change, indent=6, style="dim")
    return page.text()


def check_row(page: Page, check: CheckResult) -> None:
    """One check: mark, title and message, on one line or (on a narrow page) below each other."""
    mark, colour = MARKS[check.status] if check.severity is None else MARKS[mark_of(check)]
    mark = mark if page.unicode else PLAIN[mark]
    style = "dim" if check.status == "not-run" else ""
    narrow = page.width < 2 * TITLE_WIDTH
    indent = 3 if narrow else TITLE_WIDTH
    lead = f" {mark} {check.title:<{TITLE_WIDTH - 4}} "
    if narrow:
        page.row(Span(lead.rstrip(), colour))
    first = "" if narrow else lead
    page.flow(
        clean(message_of(check), 300),
        indent=indent if narrow else 0,
        first=first,
        style=style,
        lead_style=colour,
    )
    if check.status == "failed":
        page.flow(f"traindx explain {' '.join(check.rules[:1])}", indent=indent, style="dim")


def command(report: CheckReport) -> str:
    return clean(" ".join(report.command), 200) or "a model and its loader"


def markdown(report: CheckReport) -> str:
    """The page as Markdown: a table for each group."""
    parts = [f"**traindx check** {harmless(command(report))}", f"{headline(report)}."]
    for title, checks in groups(report):
        rows = [f"| {PLAIN_MARKS[c.status]} | {c.title} | {harmless(message_of(c))} |" for c in checks]
        parts.append("\n".join([f"### {title}", "", "| | check | |", "|---|---|---|", *rows]))
    causes = [f"- {percent(h.probability)} {h.title} (`{h.cause}`)" for h in likely_causes(report)]
    if causes:
        parts.append("\n".join(["### Candidate causes", "", *causes]))
    parts.append(f"<sub>traindx {harmless(report.traindx_version)}</sub>")
    return "\n\n".join(parts) + "\n"


STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}
td{padding:.15em .8em .15em 0;vertical-align:top}h2{font-size:1.1em;margin:1.2em 0 .2em}
.passed{color:#18794e}.failed{color:#c22;font-weight:600}.not-run{color:#888}
@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}.passed{color:#5b9}.failed{color:#f77}}"""


def html(report: CheckReport) -> str:
    """The page as one HTML file without scripts."""

    def safe(value: object) -> str:
        return escaping.escape(clean(value, 400))

    body = [f"<h1>traindx check</h1><p><code>{safe(command(report))}</code><br>{safe(headline(report))}</p>"]
    for title, checks in groups(report):
        cells = [(c.status, PLAIN_MARKS[c.status], safe(c.title), safe(message_of(c))) for c in checks]
        rows = "".join(
            f'<tr class="{s}"><td>{mark}</td><td>{t}</td><td>{w}</td></tr>' for s, mark, t, w in cells
        )
        body.append(f"<h2>{title}</h2><table>{rows}</table>")
    causes = "".join(f"<li>{percent(h.probability)} {safe(h.title)}</li>" for h in likely_causes(report))
    if causes:
        body.append(f"<h2>Candidate causes</h2><ul>{causes}</ul>")
    head = f'<meta charset="utf-8"><title>traindx check</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'


def to_json(report: CheckReport) -> str:
    """The document `traindx.check/1`: strict JSON, NaN and infinities as strings."""
    from traindx.reports import json

    return json.dumps(msgspec.to_builtins(report, enc_hook=json.plain_number))

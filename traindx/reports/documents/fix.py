"""The report of `traindx fix`: text, Markdown, HTML and JSON."""

import base64
import html as escaping
import re
import shlex
from collections.abc import Sequence
from typing import Any

import msgspec

from traindx.reports import json as documents
from traindx.reports.forms import write_form
from traindx.reports.labels import clean, metric, number, percent, sentence
from traindx.reports.markdown import code, text as harmless
from traindx.reports.text_page import Page, Span
from traindx.vocabulary import Document, Hypothesis
from traindx.vocabulary.trial import FIX_SCHEMA, Answering, FixReport, Objective, Side, Stopping, Trial

TITLES = {"fixed": "FIXED", "nothing-to-fix": "NOTHING TO FIX", "not-fixed": "NOT FIXED"}
STYLES = {"fixed": "healthy", "nothing-to-fix": "healthy", "not-fixed": "sick"}
# Without a patch, and with one that lacks a part of what was proven.
BY_HAND = (
    "No patch: write the change by hand",
    "Write the rest by hand: the patch is a part of what was proven",
)
SHOWN_CAUSES = 4
LIKELY = 0.02
SHOWN_SYMPTOMS, SHOWN_LINES = 3, 40


def render_report(report: FixReport, form: str, *, width: int = 100, color: bool = False) -> str:
    """The report in the form that was asked for."""
    return write_form(
        form,
        {
            "text": lambda: text(report, width=width, color=color),
            "json": lambda: to_json(report),
            "markdown": lambda: markdown(report),
            "html": lambda: html(report),
        },
    )


def to_json(report: FixReport) -> str:
    """The document `traindx.fix/1`: strict JSON, NaN and infinities as strings."""
    return documents.dumps(msgspec.to_builtins(report, enc_hook=documents.plain_number))


def diagnosis_json(report: FixReport) -> str:
    """The document `traindx.diagnosis/1` of the script as it was, with the trials in it."""
    trials = tuple(msgspec.to_builtins(t, enc_hook=documents.plain_number) for t in report.trials)
    run = msgspec.structs.replace(report.diagnosis, trials=trials)
    return documents.render(Document(traindx_version=report.traindx_version, runs=(run,)))


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what `to_json` writes; that of a diagnosis is part of it."""
    definitions = documents.definitions_of(FixReport)
    known = documents.schema()["$defs"]
    definitions |= {name: known[name] for name in known if name in definitions or name == "Event"}
    return documents.with_head("FixReport", FIX_SCHEMA, definitions)


SOURCE = "source="  # before a fix, or an intervention, that is written into the source


def level(side: Side | None) -> str:
    """ "0.412 (0.38 to 0.44, 3 seeds)"."""
    if side is None:
        return "not known"
    seeds = f"{side.n} seed{'s' if side.n > 1 else ''}"
    if side.interval is None:
        return f"{number(side.mean)} ({seeds})"
    return f"{number(side.mean)} ({number(side.interval[0])} to {number(side.interval[1])}, {seeds})"


def change(trial: Trial) -> str:
    """The interventions of a trial, and those that it was added to."""
    on = f" on top of {describe(trial.on_top_of)}" if trial.on_top_of else ""
    return describe(trial.interventions).replace(f"{trial.fix} in the source", "an edit of the source") + on


def describe(interventions: Sequence[str]) -> str:
    """ "lr=*0.1", and "lr=*0.1 in the source" for what is tried there."""
    words = [f"{s.removeprefix(SOURCE)} in the source" if s.startswith(SOURCE) else s for s in interventions]
    return " and ".join(words) or "no change"


def text(report: FixReport, *, width: int = 100, color: bool = False) -> str:
    """One screen."""
    page = Page(width, color=color)
    begin(page, report)
    if report.trials:
        page.heading("What was tried")
    for trial in report.trials:
        page.flow(f"{trial.verdict}  {trial.fix}: {change(trial)}", indent=1)
        page.flow(clean(trial.why, 300), indent=4, style="dim")
    for own in report.test:
        page.flow(f"{own.signal} (test set): {level(own.before)} -> {level(own.after)}", indent=1)
    for row in model_rows(report) if report.verdict == "fixed" else ():
        page.flow(clean(row[0], 300), indent=1)
    for left in report.untried[:5]:
        line = f"not tried  {left.fix}: {clean(left.change, 400)} ({clean(left.why, 400)})"
        page.flow(line, indent=1, style="dim")
    if report.stopping is not None:
        page.flow(clean(stopping_advice(report.stopping), 400), indent=1)
    for line in report.notes:
        page.flow(clean(line, 300), indent=1, style="dim")
    took = f"{report.seconds:.0f} s; one start of the script takes {report.plain_seconds:.0f} s"
    page.flow(took, indent=1, style="dim")
    if report.command and not report.diff:
        page.lines += ["", "  The fixed run, without an edit of the source:", report.command]
    return page.text()


def begin(page: Page, report: FixReport) -> None:
    """The verdict, the problem, the change, how to apply it, and what it does to the metric."""
    page.row(Span(f" {TITLES[report.verdict]} ", STYLES[report.verdict]))
    page.flow(clean(report.reason, 300), indent=1, style="bold")
    page.heading(problem(report))
    for line in causes(report):
        page.flow(clean(line, 300), indent=1)
    for line in symptoms(report):
        page.flow(clean(line, 300), first="- ", indent=1)
    if report.diff:
        page.heading("The change")
        page.lines += [f"  {page.plain(line)}" for line in shown_diff(report)]
        page.heading("Apply it" if not report.patch_basis else "Apply it (not proven on this run)")
        page.lines.append(f"  {clean(apply_command(report), 400)}")
        page.flow(clean(report.patch_basis, 300), indent=2)
    if report.by_hand is not None:
        page.heading(BY_HAND[bool(report.diff)])
        for line in report.by_hand.lines:
            page.flow(clean(line, 400), indent=1)
    if report.verdict == "fixed" and report.objective is not None:
        page.heading("Before and after")
        page.flow(f"{measure(report.objective)}: {level(report.before)} -> {level(report.after)}", indent=1)


def problem(report: FixReport) -> str:
    """The heading above the causes."""
    return "Diagnosis" if report.verdict == "nothing-to-fix" else "What was wrong"


def causes(report: FixReport) -> list[str]:
    """The likely causes, each with its probability."""
    return [f"{h.title} ({percent(h.probability)})" for h in likely_causes(report)]


def likely_causes(report: FixReport) -> list[Hypothesis]:
    return [h for h in report.diagnosis.hypotheses if h.probability >= LIKELY][:SHOWN_CAUSES]


def symptoms(report: FixReport) -> list[str]:
    """What of the run shows it: at most three findings, those that support a listed cause if there are any."""
    if report.verdict == "nothing-to-fix":
        return []
    signs = {term.finding.partition(":")[0] for h in likely_causes(report) for term in h.for_}
    found = [f for f in report.diagnosis.findings if f.slug in signs] or report.diagnosis.findings
    return [sentence(one.message, 300) for one in found[:SHOWN_SYMPTOMS]]


def diff_lines(report: FixReport) -> list[str]:
    """The lines of the source edit, with tabs as spaces: a page would print them as escapes."""
    return [clean(line.rstrip("\r").expandtabs(4), 400) for line in report.diff.split("\n")[:-1]]


def shown_diff(report: FixReport) -> list[str]:
    """The lines of the source edit, without those that a terminal has no room for."""
    lines = diff_lines(report)
    more = [f"... {len(lines) - SHOWN_LINES} more lines in {report.patch}"]
    return lines if len(lines) <= SHOWN_LINES else lines[:SHOWN_LINES] + more


def apply_command(report: FixReport) -> str:
    """What puts the patch into the source, from the folder in which the proof was made."""
    return f"git apply {shlex.quote(report.patch or '')}"


def markdown(report: FixReport) -> str:
    """The whole report as Markdown."""
    parts = [f"# traindx fix: {TITLES[report.verdict].lower()}", harmless(report.reason, 400) + "."]
    parts.append(section(problem(report), [(line,) for line in (*causes(report), *symptoms(report))]))
    if report.diff:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", report.diff)), default=0))
        lines = "\n".join(diff_lines(report))
        parts.append(f"## The change\n\n{fence}diff\n{lines}\n{fence}")
        parts.append(f"## Apply it\n\n{code(apply_command(report), 400)}")
        parts += [harmless(report.patch_basis, 400)] if report.patch_basis else []
    if report.by_hand is not None:
        parts.append(section(BY_HAND[bool(report.diff)], [(line,) for line in report.by_hand.lines]))
    parts += [section(title, rows) for title, rows in sections(report)]
    if report.command:
        parts.append(f"## The fixed run\n\n{code(report.command, 400)}")
    parts.append(f"<sub>traindx {harmless(report.traindx_version)}</sub>")
    return "\n\n".join(parts) + "\n"


def section(title: str, rows: Sequence[tuple[str, ...]]) -> str:
    """A list where rows have one cell; else a table under the first row."""
    if not rows:
        return f"## {title}\n\nnone"
    if len(rows[0]) == 1:
        return f"## {title}\n\n" + "\n".join(f"- {harmless(row[0], 500)}" for row in rows)
    head, *body = rows
    lines = ["| " + " | ".join(harmless(c, 300) for c in row) + " |" for row in (head, *body)]
    return f"## {title}\n\n" + "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


Rows = Sequence[tuple[str, ...]]


def sections(report: FixReport) -> list[tuple[str, Rows]]:
    """Title and rows of every part of the report; rows of one cell are a list, others have a head."""
    diagnosis = report.diagnosis
    found = [(f"{f.severity}: {f.message}",) for f in diagnosis.findings]
    evidence = [("cause", "probability", "evidence")] + [
        (h.title, percent(h.probability), ", ".join(t.finding for t in h.for_[:4]))
        for h in diagnosis.hypotheses[:SHOWN_CAUSES]
    ]
    parts: list[tuple[str, Rows]] = []
    if report.objective is not None and report.before is not None:
        parts.append(("Before and after", before_after(report)))
    if report.trials:
        parts.append(("Fixes tried", tried_rows(report)))
    if report.test:
        parts.append(("On the test set", test_rows(report)))
    if report.slices:
        parts.append(("Groups of the held-out data", slice_rows(report)))
    if report.answering is not None or report.checkpoint is not None:
        parts.append(("The fixed model", model_rows(report)))
    if len(report.ablation) > 1:
        parts.append(("Ablation", ablation_rows(report)))
    if report.after_fix is not None:
        left = [(f"{f.severity}: {f.message}",) for f in report.after_fix.findings]
        parts.append(("What is left after the fix", left))
    parts += [("All findings", found), ("Causes", evidence)]
    parts.append(("Recommendations", [(f"{r.text} ({r.because})",) for r in report.recommendations]))
    if report.stopping is not None:
        parts.append(("When to stop", [(stopping_advice(report.stopping),)]))
    parts.append(("Not tried", [(f"{u.fix}: {u.change} — {u.why}",) for u in report.untried]))
    if report.notes:
        parts.append(("Notes", [(n,) for n in report.notes]))
    return parts


def stopping_advice(left: Stopping) -> str:
    """ "more trials are not worth their time: lower-dropout has a 4 % chance to help, …"."""
    worth = "more trials may help" if not left.stop else "more trials are not worth their time"
    return f"{worth if left.fix else 'no more trials'}: {left.why}"


def tried_rows(report: FixReport) -> Rows:
    rows = [
        (t.fix or "", change(t), t.verdict, level(t.before), level(t.after), t.why) for t in report.trials
    ]
    return [("fix", "change", "verdict", "before", "after", "why"), *rows]


def measure(objective: Objective) -> str:
    """ "val/accuracy", or "steps until val/accuracy reaches 0.95"."""
    if objective.scale != "steps":
        return metric(objective.signal)
    way = "reaches" if objective.rises else "falls to"
    return f"steps until {metric(objective.signal)} {way} {number(objective.unit)}"


def before_after(report: FixReport) -> Rows:
    objective = report.objective
    assert objective is not None
    name = f"{measure(objective)}, {objective.direction} is better"
    return [
        ("signal", "before", "after", "chosen because"),
        (name, level(report.before), level(report.after), objective.why),
    ]


def test_rows(report: FixReport) -> Rows:
    rows = [(f"{t.signal}, {t.direction} is better", level(t.before), level(t.after)) for t in report.test]
    return [("signal", "before", "after"), *rows]


def slice_rows(report: FixReport) -> Rows:
    rows = [
        (f"{s.column} {s.group}", str(s.samples), s.measure, level(s.before), level(s.after), s.verdict)
        for s in report.slices
    ]
    return [("group", "samples", "measure", "before", "after", "verdict"), *rows]


def model_rows(report: FixReport) -> Rows:
    """The weights and the inference speed of the returned model, a line each."""
    rows = []
    kept, fast = report.checkpoint, report.answering
    if kept is not None:
        size = f"{kept.tensors} tensors, {kept.bytes / 1e6:.3g} MB, SHA-256 {kept.sha256[:16]}…"
        where = f"weights of the fixed model: {kept.path} ({size})"
        rows.append((where if kept.path else f"weights: {kept.why}",))
    if fast is not None:
        rows += [(line,) for line in latency_lines(fast)]
    return rows


def latency_lines(fast: Answering) -> list[str]:
    """ "inference, one sample: 0.41 ms (p50), 0.55 ms (p95)", and the same of a batch."""
    if fast.why:
        return [f"inference speed was not measured: {fast.why}"]
    where = f"{fast.device or 'cpu'}{f', {fast.threads} threads' if (fast.threads or 0) > 1 else ''}"

    def both(p50: float | None, p95: float | None) -> str:
        return f"{1e3 * (p50 or 0.0):.3g} ms (p50), {1e3 * (p95 or 0.0):.3g} ms (p95)"

    one = f"inference, one sample: {both(fast.p50, fast.p95)}, in evaluation mode on {where}"
    lines = [] if fast.p50 is None else [one]
    what = "a batch" if fast.batch is None else f"a batch of {fast.batch}"
    rate = "" if fast.throughput is None else f", {fast.throughput:,.0f} samples a second"
    lines.append(f"inference, {what}: {both(fast.batch_p50, fast.batch_p95)}{rate}")
    if fast.utilization is not None:
        lines.append(f"the accelerator is busy for {percent(fast.utilization)} of a step")
    return lines


def ablation_rows(report: FixReport) -> Rows:
    def share(low_high: tuple[float, float] | None) -> str:
        return "" if low_high is None else f"{percent(low_high[0])} to {percent(low_high[1])}"

    rows = [(a.fix, describe(a.interventions), percent(a.share), share(a.interval)) for a in report.ablation]
    return [("part", "change", "share of the gain", "95 %"), *rows]


STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}
td,th{padding:.15em .8em .15em 0;vertical-align:top;text-align:left}h2{font-size:1.1em;margin:1.2em 0 .2em}
pre{overflow-x:auto;background:#8881;padding:.5em}td,li,p{overflow-wrap:anywhere}
@media(max-width:700px){pre{white-space:pre-wrap;overflow-wrap:anywhere}th{display:none}
tr,td{display:block}tr{margin-bottom:.8em}td:empty{display:none}td::before{content:attr(data-head) ": ";color:#888}}
.fixed,.nothing-to-fix{color:#18794e}.not-fixed{color:#c22}img{max-width:100%}
@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}}"""


def html(report: FixReport, picture: bytes = b"") -> str:
    """The whole report as one HTML page without scripts or other files. `picture`: a PNG, or nothing."""
    body = [f'<h1 class="{report.verdict}">{TITLES[report.verdict]}</h1><p>{escape_text(report.reason)}</p>']
    wrong = html_rows([(line,) for line in (*causes(report), *symptoms(report))])
    body.append(f"<h2>{problem(report)}</h2>{wrong}")
    if report.diff:
        lines = "\n".join(map(escape_text, diff_lines(report)))
        body.append(f"<h2>The change</h2><pre>{lines}</pre>")
        body.append(f"<h2>Apply it</h2><pre>{escape_text(apply_command(report))}</pre>")
        body.append(f"<p>{escape_text(report.patch_basis)}</p>")
    if report.by_hand is not None:
        body.append(
            f"<h2>{BY_HAND[bool(report.diff)]}</h2>{html_rows([(line,) for line in report.by_hand.lines])}"
        )
    if picture:
        data = base64.b64encode(picture).decode()
        body.append(f'<img src="data:image/png;base64,{data}" alt="before and after">')
    for title, rows in sections(report):
        body.append(f"<h2>{escape_text(title)}</h2>{html_rows(rows)}")
    if report.command:
        body.append(f"<h2>The fixed run</h2><pre>{escape_text(report.command)}</pre>")
    view = '<meta name="viewport" content="width=device-width,initial-scale=1">'
    head = f'<meta charset="utf-8">{view}<title>traindx fix</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'


def escape_text(value: object) -> str:
    return escaping.escape(clean(value, 500))


def html_rows(rows: Rows) -> str:
    """A list where rows have one cell; else a table under the first row. On a narrow screen each cell is a
    line of its own, after the name of its column."""
    if not rows:
        return "<p>none</p>"
    if len(rows[0]) == 1:
        return "<ul>" + "".join(f"<li>{escape_text(row[0])}</li>" for row in rows) + "</ul>"
    head, *body = [[escape_text(cell) for cell in row] for row in rows]
    lines = ["".join(f"<th>{cell}</th>" for cell in head)]
    lines += [
        "".join(f'<td data-head="{name}">{cell}</td>' for name, cell in zip(head, row, strict=True))
        for row in body
    ]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def recommendations(report: FixReport) -> str:
    """Further advice, each with its reason from this run."""
    lines = ["# Recommendations", ""]
    lines += [
        f"- **{harmless(r.kind)}**: {harmless(r.text, 400)} ({harmless(r.because, 400)})"
        for r in report.recommendations
    ]
    if not report.recommendations:
        lines.append("none")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":  # prints what fix.schema.json must hold
    print(documents.dumps(schema()), end="")

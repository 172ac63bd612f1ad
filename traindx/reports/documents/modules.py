"""The table of a run's modules as text, Markdown or JSON."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from traindx.features.per_module.flags import Flag, ModuleRow
from traindx.features.per_module.table import ModuleTable
from traindx.reports import json, labels, markdown
from traindx.reports.text_page import Page, Span
from traindx.vocabulary import Finding

SCHEMA = "traindx.modules/1"
TITLES = {"gradients": "Gradients by module", "activations": "Activations by module"}
LEGENDS = {
    "gradients": "median, last and max of the gradient norm; weights: last norm, and its ratio to the first; "
    "update: size of a step's weight change relative to the weights",
    "activations": "silent: units that no sample activates; saturated: pre-activations beyond 3; "
    "std: standard deviation of the output; "
    "rank: effective rank of the output over a batch, 0 is the same output for every input",
}
SHOWN = 400  # rows in text and Markdown; flagged ones first, JSON has all
NAMES = 12
GAP = 2
LEAST_NAME = 12

Tables = Sequence[tuple[ModuleTable, Sequence[Finding]]]


class Column(msgspec.Struct, frozen=True):
    """One column: its cell in a row, and how early it is dropped on a narrow page (0: never)."""

    head: str
    cell: Callable[[ModuleRow], str]
    gives_way: int


def render(
    tables: Tables, form: str = "text", *, width: int = 100, color: bool = False, unicode: bool = True
) -> str:
    """Tables with the findings of the rules on the same signals, of one run or several, as "text",
    "markdown" or "json". `width`, `color`, `unicode` are for text, as in `text.render`."""
    if form == "json":
        return json.dumps(
            {"schema": SCHEMA, "runs": [document(table, findings) for table, findings in tables]}
        )
    if form == "markdown":
        return "\n\n".join(as_markdown(table, findings) for table, findings in tables) + "\n"
    page = Page(width, color=color, unicode=unicode)
    for table, findings in tables:
        as_text(table, findings, page)
    return page.text()


def document(table: ModuleTable, findings: Sequence[Finding]) -> dict[str, Any]:
    """One run as builtins; every value of every course, with the limits of healthy."""
    built: dict[str, Any] = msgspec.to_builtins(table)
    built["findings"] = [msgspec.to_builtins(f, enc_hook=json.plain_number) for f in findings]
    return built


def columns(table: ModuleTable) -> list[Column]:
    """The columns that this run has anything for."""
    made = gradient_columns(table) if table.kind == "gradients" else activation_columns(table)
    return [c for c in made if any(c.cell(row) for row in table.rows)]


def gradient_columns(table: ModuleTable) -> list[Column]:
    return [
        Column("median", course_cell("grad_norm", "median"), 0),
        Column("last", last("grad_norm"), 4),
        Column("max", course_cell("grad_norm", "most"), 2),
        Column("zeros", share_cell("grad_zero_fraction"), 6),
        Column("not finite", nonfinite_cell, 1),
        Column("weights", last("weight_norm"), 3),
        Column("x first", growth, 7),
        Column("update", course_cell("update_ratio", "settled"), 0),
    ]


def activation_columns(table: ModuleTable) -> list[Column]:
    return [
        Column("silent", lambda row: "" if row.silent is None else labels.percent(row.silent), 0),
        Column("saturated", share_cell("act_saturated_fraction"), 0),
        Column("not finite", nonfinite_cell, 1),
        Column("mean", course_cell("act_mean", "median"), 5),
        Column("std", course_cell("act_std", "median"), 2),
        Column("at first", course_cell("act_std", "first"), 6),
        Column("absmax", course_cell("act_absmax", "most"), 4),
        Column("rank", course_cell("act_rank", "ending"), 3),
    ]


def course_cell(signal: str, part: str) -> Callable[[ModuleRow], str]:
    """A number of the signal's course; "" where it was not measured."""
    return lambda row: labels.estimate(getattr(row.courses[signal], part)) if signal in row.courses else ""


def last(signal: str) -> Callable[[ModuleRow], str]:
    """The last value; NaN where the run ends broken."""
    known = course_cell(signal, "last")
    return lambda row: "NaN" if row.ends_nonfinite and signal == "grad_norm" else known(row)


def share_cell(signal: str) -> Callable[[ModuleRow], str]:
    return lambda row: labels.percent(row.courses[signal].settled) if signal in row.courses else ""


def nonfinite_cell(row: ModuleRow) -> str:
    """The share of rows that were not finite; nothing (so no column) where all were."""
    return labels.percent(row.nonfinite) if row.nonfinite else ""


def growth(row: ModuleRow) -> str:
    """The last weight norm over the first."""
    norm = row.courses.get("weight_norm")
    return f"{norm.last / norm.first:.3g}" if norm is not None and norm.first > 0 else ""


def shown(table: ModuleTable) -> list[ModuleRow]:
    """All rows, or of too many the flagged ones and the first others, in order."""
    ranked = sorted(table.rows, key=lambda row: (not row.flags, row.depth))[:SHOWN]
    return sorted(ranked, key=lambda row: row.depth)


def as_text(table: ModuleTable, findings: Sequence[Finding], page: Page) -> None:
    page.blank()
    page.pair(f"{TITLES[table.kind]} of {labels.name(table.run)}", extent(table), style="bold")
    page.blank()
    rows, every = shown(table), columns(table)
    chosen = fitting_columns(every, rows, page.width)
    head, body = grid(
        [c.head for c in chosen], [[c.cell(r) for c in chosen] for r in rows], rows, page.width
    )
    page.row(Span(head, "dim"))
    for text, row in zip(body, rows, strict=True):
        page.row(text, *flag_spans(row, page.width - labels.cells(text) - GAP))
    if len(rows) < len(table.rows):
        page.row(Span(f"{len(table.rows) - len(rows):,} more (--format json has all)", "dim"))
    page.flow(LEGENDS[table.kind], indent=0, style="dim")
    if len(chosen) < len(every):
        left = ", ".join(c.head for c in every if c not in chosen)
        page.flow(f"left out for lack of space: {left}", indent=0, style="dim")
    write_remarks(table, findings, page)


def extent(table: ModuleTable) -> str:
    """How much was measured: "85 rows, steps 1–895, all finite"."""
    measured = any(row.nonfinite is not None for row in table.rows)
    whole = ", all finite" if measured and not any(row.nonfinite for row in table.rows) else ""
    steps = f"{labels.name(table.axis, 24)}s {labels.step(table.first_step)}–{labels.step(table.last_step)}"
    return f"{labels.plural(table.sampled, 'row')}, {steps}{whole}"


def flag_spans(row: ModuleRow, room: int) -> list[Span]:
    """The words of a row's flags behind its numbers; only the first and how many more where room is short."""
    if not row.flags:
        return []
    words = ", ".join(f.word for f in row.flags)
    if labels.cells(words) > room:
        words = f"{row.flags[0].word} +{len(row.flags) - 1}"
    return [Span(" " * GAP), Span(words, "red" if row.flags[0].grave else "yellow")]


def fitting_columns(every: list[Column], rows: Sequence[ModuleRow], width: int) -> list[Column]:
    """The columns that fit next to the names and the longest first flag; what matters least gives way first."""
    flags = max((labels.cells(row.flags[0].word) + GAP for row in rows if row.flags), default=0)
    names = min(max(LEAST_NAME, name_width(rows)), max(LEAST_NAME, width // 3))
    chosen = list(every)
    while chosen and names + flags + sum(GAP + column_width(c, rows) for c in chosen) > width:
        gives = max(chosen, key=lambda c: c.gives_way)
        if gives.gives_way == 0:
            break
        chosen.remove(gives)
    return chosen


def column_width(column: Column, rows: Sequence[ModuleRow]) -> int:
    return max([len(column.head), *(len(column.cell(row)) for row in rows)])


def name_width(rows: Sequence[ModuleRow]) -> int:
    return max(labels.cells(module_name(row, labels.NAME_LIMIT)) for row in rows)


def module_name(row: ModuleRow, limit: int) -> str:
    """The module's name, short in its middle; the model itself has none."""
    return labels.name(row.module or "(the model)", max(limit, 4))


def grid(
    head: Sequence[str], body: Sequence[Sequence[str]], rows: Sequence[ModuleRow], width: int
) -> tuple[str, list[str]]:
    """The head and each row's line: names flush left, numbers flush right under their titles."""
    sizes = [max(len(line[i]) for line in (head, *body)) for i in range(len(head))]
    flags = max((labels.cells(row.flags[0].word) + GAP for row in rows if row.flags), default=0)
    room = max(width - flags - sum(size + GAP for size in sizes), LEAST_NAME)
    names = [module_name(row, min(room, labels.NAME_LIMIT)) for row in rows]
    wide = max([labels.cells("module"), *map(labels.cells, names)])

    def line(name: str, values: Sequence[str]) -> str:
        parts = [v.rjust(size) for v, size in zip(values, sizes, strict=True)]
        return (" " * GAP).join([name + " " * (wide - labels.cells(name)), *parts])

    return line("module", head), [line(name, values) for name, values in zip(names, body, strict=True)]


def write_remarks(table: ModuleTable, findings: Sequence[Finding], page: Page) -> None:
    """Why each flag, whether the run learns, and what the rules find."""
    reasons = flag_reasons(table)
    if reasons:
        page.heading("Outside the range of healthy runs")
    for rows, flag in reasons:
        style = "red" if flag.grave else "yellow"
        page.flow(
            flag.why + same_flag_note(rows),
            indent=1,
            first=f"{module_name(rows[0], 40)}: ",
            lead_style=style,
        )
    page.blank()
    page.flow(verdict(table), indent=0)
    page.heading("Findings")
    for finding in findings:
        lead = f"{finding.severity}  {finding.slug}"
        page.flow(
            f"{labels.sentence(finding.message)}", indent=1, first=f"{lead}: ", lead_style=finding.severity
        )
    if not findings:
        page.row(f" nothing about {table.kind}")


def flag_reasons(table: ModuleTable) -> list[tuple[list[ModuleRow], Flag]]:
    """Each kind of flag once: the modules that have it, and the flag of the first of them."""
    found: dict[str, tuple[list[ModuleRow], Flag]] = {}
    for row in table.rows:
        for flag in row.flags:
            found.setdefault(flag.word, ([], flag))[0].append(row)
    return list(found.values())


def same_flag_note(rows: Sequence[ModuleRow]) -> str:
    """The other modules with the same flag, the first few by name."""
    if len(rows) == 1:
        return ""
    names = ", ".join(module_name(row, 40) for row in rows[1 : 1 + NAMES])
    return f"; also {names}" + (f" and {len(rows) - 1 - NAMES:,} more" if len(rows) > 1 + NAMES else "")


def verdict(table: ModuleTable) -> str:
    """Whether the objective improves, which decides how to read the flags."""
    if table.learning is None:
        return "The loss does not show whether the run learns."
    flagged = any(row.flags for row in table.rows)
    if table.learning:
        return "The run learns despite these flags." if flagged else "The run learns."
    return (
        "The run does not learn."
        if flagged
        else f"The run does not learn, and its {table.kind} do not show why."
    )


def as_markdown(table: ModuleTable, findings: Sequence[Finding]) -> str:
    """A heading, the table, the reasons of its flags and the findings."""
    rows, every = shown(table), columns(table)
    lines = [
        f"| module | {' | '.join(c.head for c in every)} | flag |",
        "|---|" + "---:|" * len(every) + "---|",
        *(
            f"| {markdown.code(module_name(row, 60), cell=True)} | {' | '.join(c.cell(row) for c in every)} | "
            f"{', '.join(f'**{f.word}**' for f in row.flags)} |"
            for row in rows
        ),
    ]
    reasons = [
        f"- **{flag.word}**: {markdown.code(module_name(rows[0], 60))}: {markdown.text(flag.why + same_flag_note(rows))}"
        for rows, flag in flag_reasons(table)
    ]
    found = [f"- **{f.severity}** {markdown.code(f.slug)}: {markdown.sentence(f.message)}" for f in findings]
    parts = [
        f"## {TITLES[table.kind]} of {markdown.code(table.run)}",
        markdown.text(extent(table)),
        "\n".join(lines),
        "\n".join(reasons),
        verdict(table),
        "\n".join(found) or f"The rules find nothing about {table.kind}.",
    ]
    return "\n\n".join(part for part in parts if part)

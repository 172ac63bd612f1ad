"""Tables of modules as text, Markdown, JSON and pictures."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.captured import NAMES, captured
from traindx.cli.module_tables import limits
from traindx.features.per_module.table import ModuleTable, table
from traindx.reports import labels
from traindx.reports.documents import modules
from traindx.reports.figures import modules as figures_modules
from traindx.vocabulary.run import Panel, Run, frozen_array

KINDS = ("gradients", "activations")
HOSTILE = "a|b`\x1b[31m\u202e<script>$x$" + "y" * 300


def of(name: str, kind: str) -> ModuleTable:
    found = table(captured(name), kind, limits())  # type: ignore[arg-type]
    assert found is not None
    return found


def made(names: list[str], rows: int = 5) -> ModuleTable:
    values = np.tile(np.geomspace(1e-9, 3.0, len(names)), (rows, 1))
    panel = Panel(frozen_array(np.arange(rows)), tuple(names), frozen_array(values))
    found = table(
        Run(id=HOSTILE, source="s", format="made", panels={"grad_norm": panel}), "gradients", limits()
    )
    assert found is not None
    return found


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("name", ["healthy", "deep_sigmoid", "outliers", "weights_large", "nan_input"])
@pytest.mark.parametrize("kind", KINDS)
def test_text_fits_the_page(name: str, kind: str, width: int) -> None:
    found = of(name, kind)
    said = modules.render([(found, ())], width=width)
    assert max(labels.cells(line) for line in said.splitlines()) <= width
    lines = said.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("module"))
    body = lines[head + 1 : head + 1 + len(found.rows)]
    assert [line.split()[0] for line in body] == [row.module for row in found.rows]
    for line, row in zip(body, found.rows, strict=True):
        assert not row.flags or row.flags[0].word in line


def test_numbers_are_never_cut() -> None:
    found = of("weights_large", "gradients")
    for width in (40, 60, 80, 100):
        said = modules.render([(found, ())], width=width)
        line = next(x for x in said.splitlines() if x.startswith("0 "))
        assert f" {labels.estimate(found.rows[0].courses['grad_norm'].median)} " in line
        assert "…" not in line.split("not finite")[0]


def test_colour_only_when_asked() -> None:
    found = of("deep_sigmoid", "gradients")
    plain, bright = modules.render([(found, ())]), modules.render([(found, ())], color=True)
    assert "\x1b" not in plain
    assert "\x1b[33mvanishing" in bright
    assert re.sub(r"\x1b\[[\d;]*m", "", bright) == plain


def test_flags_are_explained_once_for_all_modules_that_have_them() -> None:
    said = " ".join(modules.render([(of("deep_sigmoid", "gradients"), ())]).split())
    assert said.count("of that of the last modules") == 1
    assert "also 2, 4, 6, 8, 10, 12" in said
    assert "The run does not learn." in said


def test_names_from_logs_are_harmless() -> None:
    found = made([HOSTILE, "", "ok"])
    said, page = modules.render([(found, ())]), modules.render([(found, ())], "markdown")
    assert "\x1b" not in said + page
    assert "\u202e" not in said + page
    assert "(the model)" in said
    body = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(body) == 3
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in body} == {
        len(re.findall(r"\|", page.splitlines()[4]))
    }


def test_thousands_of_modules_are_cut_to_the_flagged_ones_and_the_first() -> None:
    found = made([f"layer.{i}" for i in range(3000)])
    said = modules.render([(found, ())])
    assert len(said.splitlines()) < modules.SHOWN + 60
    assert f"{3000 - modules.SHOWN:,} more" in said
    assert len(json.loads(modules.render([(found, ())], "json"))["runs"][0]["rows"]) == 3000


@pytest.mark.parametrize("kind", KINDS)
def test_json_is_strict_and_whole(kind: str) -> None:
    found = of("outliers", kind)

    def never(word: str) -> None:
        raise AssertionError(word)

    document = json.loads(modules.render([(found, ()), (found, ())], "json"), parse_constant=never)
    assert document["schema"] == "traindx.modules/1"
    run = document["runs"][1]
    assert [row["module"] for row in run["rows"]] == [row.module for row in found.rows]
    assert run["kind"] == kind
    assert run["limits"]["silent"] == found.limits.silent
    for row, own in zip(run["rows"], found.rows, strict=True):
        assert set(row["courses"]) == set(own.courses)
        assert [flag["word"] for flag in row["flags"]] == [flag.word for flag in own.flags]


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_has_a_row_for_each_module(kind: str) -> None:
    found = of("healthy", kind)
    page = modules.render([(found, ())], "markdown")
    assert page.startswith("## ")
    assert sum(line.startswith("| `") for line in page.splitlines()) == len(found.rows)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_recorded_run_can_be_drawn(kind: str, tmp_path: Path) -> None:
    """One for each number of modules and set of remarks: what else differs is the height of the lines."""
    tables = [table(captured(name), kind, limits()) for name in NAMES]  # type: ignore[arg-type]
    kinds = {
        (len(found.rows), frozenset(flag.word for row in found.rows for flag in row.flags)): found
        for found in tables
        if found is not None
    }
    for found in kinds.values():
        figures_modules.figure(found).canvas.draw()  # type: ignore[no-untyped-call]
    path = figures_modules.save(of("deep_sigmoid", kind), tmp_path)
    assert path.name == {"gradients": "gradient_flow.png", "activations": "activations.png"}[kind]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_gradient_figure_shows_the_medians_over_depth() -> None:
    found = of("deep_sigmoid", "gradients")
    upper = figures_modules.figure(found).axes[0]
    assert upper.get_yscale() == "log"
    line = next(x for x in upper.lines if x.get_label() == "median")
    assert list(line.get_ydata()) == [row.courses["grad_norm"].median for row in found.rows]
    assert [t.get_text() for t in upper.texts].count("vanishing") == 7


def test_many_modules_and_odd_names_can_be_drawn(tmp_path: Path) -> None:
    for names in ([HOSTILE, "_x", "$a$"], [f"m{i}" for i in range(500)], ["one"]):
        assert figures_modules.save(made(names), tmp_path).stat().st_size > 1000

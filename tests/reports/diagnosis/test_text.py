"""The terminal report: what it says, that it fits, and that foreign text does nothing."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.reports import made
from traindx.reports.diagnosis import text
from traindx.reports.labels import cells

SGR = re.compile(r"\x1b\[[0-9;]*m")
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff]")


def section(report: str, title: str) -> list[str]:
    """Lines below a heading, up to the next empty line."""
    lines = report.splitlines()
    start = lines.index(title) + 1
    end = lines.index("", start) if "" in lines[start:] else len(lines)
    return lines[start:end]


def test_the_first_line_is_the_verdict() -> None:
    first = text.render(*made.document(made.sick()), width=100).splitlines()[0]
    assert first.split()[0] == "FAILED"
    for said in ("runs/exp1/trainer_state.json", "1,500 points, steps 0–29,980", "stop (97 % sure)"):
        assert said in first


def test_consequences_are_listed_under_their_finding() -> None:
    wrong = section(text.render(*made.document(made.sick()), width=100, full=True), "All findings")
    heads = [line for line in wrong if re.search(r"[A-Z]{3}\d{3}$", line)]
    assert [h.split()[-1] for h in heads] == ["GRD002", "LOS002", "LOS001", "SYS005"]
    assert [h.lstrip()[0] for h in heads] == ["1", "↳", "↳", "2"]
    assert "since step 23,620" in heads[0]
    assert "in device 0" in heads[3]


def test_causes_with_probability_in_words_and_numbers() -> None:
    why = section(text.render(*made.document(made.sick()), width=100, full=True), "All candidate causes")
    why = why[2:]  # below what its numbers mean
    assert why[0] == "  71 %  learning rate too high (probable)"
    assert why[1].split(maxsplit=1) == [
        "for",
        "gradient-norm-explodes +2.4; loss-diverges +1.6; loss-not-finite (late) +0.7; and 1",
    ]
    assert any(line.split(maxsplit=1) == ["against", "no loss-spikes-recur -0.6"] for line in why)
    assert why[-1].split(maxsplit=2) == ["2", "%", "other causes"]


def test_fixes_first_then_recommendations_then_other_causes() -> None:
    todo = section(text.render(*made.document(made.sick()), width=100, full=True), "All advice")
    heads = [line.strip() for line in todo if line.startswith((" - ", " if"))]
    assert heads == [
        "- Lower the learning rate from 0.1 to 0.03.",
        "- Clip the global gradient norm at 1.0.",
        "- Go back to the checkpoint of step 22,800.",
        "if corrupt batch:",
        "- Log the ids of each batch and look at those of step 23,620.",
    ]


def test_what_was_read_and_not_checked() -> None:
    about = " ".join(
        " ".join(section(text.render(*made.document(made.sick()), full=True), "About the log")).split()
    )
    assert "train/loss from loss" in about
    assert "not checked: 11 rules: 5 need per-module weights (record with traindx run)" in about
    assert "1 needs more points of val/loss" in about
    assert "parse-warning: the last line is cut in the middle (line 1502)" in about


def test_the_plot_marks_onset_and_nan() -> None:
    lines = text.render(*made.document(made.sick()), width=100).splitlines()
    base = next(line for line in lines if "└" in line)
    axis = base[base.index("└") + 1 :]
    assert axis[0] == "2"
    assert axis.index("1") / len(axis) == pytest.approx(23620 / 29980, abs=0.02)
    assert axis.rstrip("×")[-1] == "─"
    assert axis.count("×") / len(axis) == pytest.approx(1 - 24800 / 29980, abs=0.03)


def test_several_runs_begin_with_a_table_worst_first() -> None:
    several = made.document(made.healthy("runs/a"), made.sick("runs/b"), made.healthy("runs/c"))
    lines = text.render(*several, width=100, full=True).splitlines()
    assert lines[0] == "3 runs"
    assert [line.split()[:2] for line in lines[2:5]] == [["FAILED", "b"], ["HEALTHY", "a"], ["HEALTHY", "c"]]
    blocks = "\n".join(lines).split("─" * 100)[1:]
    assert ["About the log" in block for block in blocks] == [True, True, True]


def test_nothing_to_report() -> None:
    assert text.render(*made.document()) == "No runs were found.\n"
    document, _ = made.document(made.healthy())
    report = text.render(document, full=True)
    assert report.startswith(" HEALTHY ")
    assert "power-law-tail" in report
    assert "┤" not in report


@pytest.mark.parametrize("width", [40, 57, 80, 100, 120, 140])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_asked(width: int, unicode: bool) -> None:
    long = made.healthy("a/" + "very-long-name-" * 9)
    for document, runs in (
        made.document(made.sick()),
        made.document(made.sick(), long),
        made.hostile("名前 " * 99),
    ):
        for line in text.render(document, runs, width=width, unicode=unicode, full=True).splitlines():
            assert cells(line) <= width
            assert line == line.rstrip()


@pytest.mark.parametrize("hostile", made.HOSTILE, ids=range(len(made.HOSTILE)))
def test_hostile_text_does_nothing(hostile: str) -> None:
    report = text.render(*made.hostile(hostile), width=80, full=True)
    assert not ACTING.search(report)
    assert max(map(cells, report.splitlines())) <= 80
    assert len(report) < 10_000
    report.encode()
    painted = text.render(*made.hostile(hostile), width=80, color=True, full=True)
    assert SGR.sub("", painted) == report


def test_markup_is_printed_as_it_is() -> None:
    report = text.render(*made.hostile("[bold red]markup[/bold red]"), width=120)
    assert "[bold red]markup[/bold red] climbs" in report


def test_ascii_means_ascii() -> None:
    for hostile in made.HOSTILE:
        assert text.render(*made.hostile(hostile), unicode=False).isascii()


def test_colour_only_when_asked() -> None:
    both = made.document(made.sick())
    assert "\x1b" not in text.render(*both)
    assert "\x1b[1;7;31m FAILED \x1b[0m" in text.render(*both, color=True)


def test_no_heavy_import_for_text_and_json() -> None:
    program = (
        "import sys; from tests.reports import made; from traindx.reports import json\n"
        "from traindx.reports.diagnosis import text\n"
        "d, r = made.document(made.sick()); text.render(d, r); json.render(d)\n"
        "print([m for m in ('rich', 'jinja2', 'matplotlib', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_would_settle_more_with_its_worth_at_80_columns() -> None:
    report = text.render(*made.document(made.sick()), width=80, full=True)
    said = section(report, "What would narrow it down further")
    assert all(cells(line) <= 80 for line in said)
    assert " ".join(" ".join(said).split()) == (
        "- learning-rate range test: tells a rate that is too high from a corrupt batch traindx find-lr -- python "
        "train.py (about 12 min, likely to settle it)"
    )

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.captured import captured, with_facts
from traindx import pipeline
from traindx.checks.catalogue import CHECKS
from traindx.reports.documents import check as page
from traindx.vocabulary.check import CheckReport, CheckResult

NASTY = "\x1b[31m</td><script>alert(1)</script>|**x**`\n\u202e"


def report(case: str = "double_softmax") -> CheckReport:
    return pipeline.judge_checks(captured(case), CHECKS, command=("python", "train.py"), seconds=12.3).report


def hostile() -> CheckReport:
    result = CheckResult(
        slug="seeds", group="environment", title="Random seeds", status="failed", message=NASTY, severity="high",
        remark=NASTY, rules=("seed-not-set",), facts={"seeds_set": NASTY},
    )  # fmt: skip
    return CheckReport(
        traindx_version="0", command=("python", NASTY), seconds=1, checks=(result,), experiments=()
    )


def test_the_headline_counts() -> None:
    found = report()
    counts = [int(n) for n in re.findall(r"(\d+) (?:failed|passed|not run)", page.headline(found))]
    assert sum(counts) == len(CHECKS)
    assert counts == [found.count("failed"), found.count("passed"), found.count("not-run")]


@pytest.mark.parametrize("width", [40, 60, 100, 140])
@pytest.mark.parametrize("unicode", [True, False])
def test_every_check_is_on_the_page_within_its_width(width: int, unicode: bool) -> None:
    text = page.render(report(), width=width, unicode=unicode)
    assert max(map(len, text.splitlines())) <= width
    assert unicode or text.isascii()
    whole = " ".join(text.split())
    assert [c.title for c in CHECKS if c.title not in whole] == []


def test_a_failure_says_why_and_what_may_be_behind_it() -> None:
    text = page.render(report())
    assert text.startswith(" FAILED")
    assert "traindx explain probabilities-fed-to-cross-entropy" in text
    assert "Candidate causes" in text
    assert "(double-softmax)" in text


def test_nothing_is_blamed_where_nothing_failed() -> None:
    text = page.render(report("healthy"))
    assert text.startswith(" PASSED")
    assert "Candidate causes" not in text


def test_something_to_know_is_marked() -> None:
    run = with_facts("healthy", seeds_set="none")
    text = page.render(pipeline.judge_checks(run, CHECKS).report)
    (line,) = [line for line in text.splitlines() if "Random seeds" in line]
    assert line.startswith(" ~ Random seeds")


def test_colours_only_where_asked() -> None:
    assert "\x1b[" not in page.render(report())
    assert "\x1b[31m" in page.render(report(), color=True)


def test_hostile_text_does_nothing() -> None:
    text = page.render(hostile())
    assert "\x1b" not in text
    assert "\u202e" not in text
    markdown = page.markdown(hostile())
    assert "<script" not in markdown
    assert "**x**" not in markdown
    html = page.html(hostile())
    assert "<script" not in html
    assert "\u202e" not in html
    assert json.loads(page.to_json(hostile()))["checks"][0]["message"] == NASTY


def test_json_is_strict_and_whole() -> None:
    def no(word: str) -> object:
        raise AssertionError(word)

    made = json.loads(page.to_json(report("nan_input")), parse_constant=no)
    assert made["schema"] == "traindx.check/1"
    assert {c["status"] for c in made["checks"]} == {"passed", "failed", "not-run"}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("depth", 2, "depth 2"),
        ("memory_weights", 7_708, "memory weights 7.71 kB"),
        ("disk_free", 6.9e10, "disk free 69 GB"),
        ("latency_p50", 2.1e-5, "latency p50 21 µs"),
        ("time_step", 0.25, "time step 250 ms"),
        ("compiled", True, "compiled True"),
        ("device", "cuda:0", "device cuda:0"),
    ],
)
def test_facts_in_units_that_a_person_reads(name: str, value: object, words: str) -> None:
    assert page.fact(name, value) == words


def test_html_and_markdown_hold_every_check(tmp_path: Path) -> None:
    for made in (page.html(report()), page.markdown(report())):
        assert [
            c.title for c in CHECKS if c.title.replace("'", "&#x27;") not in made and c.title not in made
        ] == []

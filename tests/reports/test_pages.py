"""Pages of all logs of this repository: nothing on one contradicts another, the curve, or what kind of run it is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from benchmarks.pages import LEADING, WIDTH, faults, pages
from tests import make
from tests.captured import NAMES, captured
from traindx import pipeline
from traindx.errors import TraindxError
from traindx.reports.diagnosis import text
from traindx.reports.diagnosis.brief import brief
from traindx.reports.digest import digest
from traindx.vocabulary.diagnosis import Decision

LOGS = Path(__file__).parents[1] / "logs"
FOLDERS = sorted(p for p in LOGS.iterdir() if p.is_dir() and p.name not in ("captured", "make", "oracles"))


@pytest.mark.parametrize("folder", FOLDERS, ids=[p.name for p in FOLDERS])
def test_no_page_of_a_log_contradicts_itself(folder: Path) -> None:
    looked = 0
    for place in sorted(folder.iterdir()):
        try:
            found = list(pages(place))
        except TraindxError:
            continue  # a log that was made to be refused
        for page, diagnosis, run in found:
            looked += 1
            assert not list(faults(page, diagnosis, run)), f"{place.name}\n{page}"
    assert looked


@pytest.mark.parametrize("name", NAMES)
def test_no_page_of_a_recording_contradicts_itself(name: str) -> None:
    diagnosis = pipeline.diagnose(captured(name))
    page = diagnosis.to_text(width=WIDTH)
    assert not list(faults(page, diagnosis.first, diagnosis.runs[0])), page


def rising() -> pipeline.Diagnosis:
    return pipeline.diagnose(
        make.run({"train/loss": np.linspace(1.0, 3.0, 200) + 0.01 * make.rng().normal(size=200)})
    )


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("FAILED, and nothing is wrong (40 %)", "ill"),
        ("tells a from b (0.2 bits, 0.97 a minute)", "jargon"),
        ("Lower the momentum below 0.", "nonsense"),
        ("lower the dropout from 0.1 to 0.1", "nonsense"),
        ("Cannot tell the cause from this log. Most likely: a bad batch.", "not told"),
    ],
)
def test_what_is_looked_for_is_found(words: str, fault: str) -> None:
    diagnosis = rising()
    ill = msgspec.structs.replace(
        diagnosis.first, health="failed", decision=Decision("stop", "it broke", 0.9)
    )
    assert not [f for f in faults("A page.\n", ill, diagnosis.runs[0]) if fault in f]
    assert [f for f in faults(words, ill, diagnosis.runs[0]) if fault in f]


def test_a_curve_that_rises_does_not_level_off() -> None:
    diagnosis = rising()
    level = Decision("continue", "levelled off at a good value", 0.9)
    changed = msgspec.structs.replace(diagnosis.first, decision=level)
    assert any("levels off" in f for f in faults("", changed, diagnosis.runs[0]))


def test_one_screen_at_80_columns_and_everything_with_full() -> None:
    diagnosis = rising()
    page, full = diagnosis.to_text(width=80), diagnosis.to_text(width=80, full=True)
    assert len(page.splitlines()) <= 32
    assert "About the log" in full
    assert "About the log" not in page
    assert "--full" in page
    assert "--full" not in full


def test_three_points_are_inconclusive_and_say_what_to_add() -> None:
    diagnosis = pipeline.diagnose(make.run({"train/loss": [0.71, 0.70, 0.705]}))
    first = brief(diagnosis.first, digest(diagnosis.first), diagnosis.runs[0])
    if first.word == "CANNOT TELL":
        assert "10 points" in first.short
    page = diagnosis.to_text(width=80)
    assert "othing wrong" not in page
    assert "othing is wrong" not in page
    assert "o fault" not in page


def test_the_numbers_of_a_course_are_those_of_the_log() -> None:
    diagnosis = pipeline.diagnose(make.run({"train/loss": make.healthy_loss(200)}))
    loss = diagnosis.runs[0].series["train/loss"].values
    assert f"fell from {loss[0]:.4g} (step 0) to {loss[-1]:.4g} (step 199)" in " ".join(
        diagnosis.to_text().split()
    )


def test_several_runs_are_a_table_and_the_worst_of_them() -> None:
    broken = make.run({"train/loss": np.r_[make.healthy_loss(100), np.full(50, np.nan)]})
    runs = [make.run({"train/loss": make.healthy_loss(200, seed=i)}) for i in range(5)]
    diagnosis = pipeline.diagnose([*runs, broken])
    page = text.render(diagnosis.document, diagnosis.runs, width=80)
    assert page.startswith("6 runs")
    assert len(LEADING.findall(page)) == 1
    assert "the screens of" in " ".join(page.split())

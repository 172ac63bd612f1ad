"""A log in two parts, before and after a resume, as people paste it into a question."""

from __future__ import annotations

import pytest

from tests.readers.sources import memory
from traindx import pipeline
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.vocabulary import RunDiagnosis


def rows(first: int, losses: list[float]) -> str:
    return "".join(f"step {first + 10 * i} loss {loss}\n" for i, loss in enumerate(losses))


def pages(text: str) -> list[RunDiagnosis]:
    runs = [run for log in read_source(memory(text)) for run in assemble(log)]
    return list(pipeline.diagnose(runs).document.runs)


TITLE = "Resuming from a checkpoint starts with a much higher loss\n\nThis is the end of the first job:\n"
LOW, HIGH = [0.62, 0.61, 0.63, 0.6, 0.61], [2.4, 2.31, 2.25, 2.2]


@pytest.mark.parametrize("sentence", ["And here after it was resumed:", "恢复训练后的日志："])
@pytest.mark.parametrize("first", [550, 500, 520])  # goes on, begins anew, overlaps
def test_the_parts_are_one_run_that_jumps(sentence: str, first: int) -> None:
    (run,) = pages(TITLE + rows(500, LOW) + sentence + "\n" + rows(first, HIGH))
    assert [f.slug for f in run.findings if f.severity != "info"] == ["loss-jumps-on-resume"]
    assert run.hypotheses[0].cause == "resume-without-state"
    (found,) = [f for f in run.findings if f.slug == "loss-jumps-on-resume"]
    assert "0.61 to 2." in found.message


def test_a_resume_that_goes_on_where_it_was_is_no_jump() -> None:
    going_on = [0.61, 0.6, 0.62, 0.61]
    text = TITLE + rows(500, LOW) + "And here after it was resumed:\n" + rows(550, going_on)
    (run,) = pages(text)
    assert "loss-jumps-on-resume" not in {f.slug for f in run.findings}


def test_two_logs_without_such_a_sentence_stay_two_runs() -> None:
    text = "Why is the second run worse?\n" + rows(0, LOW) + "With more layers:\n" + rows(0, HIGH)
    assert len(pages(text)) == 2


def test_what_a_program_prints_stays_as_it_is() -> None:
    (log,) = read_source(memory(rows(0, LOW) + "Resuming from checkpoint step 40\n" + rows(50, LOW)))
    assert [e.code for e in log.events if e.kind == "resume"] == ["declared"]
    assert log.axis_kind == "step"

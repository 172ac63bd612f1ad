"""A question that says that something is wrong, and rows that do not show it."""

from __future__ import annotations

import pytest

from tests.readers.sources import memory
from traindx import pipeline
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.vocabulary import RunDiagnosis


def page(text: str) -> RunDiagnosis:
    (run,) = pipeline.diagnose(
        [run for log in read_source(memory(text)) for run in assemble(log)]
    ).document.runs
    return run


def rows(losses: list[float]) -> str:
    return "".join(f"iter {100 + i} loss {loss}\n" for i, loss in enumerate(losses))


NOISE = [0.42, 0.61, 0.55, 0.48, 0.66, 0.4, 0.59, 0.52, 0.45, 0.63, 0.5, 0.57]
FALLING = [2.3, 2.1, 1.8, 1.6, 1.45, 1.3, 1.2, 1.12, 1.05, 1.0, 0.96, 0.93]


@pytest.mark.parametrize("losses", [NOISE, FALLING])
def test_rows_that_do_not_show_a_divergence_do_not_refute_it(losses: list[float]) -> None:
    run = page("The model diverges after some time, why?\n" + rows(losses))
    assert (run.health, run.decision.action) == ("watch", "inspect")
    assert "question" in run.decision.reason


def test_a_loss_that_clearly_falls_refutes_that_nothing_is_learned() -> None:
    run = page("My model is not learning, why?\n" + rows(FALLING))
    assert "question" not in run.decision.reason, run.decision


def test_the_same_rows_without_a_question_are_no_doubt() -> None:
    assert page(rows(FALLING)).health == "healthy"


def test_a_single_row_is_never_healthy() -> None:
    run = page(
        "I've finished training my model, what does this mean?\ntest accuracy: 0.97, test loss: 0.12\n"
    )
    assert run.health != "healthy"

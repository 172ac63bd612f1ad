"""What rows and words of a question show together, each with a near miss that must stay quiet."""

from __future__ import annotations

import pytest

from tests import make
from tests.readers.sources import memory
from traindx import pipeline
from traindx.features.curves.joint_rise import rises_together
from traindx.features.shared import Features
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.vocabulary import RunDiagnosis

FALLING = [0.71, 0.52, 0.46, 0.43, 0.42]


def page(text: str) -> RunDiagnosis:
    (run,) = pipeline.diagnose(
        [run for log in read_source(memory(text)) for run in assemble(log)]
    ).document.runs
    return run


def slugs(run: RunDiagnosis) -> set[str]:
    return {f.slug for f in run.findings if f.severity != "info"}


@pytest.mark.parametrize(
    ("train", "val", "low"),
    [
        ([0.44, 0.47, 0.51], [0.47, 0.5, 0.55], 4),
        ([0.44, 0.47, 0.51], [0.41, 0.4, 0.4], -1),  # validation still improves
        ([0.41, 0.4, 0.39], [0.47, 0.5, 0.55], -1),  # overfitting
        ([0.425, 0.428, 0.43], [0.425, 0.43, 0.433], -1),  # by little
        ([0.45, 0.51], [0.5, 0.55], -1),  # two rises
    ],
)
def test_both_losses_turn_and_rise(train: list[float], val: list[float], low: int) -> None:
    features = Features(make.run({"train/loss": FALLING + train, "val/loss": FALLING + val}))
    curves = [features.curve(name) for name in ("train/loss", "val/loss")]
    assert curves[0] is not None
    assert curves[1] is not None
    assert rises_together(curves[0], curves[1]) == low


def rows(name: str, values: list[float]) -> str:
    return "".join(f"Iteration {100 * i}, {name} = {v}\n" for i, v in enumerate(values))


def test_a_triplet_loss_at_its_margin_is_a_collapse() -> None:
    asked = "The triplet loss does not converge, what can I do?\n"
    run = page(asked + rows("loss", [0.34, 0.302, 0.3, 0.3, 0.3001, 0.3]))
    (found,) = [f for f in run.findings if f.slug == "loss-at-chance"]
    assert "margin" in found.message
    assert run.hypotheses[0].cause == "learning-rate-too-high"


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        ("The loss does not converge, what can I do?\n", [0.34, 0.302, 0.3, 0.3, 0.3001, 0.3]),
        ("The triplet loss does not converge, what can I do?\n", [0.34, 0.31, 0.26, 0.24, 0.23, 0.21]),
    ],
)
def test_another_loss_at_that_value_or_a_falling_one_is_none(asked: str, values: list[float]) -> None:
    assert "loss-at-chance" not in slugs(page(asked + rows("loss", values)))


def test_a_divergence_of_next_to_nothing_in_one_row() -> None:
    text = "loss: 0.21 - recon_loss: 0.21 - kl_loss: {} - val_loss: 0.2 - val_recon_loss: 0.2 - val_kl_loss: 3e-07\n"
    run = page("Is this result of my VAE ok?\n" + text.format("4e-07"))
    assert run.hypotheses[0].cause == "unbalanced-loss-terms"
    assert "posterior-collapses" not in slugs(page("Is this result of my VAE ok?\n" + text.format("0.012")))
    first = "step 0 recon_loss: 0.21 kl_loss: 4e-07\n"  # of a run that has not been validated
    assert "posterior-collapses" not in slugs(page("Is this start of my VAE ok?\n" + first))


def test_a_score_that_is_0_as_the_question_says() -> None:
    table = "".join(f"Epoch {i} loss {9 / (i + 1):.3f} val_map: 0.0\n" for i in range(4))
    asked = page("mAP is always 0, why?\n" + table)
    assert "metric-constant-or-impossible" in slugs(asked)
    assert {h.cause for h in asked.hypotheses[:2]} == {"misaligned-labels", "val-preprocessing-mismatch"}
    assert "metric-constant-or-impossible" not in slugs(page(table))  # detectors begin so


def test_a_diffusion_model_is_judged_by_its_samples() -> None:
    losses = [0.061, 0.118, 0.047, 0.073, 0.095, 0.052]
    body = "".join(f"step: {4000 + i}, loss: {v}\n" for i, v in enumerate(losses))
    run = page("I train a DDPM and the loss is not decreasing, is that normal?\n" + body)
    assert not slugs(run)
    assert any("samples" in r.text for r in run.recommendations)
    other = page("I train a CNN and the loss is not decreasing, is that normal?\n" + body)
    assert not any("samples" in r.text for r in other.recommendations)


def test_a_game_gets_no_single_batch_and_names_who_wins() -> None:
    body = "".join(f"batch: {10 * i} d_loss: 0.000000 g_loss: {9 + i % 3}\n" for i in range(6))
    run = page("the d_loss is always 0.0, the discriminator loss goes to 0. Is that a problem?\n" + body)
    assert not any("one small batch" in r.text for r in run.recommendations)
    assert "late" not in run.decision.reason


def test_more_rows_are_asked_for_only_where_they_help() -> None:
    body = "".join(f"iter {i} loss {2 - i / 10}\n" for i in range(5))
    assert any("Paste more" in r.text for r in page("it does not learn, why?\n" + body).recommendations)
    table = "".join(f"epoch {i} loss {2 - i / 10} val_loss {2.1 - i / 10}\n" for i in range(1, 6))
    assert not any(r.kind == "logging" for r in page(table).recommendations)


def test_a_wide_gap_that_the_question_names_counts_while_it_closes() -> None:
    table = "".join(
        f"Epoch {30 + i} train f1: {0.91 + i / 500:.3f} val f1: {0.35 + i / 20:.3f}\n" for i in range(4)
    )
    asked = page("Why is training much better than validation?\n" + table)
    (found,) = (f for f in asked.findings if f.slug == "validation-gap-grows")
    assert "is closing" in found.message
    assert "validation-gap-grows" not in slugs(page(table))

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from tests.causes.made import all_but, fired, plain_run
from traindx.causes import rank, recommend
from traindx.features.shared import Features
from traindx.rules.findings import findings
from traindx.vocabulary.diagnosis import Hypothesis, Recommendation
from traindx.vocabulary.rule import Outcome
from traindx.vocabulary.run import Run


def advised(*outcomes: Outcome, run: Run | None = None) -> tuple[Recommendation, ...]:
    run = run or plain_run()
    everything, features = all_but(*outcomes), Features(run)
    return recommend(findings(everything, run), rank(everything, run, features), everything, run, features)


def kinds(*outcomes: Outcome, run: Run | None = None) -> list[str]:
    return [r.kind for r in advised(*outcomes, run=run)]


def whole(**more: object) -> Run:
    loss = make.healthy_loss(200)
    setup = {"seed": 1}
    extra = {k.replace("__", "/"): v for k, v in more.items()}
    signals = {
        "train/loss": loss,
        "val/loss": loss,
        "lr": np.linspace(0.1, 0, 200),
        "grad_norm": loss,
        **extra,
    }
    return make.run(signals, setup=plain_run(setup).setup)


def test_a_well_logged_healthy_run_needs_no_advice() -> None:
    assert advised(run=whole()) == ()


def test_no_standing_advice() -> None:
    assert (
        kinds(run=plain_run()) == []
    )  # no validation, no rate, no gradient norm, no seed: and nothing hangs on it


def test_a_run_over_several_passes_without_validation_is_advised_to_add_a_validation_set() -> None:
    assert kinds(fired("validation-missing", severity="info"), run=plain_run()) == ["validation"]
    faulty = (fired("validation-missing", severity="info"), fired("loss-diverges", severity="critical"))
    assert "validation" not in kinds(*faulty, run=plain_run())


def test_rewards_need_no_validation_set() -> None:
    run = plain_run(train__reward=np.linspace(0, 100, 200))
    assert "validation" not in kinds(run=run)


def test_spikes_without_clipping() -> None:
    spikes = fired("loss-spikes-recur:many")
    assert kinds(spikes, run=whole())[0] == "stability"
    clipped = plain_run({"clip_norm": 1.0}, train__loss=make.healthy_loss(200))
    assert "stability" not in kinds(spikes, run=clipped)


def test_overfitting_names_the_best_step() -> None:
    val = np.concatenate([np.linspace(2, 1, 50), np.linspace(1, 2, 150)])
    advice = advised(fired("validation-gap-grows:strong", severity="high"), run=whole(val__loss=val))
    assert advice[0].kind == "checkpoint"
    assert "step 49" in advice[0].text or "step 50" in advice[0].text


def test_a_constant_rate_with_an_unsettled_loss_wants_a_decay() -> None:
    constant = whole(lr=np.full(200, 0.1))
    assert "schedule" in kinds(fired("loss-oscillates:no-progress"), run=constant)
    assert "schedule" not in kinds(run=constant)
    assert "schedule" not in kinds(fired("loss-oscillates:no-progress"), run=whole())


@pytest.mark.parametrize("slug", ["loss-flat-from-start", "loss-at-chance", "losses-stay-high"])
def test_no_learning_suggests_one_batch(slug: str) -> None:
    assert kinds(fired(slug, severity="high"))[0] == "sanity"


def test_never_more_than_five() -> None:
    many = [
        fired(s, severity="high")
        for s in ("loss-flat-from-start", "loss-spikes-recur", "validation-gap-grows")
    ]
    run = plain_run({"classes": 10}, train__loss=[2.0] * 12)
    assert 2 <= len(advised(*many, run=run)) <= 5


def test_an_agent_without_rewards_is_advised_to_explore_and_not_to_learn_one_batch() -> None:
    run = make.run({"train/reward": np.full(60, -200.0)})
    (first, *_) = advised(fired("loss-flat-from-start"), run=run)
    assert first.kind == "sanity"
    assert "explore" in first.text
    assert "batch" not in first.text


def test_a_cause_that_is_almost_certain_needs_no_test_on_one_batch() -> None:
    flat = fired("loss-flat-from-start", severity="high")
    open_ = advised(flat, run=plain_run())
    assert "sanity" in [r.kind for r in open_]
    certain = kinds(flat, fired("gradients-accumulate-across-steps", severity="high"), run=plain_run())
    assert "sanity" not in certain


@pytest.mark.parametrize(
    ("leading", "sure", "kinds_"),
    [("healthy", 0.9, []), ("dead-relus", 0.9, ["sanity"]), ("dead-relus", 0.96, [])],
)
def test_the_test_on_one_batch_follows_from_an_open_fault(
    leading: str, sure: float, kinds_: list[str]
) -> None:
    run, flat = plain_run(), (fired("losses-stay-high", severity="low"),)
    ranked = (Hypothesis(cause=leading, title=leading, probability=sure),)
    said = recommend(findings(flat, run), ranked, flat, run, Features(run))
    assert [r.kind for r in said if r.kind == "sanity"] == kinds_


def test_a_run_that_broke_needs_no_denser_log() -> None:
    few = make.run({"train/loss": np.array([2.0, 1.5, 1.2])})
    assert "logging" in kinds(run=few)
    assert "logging" not in kinds(fired("loss-not-finite", severity="critical"), run=few)

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from tests import make
from tests.causes.made import SEEN, decided, fired, plain_run
from tests.lookalikes import all_runs
from tests.samples.loss_diverges import held_out
from traindx import pipeline
from traindx.causes import decide, without_harm
from traindx.features.shared import Features
from traindx.rules.findings import findings
from traindx.vocabulary.diagnosis import EvidenceTerm, Hypothesis, RunDiagnosis
from traindx.vocabulary.rule import Outcome
from traindx.vocabulary.run import STANDARD_INPUT, Event, Panel, Run
from traindx.vocabulary.setup import Setup

GAP = "validation-gap-grows"


def diagnosed(run: Run) -> RunDiagnosis:
    """Through all rules and stages."""
    return pipeline.diagnose(run).first


def test_nothing_found_goes_on() -> None:
    health, decision = decided()
    assert (health, decision.action) == ("healthy", "continue")
    assert decision.confidence > 0.75


@pytest.mark.parametrize("kind", ["crash", "out-of-memory"])
def test_a_run_that_ended_with_an_error_has_failed(kind: str) -> None:
    run = make.run({"train/loss": make.healthy_loss(200)}, events=(Event(kind, "it said so", 199.0),))  # type: ignore[arg-type]
    health, decision = decided(run=run)
    assert (health, decision.action) == ("failed", "stop")


@pytest.mark.parametrize(("then", "health"), [("resume", "healthy"), ("note", "failed")])
def test_an_error_after_which_the_log_starts_again_ended_nothing(then: str, health: str) -> None:
    events = (Event("crash", "Aborted (core dumped)", 198.0), Event(then, "from a checkpoint", 198.0))  # type: ignore[arg-type]
    run = make.run({"train/loss": make.healthy_loss(200)}, events=events)
    assert decided(run=run)[0] == health


@pytest.mark.parametrize(("at", "health"), [(100.0, "healthy"), (196.0, "failed")])
def test_an_error_after_which_the_run_goes_on_ended_nothing(at: float, health: str) -> None:
    """A few points more are what other processes print while it dies."""
    run = make.run({"train/loss": make.healthy_loss(200)}, events=(Event("crash", "it said so", at),))
    assert decided(run=run)[0] == health


def test_a_loss_scale_of_nothing_is_a_failure() -> None:
    health, decision = decided(fired("steps-skipped-often:scale-lost", severity="critical"))
    assert (health, decision.action) == ("failed", "stop")


def test_memory_that_ran_out_and_was_survived_is_no_failure() -> None:
    run = make.run(
        {"train/loss": make.healthy_loss(200)}, events=(Event("out-of-memory", "skipped a batch", 50.0),)
    )
    health, _ = decided(fired("out-of-memory:survived", severity="high"), run=run)
    assert health != "failed"


def test_nan_to_the_end_has_failed_and_one_nan_has_not() -> None:
    values = make.healthy_loss(200)
    values[150:] = np.nan
    nan = fired("loss-not-finite:late", severity="critical")
    health, decision = decided(nan, run=plain_run(train__loss=values))
    assert (health, decision.action) == ("failed", "stop")
    assert decision.confidence >= 0.9
    values = make.healthy_loss(200)
    values[100] = np.nan
    once = fired("loss-not-finite:late,recovered", severity="low", strength=0.5)
    health, decision = decided(once, run=plain_run(train__loss=values))
    assert (health, decision.action) == ("healthy", "continue")


def test_diverged_for_good_has_failed() -> None:
    up = np.concatenate([make.healthy_loss(150), np.linspace(0.5, 9.0, 150)])
    gone = fired("loss-diverges:late,gradual", severity="critical")
    assert decided(gone, run=plain_run(train__loss=up))[0] == "failed"
    half = np.concatenate([make.healthy_loss(150), np.linspace(0.4, 1.2, 150)])
    health, decision = decided(gone, run=plain_run(train__loss=half))
    assert (health, decision.action) == ("sick", "inspect")


@pytest.mark.parametrize(
    ("outcome", "health"),
    [
        (fired("losses-stay-high", severity="high"), "sick"),
        (fired("memory-grows:host", severity="medium"), "sick"),
        (fired("metric-contradicts-loss", severity="medium", strength=0.3), "watch"),
        (fired("loss-plateaus:low", severity="low"), "healthy"),
        (fired("loss-still-falling-at-end", severity="info"), "healthy"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.rule.slug,
)
def test_health_follows_the_gravest_finding_and_the_ranking(outcome: Outcome, health: str) -> None:
    assert decided(outcome)[0] == health


@pytest.mark.parametrize(
    ("healthy", "recorded", "plain"),
    [
        (0.1, "sick", "watch"),
        (0.3, "watch", "watch"),
        (0.4, "healthy", "watch"),
        (0.55, "healthy", "healthy"),
        (0.7, "healthy", "healthy"),
    ],
)
def test_where_modules_were_recorded_the_probability_counts_by_itself(
    healthy: float, recorded: str, plain: str
) -> None:
    run = plain_run()
    panel = Panel(np.array([0.0, 100.0]), ("body",), np.ones((2, 1)))
    names = {"healthy": healthy, "label-noise": 1 - healthy}
    by_panels = msgspec.structs.replace(run, panels={"grad_norm": panel})
    for expected, seen, sign in ((plain, run, 2.0), (recorded, by_panels, 2.0), ("watch", by_panels, 0.5)):
        terms = (EvidenceTerm("contradicted=some", sign),)
        ordered = sorted(names.items(), key=lambda item: -item[1])
        hypotheses = [Hypothesis(cause=n, title=n, probability=p, for_=terms) for n, p in ordered]
        if sign > 1 or recorded == "sick":  # many faint signs condemn no run
            assert decide((), hypotheses, (), seen, Features(seen))[0] == expected


def test_a_rate_of_zero_stops() -> None:
    always = fired("learning-rate-is-zero:always", severity="critical")
    flat = fired("loss-flat-from-start:lr-zero", severity="high")
    health, decision = decided(always, flat)
    assert (health, decision.action) == ("sick", "stop")
    assert "learning rate" in decision.reason


def test_a_rate_that_was_zero_for_a_moment_does_not_stop() -> None:
    for place in ("at-start", "middle"):
        assert decided(fired(f"learning-rate-is-zero:{place}", severity="medium"))[1].action != "stop"


@pytest.mark.parametrize("n", [20, 200, 2000])
def test_a_flat_start_never_stops(n: int) -> None:
    """It has lasted n of n steps: an S-curve may still follow, and is given twice as long."""
    noise = 2.3026 + 0.02 * make.rng(n).standard_normal(n)
    run = plain_run({"classes": 10}, train__loss=noise)
    for diagnosis in (diagnosed(run), None):
        flat = fired("loss-flat-from-start:at-chance", severity="high")
        decision = diagnosis.decision if diagnosis else decided(flat, run=run)[1]
        assert decision.action in ("inspect", "continue")
    assert f"step {3 * (n - 1):,}" in decision.reason


def test_exactly_constant_stops() -> None:
    run = plain_run(train__loss=np.full(200, 1.25))
    assert decided(fired("loss-flat-from-start:never-moved", severity="high"), run=run)[1].action == "stop"


def test_a_plateau_at_chance_is_never_called_converged() -> None:
    fall = 2.3026 + 1.5 * np.exp(-np.arange(300) / 8) + 0.01 * make.rng(3).standard_normal(300)
    diagnosis = diagnosed(make.run({"train/loss": fall}, setup=Setup(classes=10)))
    assert "converged" not in {h.pattern for h in diagnosis.hypotheses}
    assert diagnosis.decision.action == "inspect"
    assert "levelled off at a good value" not in diagnosis.decision.reason


def overfitting(best: int, n: int = 60) -> Run:
    """Validation falls to its minimum at `best` and rises from there."""
    steps = np.arange(n)
    val = 1.0 + 0.8 * np.abs(steps - best) / n
    return make.run({"train/loss": make.healthy_loss(n, noise=0.005), "val/loss": val})


@pytest.mark.parametrize(("lowest", "useful"), [(np.log(2) + 1e-3, False), (0.41, True)])
def test_a_validation_loss_that_never_beat_guessing_has_no_checkpoint(lowest: float, useful: bool) -> None:
    steps = np.arange(40.0)
    run = make.run(
        {"train/loss": 0.69 * np.exp(-steps / 10), "val/loss": lowest + 0.06 * np.maximum(0, steps - 3)}
    )
    reason = diagnosed(run).decision.reason
    assert ("Use that checkpoint" in reason) is useful
    assert ("guessing among 2 classes" in reason) is not useful


def test_long_past_the_best_validation_stops_and_names_the_checkpoint() -> None:
    gap = fired(f"{GAP}:strong", severity="high")
    health, decision = decided(gap, run=overfitting(10))
    assert (health, decision.action) == ("sick", "stop")
    assert "step 10 " in decision.reason
    assert decided(gap, run=overfitting(45))[1].action == "inspect"  # not as long after as before


def test_a_note_of_a_gap_or_a_metric_that_improves_does_not_stop() -> None:
    assert decided(fired(GAP, severity="low", strength=0.5), run=overfitting(10))[1].action == "stop"
    for outcome in (
        fired(GAP, severity="info", strength=0.5),
        fired(f"{GAP}:metric-improves", severity="medium"),
    ):
        assert decided(outcome, run=overfitting(10))[1].action != "stop"


def test_grokking_goes_on() -> None:
    late, gap = fired("validation-drops-late", severity="info"), fired(f"{GAP}:strong", severity="high")
    health, decision = decided(late, gap, run=overfitting(10))
    assert (health, decision.action) == ("watch", "continue")


def test_too_short_is_watched_and_goes_on() -> None:
    health, decision = decided(run=plain_run(train__loss=[2.0, 1.9, 1.7]))
    assert (health, decision.action) == ("watch", "continue")


def test_one_pasted_row_is_inspected_and_one_row_of_a_file_goes_on() -> None:
    row = plain_run(train__loss=[2.0])
    assert decided(run=row)[1].action == "continue"
    pasted = decided(run=msgspec.structs.replace(row, source=STANDARD_INPUT))[1]
    assert pasted.action == "inspect"
    assert "one value of train/loss" in pasted.reason
    two = plain_run(train__loss=[2.0, 1.9])
    assert decided(run=msgspec.structs.replace(two, source=STANDARD_INPUT))[1].action == "continue"


def test_finished_and_converged_may_stop() -> None:
    open_ended = make.run({"train/loss": 1.0 + np.exp(-np.arange(400) / 20)})
    assert decided(run=open_ended)[1].action == "continue"
    finished = msgspec.structs.replace(open_ended, complete=True)
    assert decided(run=finished)[1].action == "stop"


@pytest.mark.parametrize(("name", "run"), all_runs().items(), ids=list(all_runs()))
def test_healthy_runs_that_look_ill_go_on(name: str, run: Run) -> None:
    diagnosis = diagnosed(run)
    assert diagnosis.health == "healthy"
    assert diagnosis.decision.action == "continue"
    assert diagnosis.hypotheses[0].cause == "healthy"


def test_confidence_is_a_probability_and_the_reason_a_clause() -> None:
    for slug in SEEN:
        for severity in ("critical", "high", "medium", "low", "info"):
            _, decision = decided(fired(slug, severity=severity))
            assert 0 <= decision.confidence <= 1
            assert decision.reason.strip() == decision.reason != ""


PANEL = Panel(np.array([0.0, 100.0]), ("body",), np.ones((2, 1)))


def recorded(facts: dict[str, str] | None = None, **series: object) -> Run:
    """A recording with modules, with these facts, and a loss whose zero is known."""
    run, known = plain_run(**series), {"loss": "cross_entropy", **(facts or {})}
    return msgspec.structs.replace(
        run, panels={"grad_norm": PANEL}, setup=run.setup.with_facts(known, "capture")
    )


def verdict(run: Run, probabilities: dict[str, float], *outcomes: Outcome, strongest: float = 2.0) -> str:
    ordered = sorted(probabilities.items(), key=lambda item: -item[1])
    terms = (EvidenceTerm("contradicted=some", strongest),)
    hypotheses = [Hypothesis(cause=n, title=n, probability=p, for_=terms) for n, p in ordered]
    features = Features(run)
    found = findings(outcomes, run)
    return decide(found, hypotheses, outcomes, run, features)[0]


def test_doubt_without_a_leading_cause_is_no_harm_where_the_net_learns() -> None:
    spread = {"healthy": 0.3, "wrong-loss": 0.25, "undertrained": 0.25, "label-noise": 0.2}
    assert verdict(recorded(), spread) == "healthy"
    hardly = np.linspace(2.3, 2.1, 300)
    assert verdict(recorded(train__loss=hardly), spread) == "watch"


def test_time_lost_is_harm_only_where_an_accelerator_waits() -> None:
    waits = {"data-loader-bottleneck": 0.9, "healthy": 0.1}
    slow = fired("step-waits-for-data", severity="medium", code="SYS001")
    assert verdict(recorded({"device": "cpu"}), waits, slow) == "healthy"
    assert verdict(recorded({"device": "cuda:0"}), waits, slow) == "sick"
    most = fired("step-waits-for-data", severity="high", code="SYS001")
    assert verdict(recorded({"device": "cpu"}), waits, most) == "watch"


def test_the_loss_of_an_agent_condemns_no_run() -> None:
    likely = {"corrupt-samples": 0.8, "healthy": 0.2}
    rising = np.linspace(0.1, 40.0, 300)
    assert verdict(recorded({"simulator": "gymnasium"}, train__loss=rising), likely) == "healthy"
    assert verdict(recorded(train__loss=rising), likely) != "healthy"
    gone = fired("parameters-never-change", severity="high")
    assert verdict(recorded({"simulator": "gymnasium"}, train__loss=rising), likely, gone) == "sick"


def test_without_harm_a_probable_cause_is_a_note() -> None:
    spread = {"wrong-loss": 0.4, "healthy": 0.3, "undertrained": 0.3}
    hypotheses = [Hypothesis(cause=n, title=n, probability=p) for n, p in spread.items()]
    run = recorded()
    noted = without_harm((), hypotheses, (), run, Features(run))
    assert [h.cause for h in noted] == ["healthy", "wrong-loss", "undertrained"]
    assert noted[0].probability == pytest.approx(0.9)
    assert noted[1].probability / noted[2].probability == pytest.approx(4 / 3)
    assert sum(h.probability for h in noted) == pytest.approx(1.0)
    assert decide((), noted, (), run, Features(run))[0] == "healthy"
    log, flat = plain_run(), recorded(train__loss=np.linspace(2.3, 2.1, 300))
    for harmed in (log, flat):  # a log says too little; a net that does not learn has harm
        assert without_harm((), hypotheses, (), harmed, Features(harmed)) == tuple(hypotheses)


@pytest.mark.parametrize(
    ("logged", "health"),
    [
        ({"train/reward": -116 + np.random.default_rng(0).normal(0, 0.01, 30)}, "watch"),
        ({"train/loss": [1.4, 1.25, 1.2, 1.3, 1.5, 1.7, 1.9, 2.2, 2.4]}, "sick"),
    ],
)
def test_a_lesser_finding_is_harm_only_with_a_possible_cause(
    logged: dict[str, list[float]], health: str
) -> None:
    """Nothing shows why the reward does not move. A loss that doubles has a likely cause."""
    judged = diagnosed(make.run(logged))
    assert judged.findings[0].severity == "medium"
    assert judged.health == health


def test_only_the_whole_loss_makes_a_run_useless() -> None:
    """Of a score, the model of the best time can be used. A part of the loss may have been re-weighted."""
    risen = np.concatenate([np.linspace(5, 60, 100), np.linspace(60, 2, 100)])
    noise = np.random.default_rng(2).normal(0, 0.5, 200)
    reward, part, loss = (diagnosed(make.run({name: y})) for name, y in (
        ("train/reward", risen + noise), ("train/recon_loss", 62 - risen + noise / 9),
        ("train/loss", 62 - risen + noise / 9),
    ))  # fmt: skip
    assert all("loss-diverges" in {f.slug for f in seen.findings} for seen in (reward, part, loss))
    assert (reward.health, part.health, loss.health) == ("sick", "sick", "failed")


def test_a_validation_loss_alone_that_rises_slowly_may_be_overfitting() -> None:
    alone = diagnosed(make.run({"val/loss": held_out()}))
    training = diagnosed(make.run({"train/loss": held_out()}))
    assert (alone.health, training.health) == ("sick", "failed")
    assert [found.hypotheses[0].cause for found in (alone, training)] == [
        "insufficient-regularization",
        "learning-rate-too-high",
    ]


def test_an_empty_validation_set_is_not_blamed_on_the_rate() -> None:
    found = diagnosed(make.run({"train/loss": make.healthy_loss(60), "val/loss": np.zeros(60)}))
    assert "empty or has no labels" in found.decision.reason
    assert found.hypotheses[0].cause == "fully-masked-labels"


def test_a_loss_of_the_same_digits_is_no_rate_that_is_too_high() -> None:
    late = (Event("resume", "begins at step 1299", 1299.0, "first row", "late-start"),)
    for events in ((), late):
        found = diagnosed(make.run({"train/loss": np.full(74, 16.7422)}, events=events))
        assert "learning-rate-too-high" not in [h.cause for h in found.hypotheses[:3]]
        assert found.decision.action == "stop"


@pytest.mark.parametrize("ends", ["high", "not finite"])
def test_a_range_test_is_no_training(ends: str) -> None:
    rate = np.geomspace(1e-6, 1, 200)
    loss = (
        2.3
        - 0.9 * np.clip(np.log10(rate / 1e-4) / 2, 0, 1)
        + 0.01 * np.random.default_rng(0).standard_normal(200)
    )
    loss[rate > 0.1] *= np.exp(6 * (np.log10(rate[rate > 0.1]) + 1))
    loss[-3:] = np.nan if ends == "not finite" else loss[-3:]
    tested = diagnosed(make.run({"train/loss": loss, "lr": rate}))
    warmed = diagnosed(make.run({"train/loss": loss, "lr": np.linspace(1e-6, 1, 200)}))
    assert (tested.health, warmed.health) == ("watch", "failed")
    assert "range test" in tested.decision.reason
    assert "range test" not in warmed.decision.reason


def test_worse_than_the_mean_on_validation_data_names_the_course_of_training() -> None:
    run = make.run(
        {
            "train/loss": np.exp(-np.arange(60) / 10) + 0.05,
            "val/r2": np.full(60, -0.4) - np.arange(60) % 3 / 50,
        }
    )
    reason = diagnosed(run).decision.reason
    assert "worse than always predicting the mean, while train/loss fell" in reason

"""What looks like a fault of training and is one of the print, the metric or the samples, next to real ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from traindx import pipeline
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.readers.raw import Source
from traindx.reports.diagnosis.brief import brief
from traindx.reports.diagnosis.text import render
from traindx.reports.digest import digest
from traindx.vocabulary.diagnosis import RunDiagnosis
from traindx.vocabulary.run import STANDARD_INPUT, Run


def runs(text: str, name: str = "train.log") -> list[Run]:
    data = text.encode()
    return [r for log in read_source(Source(name, data=data, head=data[:65536])) for r in assemble(log)]


def judged(text: str, name: str = "train.log") -> RunDiagnosis:
    return pipeline.diagnose(runs(text, name)).first


def found(diagnosis: RunDiagnosis) -> dict[str, str]:
    return {f.slug: f.severity for f in diagnosis.findings}


RATES: dict[str, Callable[[int], str]] = {
    "two digits": lambda i: f"{0.0007 * i:.2f}",
    "one digit": lambda i: f"{0.007 * i:.1f}",
}


@pytest.mark.parametrize("rate", RATES.values(), ids=RATES)
def test_a_warm_up_printed_with_few_digits_explains_no_nan(rate: Callable[[int], str]) -> None:
    diagnosis = judged("".join(f"step {i} | loss: nan | lr: {rate(i)}\n" for i in range(50)))
    assert not {"learning-rate-is-zero", "learning-rate-jumps"} & found(diagnosis).keys()
    assert diagnosis.hypotheses[0].cause != "learning-rate-schedule-fault"


def test_a_step_decay_to_zero_is_no_rounding() -> None:
    rates = [0.1] * 20 + [0.01] * 20 + [0.0] * 20
    rows = (f"step {i} loss {1 + 1 / (i + 1) if i < 40 else 1.03} lr {r}\n" for i, r in enumerate(rates))
    assert "learning-rate-is-zero" in found(judged("".join(rows)))


def keras(i: int, loss: float, mse: float, val: float) -> str:
    return f"Epoch {i}/40\n1/1 - 1s - loss: {loss:.4e} - mse: {mse:.4e} - val_loss: {val:.4e} - val_mse: {val:.4e}\n"


def test_a_loss_that_is_not_computed_is_a_note() -> None:
    text = "".join(keras(i, 0.46 if i == 1 else 0, 0.46 / i**3, 0.47 / i**3) for i in range(1, 41))
    diagnosis = judged(text)
    assert found(diagnosis)["metric-constant-or-impossible"] == "low"
    assert diagnosis.health == "healthy"


def test_a_loss_of_zero_from_which_nothing_is_learned_is_a_fault() -> None:
    text = "".join(keras(i, 0.46 if i == 1 else 0, 0.46, 0.47) for i in range(1, 41))
    assert found(judged(text))["metric-constant-or-impossible"] == "high"


def test_an_auc_above_one_says_nothing_of_the_rate() -> None:
    rows = (
        f"[{i}]\tvalidation_0-auc:{0.9995 + i * 0.0001:.5f}\tvalidation_1-auc:{0.97 + i * 1e-4:.5f}\n"
        for i in range(18)
    )
    diagnosis = judged("".join(rows))
    assert "metric-constant-or-impossible" in found(diagnosis)
    assert diagnosis.hypotheses[0].cause != "learning-rate-too-high"


def epochs(train: Callable[[int], float], val: Callable[[int], float]) -> str:
    rows = (
        f"{i},{train(i) + 0.01 * math.sin(9 * i):.5f},{val(i) + 0.01 * math.sin(7 * i):.5f}\n"
        for i in range(1, 101)
    )
    return "epoch,train_loss,val_loss\n" + "".join(rows)


def fall(i: int) -> float:
    return 1 + 3 * math.exp(-i / 25)


def test_other_training_samples_near_the_end_are_no_divergence() -> None:
    text = epochs(lambda i: fall(i) * (1.6 if i > 90 else 1), lambda i: 1.2 + 3 * math.exp(-i / 20))
    diagnosis = judged(text, "results.csv")
    assert found(diagnosis).get("loss-diverges", "info") == "info"
    assert diagnosis.health == "healthy"


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_a_divergence_that_validation_follows_stays_one(share: float) -> None:
    text = epochs(
        lambda i: fall(i) + 2.5 * (i > 90), lambda i: 1.2 + 3 * math.exp(-i / 20) + share * 2.5 * (i > 90)
    )
    assert judged(text, "results.csv").health in ("sick", "failed")


def test_a_collapse_to_guessing_needs_a_validation_that_had_learned() -> None:
    text = epochs(lambda i: 0.69 if i > 80 else 0.69 * math.exp(-i / 40), lambda i: 0.7)
    assert judged(text, "results.csv").health in ("sick", "failed")


@pytest.mark.parametrize(
    ("losses", "action"),
    [((0.3, 1.4e8), "stop"), ((2.3, 19.1, 8817.2), "stop"), ((0.9, 2.1, 1.7), "continue")],
)
def test_two_or_three_points_show_an_explosion_only_if_it_is_immense(
    losses: tuple[float, ...], action: str
) -> None:
    text = "".join(f"global step {150 + 50 * i}: loss = {v}\n" for i, v in enumerate(losses))
    assert judged(text, STANDARD_INPUT).decision.action == action


def test_the_best_iteration_printed_again_is_no_run() -> None:
    rows = "".join(
        f"[{i}] train-auc:{0.68 + i * 0.01:.3f}  eval-auc:{0.67 + i * 0.01:.3f}\n" for i in range(6)
    )
    begin = "Will train until eval error hasn't decreased in 5 rounds.\n"
    (run,) = runs(f"{begin}{rows}Stopping. Best iteration:\n{rows.splitlines()[0]}\n", STANDARD_INPUT)
    assert run.points == 6
    assert not run.setup.word("symptoms")


def test_the_words_of_early_stopping_in_a_question_still_count() -> None:
    text = "I use early stopping, and my validation loss is increasing. Why?\nepoch 1 loss 2.3\nepoch 2 loss 2.2\n"
    assert runs(text, STANDARD_INPUT)[0].setup.word("symptoms")


def test_a_screen_that_is_saved_again_and_again_is_one_row() -> None:
    rows = "".join(f"Epoch {i}/6 - loss: {1 / i:.4f} - val_loss: {1.1 / i:.4f}\n" for i in range(1, 7))
    (run,) = runs(rows + rows.splitlines(keepends=True)[-1] * 40)
    assert run.points == 6


def test_a_log_with_a_hole_is_read(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(
        bytes(70_000) + "".join(f"step {i} loss {2 / (i + 1):.3f}\n" for i in range(20)).encode()
    )
    assert pipeline.read_all(log)[0].points == 20


@pytest.mark.parametrize(
    ("line", "axis"),
    [
        ("[main][INFO] - iteration index: {n}, batch loss: {v}", "step"),
        ("Snapshot {n} saved, average loss: {v}, average time: 1.7", "step"),
        ("Train {n}, loss: {v}, train acc: 0.5{n}", "step"),
        ("{n}epoch results: [train] iter_time=0.002, loss={v}, [valid] acc=0.4{n}", "epoch"),
        ("Pass {n}, Cost {v}", "epoch"),
        ("iter{n}: loss {v}", "step"),
    ],
)
def test_counters_as_programs_print_them(line: str, axis: str) -> None:
    (run,) = runs("".join(line.format(n=n, v=2 / n) + "\n" for n in range(3, 20)))
    assert run.axis == axis
    assert list(run.series["train/loss"].steps) == list(range(3, 20))


def test_rates_and_scores_are_no_counters() -> None:
    text = "".join(
        f"step {n} loss {2 / n} 12step/s, Train acc 9{n % 10}, total time: 1.5m\n" for n in range(1, 20)
    )
    (run,) = runs(text)
    assert list(run.series["train/loss"].steps) == list(range(1, 20))
    assert max(max(series.values) for name, series in run.series.items() if "time" in name) < 1e4


def test_the_fraction_of_an_epoch_counts_where_steps_are_abbreviated() -> None:
    def row(n: int) -> str:
        step = f"{n}" if n < 1000 else f"{n // 1000}K"
        episode = f"{n // 10}" if n < 10_000 else f"{n // 10_000}K"
        return f"INFO train.py:357 step:{step} smpl:{n // 100}K ep:{episode} epch:{n / 400:.2f} loss:{600 / n:.3f} grdn:3.1\n"

    (run,) = runs("".join(row(n) for n in range(200, 40_000, 200)))
    assert len(run.series["train/loss"].values) == 199
    assert run.series["train/loss"].steps[0] == 0.5
    assert "grad_norm" in run.series


def test_a_page_names_the_validation_score_and_its_best() -> None:
    rows = (
        f"epoch {i} loss {1 / i:.3f} val_dice {0.46 if i == 20 else 0.3 + i / 1000:.3f}\n"
        for i in range(1, 41)
    )
    (run,) = runs("".join(rows))
    diagnosis = pipeline.diagnose([run]).first
    facts = " ".join(brief(diagnosis, digest(diagnosis), run).facts)
    assert "val/dice rose from 0.301 (epoch 1) to 0.46 (epoch 20) and ended at 0.34 (epoch 40)." in facts


def test_many_runs_without_a_finding_are_counted() -> None:
    text = "".join(f"epoch {i} loss {1 / i:.3f}\n" for _ in range(20) for i in range(1, 13))
    document = pipeline.diagnose(runs(text)).document
    short, long = (render(document, (), full=full) for full in (False, True))
    assert "20 runs" in short
    assert "and 8 more without a finding" in short
    assert "more without a finding" not in long


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        ("ModuleNotFoundError: No module named 'wandb'", "Install that package"),
        ("UnicodeEncodeError: 'charmap' codec can't encode character '\\u2713' in position 2", "PYTHONUTF8"),
        (
            "xgboost.core.XGBoostError: [08:34:48] /build/x/src/common.h:153: not compiled with GPU support.",
            "train on the CPU",
        ),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'data.npz'", "Check that path"),
    ],
)
def test_an_error_comes_with_what_to_do(error: str, remedy: str) -> None:
    trace = (
        f'Traceback (most recent call last):\n  File "train.py", line 8, in <module>\n    fit()\n{error}\n'
    )
    reason = judged("".join(f"step {i} loss {2 / (i + 1):.3f}\n" for i in range(20)) + trace).decision.reason
    assert remedy in reason
    assert "/build/" not in reason

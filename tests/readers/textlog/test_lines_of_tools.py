"""Numbers as other languages and countries write them, records whose counter comes last, and names of single tools."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import traindx
from traindx.vocabulary.run import Run

LOSSES = [round(0.3 + 2.0 * float(np.exp(-i / 10)), 4) for i in range(40)]
SCORES = [round(0.9 - 0.5 * float(np.exp(-i / 10)), 4) for i in range(40)]


def run_of(folder: Path, text: str) -> Run:
    (folder / "train.log").write_text(text)
    (run,) = traindx.read_all(folder / "train.log")
    return run


@pytest.mark.parametrize("word", ["NaN32", "NaN", "NaN16", "nan.0"])
def test_a_typed_nan_is_one(tmp_path: Path, word: str) -> None:
    values = [f"{v}f0" for v in LOSSES[:20]] + [word] * 20
    run = run_of(tmp_path, "".join(f"epoch = {i}, train_loss = {v}\n" for i, v in enumerate(values)))
    assert np.isnan(run.series["train/loss"].values).sum() == 20


@pytest.mark.parametrize(
    ("word", "value"), [("-1.#IND00", np.nan), ("1.#QNAN0", np.nan), ("1.#INF", np.inf)]
)
def test_what_c_prints_under_windows(tmp_path: Path, word: str, value: float) -> None:
    values = [str(v) for v in LOSSES[:20]] + [word] * 20
    run = run_of(tmp_path, "".join(f"Iter {i}: loss = {v}\n" for i, v in enumerate(values)))
    assert np.isclose(run.series["train/loss"].values[20:], value, equal_nan=True).all()


@pytest.mark.parametrize(
    "line",
    [
        "Train loss {i} {a:.6f} Grad Norm 1.2{i:02d} 1.3s/it\n",
        "Train loss {i}: {a:9f}\n",
        "loss {i} {a:.4f}\n",
    ],
)
def test_a_step_between_the_name_and_the_loss(tmp_path: Path, line: str) -> None:
    text = "".join(line.format(i=10 * i, a=a) for i, a in enumerate(LOSSES))
    loss = run_of(tmp_path, text).series["train/loss"]
    assert loss.values.tolist() == LOSSES
    assert loss.steps.tolist() == [10 * i for i in range(40)]


@pytest.mark.parametrize(
    "line", ["epoch {i} loss {b:.0f} 0.53\n", "loss {b:.0f}, 0.{i}\n", "accuracy {b:.0f} 0.{i}\n"]
)
def test_other_pairs_have_no_step(tmp_path: Path, line: str) -> None:
    text = "".join(line.format(i=i, b=1000 * b) for i, b in enumerate(LOSSES, 1))
    (series,) = [
        s for n, s in run_of(tmp_path, text).series.items() if n in ("train/loss", "train/accuracy")
    ]
    assert series.values[0] == pytest.approx(1000 * LOSSES[0])


def test_two_values_of_one_name_are_not_two_measures(tmp_path: Path) -> None:
    run = run_of(tmp_path, "".join(f"step {i} train/loss {v}/{v + 1}\n" for i, v in enumerate(LOSSES)))
    assert run.series["train/loss"].values.tolist() == LOSSES


@pytest.mark.parametrize("form", ["{:.4f}", "{:.2f}", "{:.3f}"])
def test_a_comma_before_decimals(tmp_path: Path, form: str) -> None:
    values = [form.format(v) for v in LOSSES]
    text = "".join(
        f"Epoche {i} - Verlust: {v.replace('.', ',')} - Zeit: 12,3s\n" for i, v in enumerate(values)
    )
    assert run_of(tmp_path, text).series["train/loss"].values.tolist() == [float(v) for v in values]


def test_a_comma_before_thousands(tmp_path: Path) -> None:
    rows = enumerate(LOSSES)
    text = "".join(f"step {1000 * i:,} | loss: {v * 1000:,.0f} | tokens: {i * 32_768:,}\n" for i, v in rows)
    loss = run_of(tmp_path, text).series["train/loss"]
    assert loss.values.tolist() == [round(v * 1000) for v in LOSSES]
    assert loss.steps.tolist() == [1000 * i for i in range(40)]


def test_a_record_may_end_with_its_counter(tmp_path: Path) -> None:
    record = "Result for PPO:\n  episode_reward_mean: {v}\n  timesteps_total: {n}\n\n"
    reward = run_of(
        tmp_path, "".join(record.format(v=v, n=4000 * i) for i, v in enumerate(SCORES, 1))
    ).series["train/reward"]
    assert reward.values.tolist() == SCORES
    assert reward.steps.tolist() == [4000 * i for i in range(1, 41)]


def test_a_record_may_begin_with_its_counter(tmp_path: Path) -> None:
    text = "".join(f"Epoch {i}\n  loss: {v}\n" for i, v in enumerate(LOSSES, 1))
    loss = run_of(tmp_path, "  loss: 2.5\n" + text).series["train/loss"]
    assert dict(zip(loss.steps.tolist(), loss.values.tolist(), strict=True))[40] == LOSSES[-1]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("[{i}]\ttraining's binary_logloss: {a}\tvalid_1's binary_logloss: {a}\n", {"train/loss", "val/loss"}),
        ("iter {i} bits/dim {a} grad_norm 1.2\n", {"train/loss", "grad_norm"}),
        ("{i} epochs left. train loss {a}, valid loss {a}\n", {"train/loss", "val/loss"}),
        ("10:00:12.345 [main] INFO  ScoreIterationListener - Score at iteration {i} is {a}\n", {"train/loss"}),
        ("step:{i} - actor/entropy:{a} - actor/grad_norm:0.{i}1 - critic/score/mean:{b}\n",
         {"train/entropy", "grad_norm", "train/critic_score_mean"}),
        ("iter {i} Score: {b}\n", {"train/score"}),
        ("Epoch {i}: train loss/acc {a}/{b}, val loss/acc {a}/{b}\n",
         {"train/loss", "train/accuracy", "val/loss", "val/accuracy"}),
        ("Iter {i}: {b} accuracy, {a} loss\n", {"train/loss"}),
        ("{i} Trn: {a} | Vld: {a}\n", {"train/loss", "val/loss"}),
        ("epoch {i} tr_loss {a} va_loss {a} va_acc {b}\n", {"train/loss", "val/loss", "val/accuracy"}),
    ],
)  # fmt: skip
def test_names_of_tools(tmp_path: Path, line: str, names: set[str]) -> None:
    run = run_of(tmp_path, "".join(line.format(i=i, a=LOSSES[i], b=SCORES[i]) for i in range(40)))
    assert names <= set(run.series)


def test_a_count_below_a_word_for_time_is_no_duration(tmp_path: Path) -> None:
    record = "[batch={n}/4800]:\n\t Train time/batch: {m}\n\t Train time/token: {t}\n\t Train loss/train/total: {v}\n"
    text = "".join(record.format(n=10 * i, m=10 * i - 1, t=i * 524288, v=v) for i, v in enumerate(LOSSES, 1))
    run = run_of(tmp_path, text)
    assert run.series["train/loss"].values.tolist() == LOSSES
    assert not any("time" in name for name in run.series)


def test_a_time_of_one_step_is_no_clock(tmp_path: Path) -> None:
    text = "".join(f"step {i} loss {v} dt {0.2 + 0.006 * i:.3f}s\n" for i, v in enumerate(LOSSES))
    assert run_of(tmp_path, text).series["time/step"].values[[0, -1]].tolist() == [0.2, 0.434]


@pytest.mark.parametrize(
    ("line", "trees"),
    [("[{i}]\ttrain-logloss:{a}\teval-logloss:{a}\n", True), ("[{i}] train loss: {a}\n", False)],
)
def test_trees_are_recognized(tmp_path: Path, line: str, trees: bool) -> None:
    run = run_of(tmp_path, "".join(line.format(i=i, a=a) for i, a in enumerate(LOSSES)))
    assert run.boosted == trees


def test_two_headings_of_matlab_name_one_accuracy(tmp_path: Path) -> None:
    head = "|  Epoch |  Iteration  |  Mini-batch  |  Mini-batch  |\n|        |             |   Accuracy   |    Loss      |\n"
    rows = (
        f"| {i // 4 + 1:7} | {50 * i + 1:11} | {100 * b:11.2f}% | {a:12.4f} |\n"
        for i, (a, b) in enumerate(zip(LOSSES, SCORES, strict=True))
    )
    run = run_of(tmp_path, head + "|=====|\n" + "".join(rows))
    assert run.series["train/accuracy"].values == pytest.approx(SCORES)
    assert run.series["train/loss"].values.tolist() == LOSSES

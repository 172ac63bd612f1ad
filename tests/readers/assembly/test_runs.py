"""From raw columns to runs: axis, restarts, resumes, names, units."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from traindx.errors import ConfigError
from traindx.readers.assembly.restarts import MOST_RUNS
from traindx.readers.assembly.runs import assemble
from traindx.readers.assembly.step_axis import is_inner_counter
from traindx.readers.raw import RawColumn, RawLog, RawPanel, column


def log(**columns: object) -> RawLog:
    """A log whose columns are full: one value a row."""
    made = {name.replace("__", "/"): column(v, np.arange(len(np.asarray(v)))) for name, v in columns.items()}
    return RawLog("made", "made", columns=made)


def test_a_counter_that_starts_again_is_another_run() -> None:
    steps = [*range(0, 100, 10), *range(0, 60, 10)]
    runs = assemble(log(step=steps, loss=[*np.linspace(2, 1, 10), *np.linspace(2, 1, 6)]))
    assert [len(r.series["train/loss"]) for r in runs] == [10, 6]
    assert [e.kind for e in runs[1].events] == ["restart"]
    assert runs[1].id.endswith("#2")


def test_a_counter_that_goes_back_a_little_is_a_resume_and_the_later_value_stays() -> None:
    steps = [*range(0, 100, 10), *range(70, 150, 10)]
    values = np.concatenate([np.full(10, 1.0), np.full(8, 2.0)])
    (run,) = assemble(log(step=steps, loss=values))
    got = run.series["train/loss"]
    assert got.steps.tolist() == list(range(0, 150, 10))
    assert got.values.tolist() == [1.0] * 7 + [2.0] * 8
    assert [e.kind for e in run.events] == ["resume"]
    assert run.events[0].step == 70


def test_a_counter_within_epochs_is_counted_on() -> None:
    inner = np.tile(np.arange(1, 51), 4)
    (run,) = assemble(log(iter=inner, loss=2.0 / np.sqrt(1 + np.arange(200))))
    assert run.series["train/loss"].steps.tolist() == list(range(1, 201))


def test_a_recall_is_no_reward() -> None:
    losses = {"train_loss": np.linspace(2, 1, 30), "val_loss": np.linspace(2, 1.2, 30)}
    score = np.linspace(0.4, 0.8, 30)
    (run,) = assemble(log(epoch=np.arange(30), **losses, P=score, R=score))
    assert run.originals["val/recall"] == "R"
    assert not any("reward" in name for name in run.series)
    (agent,) = assemble(log(epoch=np.arange(30), loss=losses["train_loss"], R=score))
    assert agent.originals["train/reward"] == "R"


def test_a_run_begins_with_the_first_of_its_names_in_event_files() -> None:
    raw = log()
    rows, steps = 3 * np.arange(40), np.tile(np.arange(20.0), 2)
    raw.columns["loss"] = column(np.tile(np.linspace(2, 1, 20), 2), rows + 2, steps)
    raw.columns["lr"] = column(np.full(40, 0.1), rows + 1, steps)
    raw.columns["grad_norm"] = column(np.arange(40.0), rows, steps)
    raw.columns["val_loss"] = column([0.5, 0.6], [59, 119], [19.0, 19.0])  # of the end of each
    for run, first in zip(assemble(raw), (0.0, 20.0), strict=True):
        assert run.series["grad_norm"].values[[0, -1]].tolist() == [first, first + 19]
        assert run.series["train/loss"].steps.tolist() == run.series["lr"].steps.tolist()
        assert len(run.series["val/loss"]) == 1


def test_a_final_test_is_not_the_validation_of_every_epoch() -> None:
    raw = log(epoch=np.arange(30), train_loss=np.linspace(2, 1, 30))
    raw.columns |= {
        "test_loss": column([0.3], [29]),
        "val_loss": column(np.linspace(3, 4, 30), np.arange(30)),
    }
    (run,) = assemble(raw)
    assert run.originals["val/loss"] == "val_loss"
    assert len(run.series["val/test_loss"]) == 1
    raw.columns |= {"test_loss": column(np.linspace(3, 4, 10), np.arange(0, 30, 3))}
    (run,) = assemble(raw)
    assert run.originals["val/loss"] == "test_loss"  # the first of two curves


def test_a_constant_rate_does_not_join_runs() -> None:
    epochs = np.tile(np.arange(20), 4)
    falls = np.tile(np.linspace(11, 3, 20), 4)
    runs = assemble(log(epoch=epochs, learning_rate=np.full(80, 1e-4), loss=falls))
    assert [len(run.series["train/loss"]) for run in runs] == [20] * 4
    (run,) = assemble(log(iter=epochs, learning_rate=np.full(80, 1e-4), loss=9 / np.sqrt(1 + np.arange(80))))
    assert run.series["train/loss"].steps.tolist() == list(range(80))


def test_steps_out_of_order_are_sorted_and_it_is_reported() -> None:
    order = np.random.default_rng(0).permutation(60)
    (run,) = assemble(log(step=order, loss=3.0 - order / 60))
    got = run.series["train/loss"]
    assert got.steps.tolist() == list(range(60))
    np.testing.assert_allclose(got.values, 3.0 - np.arange(60) / 60)
    assert any(e.kind == "parse-warning" for e in run.events)


def test_a_log_that_begins_in_the_middle_says_so() -> None:
    (run,) = assemble(log(step=np.arange(30_000, 31_000, 10), loss=np.linspace(2, 1, 100)))
    assert [e.code for e in run.events] == ["late-start"]


def test_rows_without_an_axis_belong_to_the_last_step() -> None:
    raw = log(step=np.arange(10), loss=np.ones(10))
    raw.columns["val_loss"] = column([5.0, 6.0], [3, 9])
    (run,) = assemble(raw)
    assert run.series["val/loss"].steps.tolist() == [3, 9]


def test_no_axis_at_all_counts_rows() -> None:
    (run,) = assemble(log(loss=[3.0, 2.0, 1.0]))
    assert run.axis == "row"
    assert run.series["train/loss"].steps.tolist() == [0, 1, 2]


def test_arrays_cannot_be_written_to() -> None:
    (run,) = assemble(log(step=[0, 1], loss=[1.0, 2.0]))
    with pytest.raises(ValueError, match="read-only"):
        run.series["train/loss"].values[0] = 9.0


def test_parts_are_summed_where_no_total_is_logged() -> None:
    (run,) = assemble(log(step=[0, 1], train__box_loss=[1.0, 2.0], train__cls_loss=[3.0, 4.0]))
    assert run.series["train/loss"].values.tolist() == [4.0, 6.0]
    assert run.originals["train/loss"] == "train/box_loss + train/cls_loss"


def test_opponents_are_not_summed() -> None:
    (run,) = assemble(log(step=[0, 1], g_loss=[1.0, 2.0], d_loss=[3.0, 4.0]))
    assert "train/loss" not in run.series


def test_a_divergence_of_unknown_weight_is_not_summed() -> None:
    (run,) = assemble(log(step=[0, 1], loss_recon=[1.0, 0.5], loss_kl=[3.0, 240.0]))
    assert "train/loss" not in run.series


def test_the_users_word_wins() -> None:
    (run,) = assemble(log(step=[0, 1], loss=[1.0, 2.0], my_loss=[3.0, 4.0]), {"train/loss": "my_loss"})
    assert run.series["train/loss"].values.tolist() == [3.0, 4.0]
    with pytest.raises(ConfigError, match="nothing_like_it"):
        assemble(log(step=[0, 1], loss=[1.0, 2.0]), {"train/loss": "nothing_like_it"})


def test_a_score_that_is_measured_now_and_then_is_an_evaluation() -> None:
    raw = log(epoch=np.arange(20), loss=np.linspace(2, 1, 20))
    raw.columns["Acc"] = column([0.5, 0.6, 0.7, 0.8], [4, 9, 14, 19])
    (run,) = assemble(raw)
    assert "val/accuracy" in run.series


@pytest.mark.parametrize(
    ("name", "unit", "values", "signal", "expected"),
    [
        ("elapsed time per iteration (ms)", "", [500.0, 510.0], "time/step", [0.5, 0.51]),
        ("time", "ms", [500.0, 510.0], "time/step", [0.5, 0.51]),
        ("max_mem", "", [2996.0, 3000.0], "mem/device", [2996 * 2**20, 3000 * 2**20]),
        ("accuracy", "%", [50.0, 98.6], "train/accuracy", [0.5, 0.986]),
        ("val_acc", "", [50.0, 98.6], "val/accuracy", [0.5, 0.986]),
        ("val_acc", "", [0.5, 0.986], "val/accuracy", [0.5, 0.986]),
    ],
)
def test_units(name: str, unit: str, values: list[float], signal: str, expected: list[float]) -> None:
    raw = RawLog("made", "made", columns={"step": column([0, 1], [0, 1]), name: column(values, [0, 1])})
    raw.units = {name: unit}
    (run,) = assemble(raw)
    np.testing.assert_allclose(run.series[signal].values, expected)


def test_a_clock_becomes_seconds_a_step() -> None:
    seconds = 100 + 0.25 * np.arange(0, 300, 10) + 0.001 * np.random.default_rng(0).random(30)
    (run,) = assemble(log(step=np.arange(0, 300, 10), time=seconds, loss=np.ones(30)))
    np.testing.assert_allclose(run.series["time/step"].values, 0.25, atol=2e-4)


def test_facts_of_the_wrong_kind_do_no_harm() -> None:
    raw = log(step=[0, 1], loss=[1.0, 2.0])
    raw.facts = {"lr": "cosine", "batch_size": "32", "classes": 10.0, "note": "x", "seed": float("nan")}
    (run,) = assemble(raw)
    assert run.setup.lr is None
    assert run.setup.batch_size == 32
    assert run.setup.classes == 10
    assert run.setup.seed is None


def test_non_finite_steps_are_left_out() -> None:
    raw = RawLog(
        "made", "made", columns={"loss": RawColumn(np.ones(3), np.arange(3), np.array([0.0, np.nan, 2.0]))}
    )
    (run,) = assemble(raw)
    assert run.series["train/loss"].steps.tolist() == [0, 2]


def test_modules_reported_in_two_rows_of_a_step_are_put_together() -> None:
    """Each of two optimizers reports its own modules; after a resume the later row counts."""
    nan = np.nan
    steps, rows = np.array([1.0, 1.0, 2.0, 2.0, 2.0, 3.0]), np.arange(6)
    values = np.array([[1, nan], [nan, 5], [2, nan], [nan, 6], [3, nan], [nan, 7]], float)
    raw = RawLog("made", "made", columns={"loss": RawColumn(np.ones(6), rows, steps)})
    raw.panels["grad_norm"] = RawPanel(steps, ("a", "b"), values, rows)
    (run,) = assemble(raw)
    panel = run.panels["grad_norm"]
    assert panel.steps.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(panel.values, [[1, 5], [3, 6], [nan, 7]])


def test_a_resume_from_an_early_checkpoint_is_recognized_by_its_loss() -> None:
    """Back from step 990 to 300, over 70 % of the way, where the loss is what it was at 300."""
    steps = np.array([*range(0, 1000, 10), *range(300, 1500, 10)], float)
    (run,) = assemble(log(step=steps, loss=3 * np.exp(-steps / 400)))
    assert [(e.kind, e.step) for e in run.events] == [("resume", 300.0)]
    assert run.series["train/loss"].steps.tolist() == list(range(0, 1500, 10))


def test_the_same_fall_with_the_loss_of_a_fresh_net_is_another_run() -> None:
    first, second = np.arange(0, 1000, 10.0), np.arange(300, 1500, 10.0)
    loss = np.concatenate([3 * np.exp(-first / 400), 3 * np.exp(-(second - 300) / 400)])
    runs = assemble(log(step=np.concatenate([first, second]), loss=loss))
    assert [len(r.series["train/loss"]) for r in runs] == [100, 120]


def test_a_second_fit_of_the_same_net_goes_on_from_it() -> None:
    epochs = np.tile(np.arange(10.0), 2)
    loss = 2 * 0.9 ** np.arange(20.0)
    first, second = assemble(log(epoch=epochs, loss=loss))
    assert [e.kind for e in first.events] == []
    assert [(e.kind, e.code) for e in second.events] == [("restart", ""), ("resume", "late-start")]


def test_a_second_fit_of_a_fresh_net_does_not() -> None:
    loss = np.tile(2 * 0.9 ** np.arange(10.0), 2)
    _, second = assemble(log(epoch=np.tile(np.arange(10.0), 2), loss=loss))
    assert [e.kind for e in second.events] == ["restart"]


@pytest.mark.parametrize(("first", "runs"), [(12, 1), (40, 2)])
def test_a_start_that_was_given_up_has_no_verdict_of_its_own(first: int, runs: int) -> None:
    steps = [*range(first), *range(300)]
    loss = [*np.full(first, np.nan), *np.linspace(2, 1, 300)]
    read = assemble(log(step=steps, loss=loss))
    assert len(read) == runs
    left = [e.message for e in read[-1].events if e.kind == "parse-warning"]
    assert left == (["1 earlier start of at most 12 points left out"] if runs == 1 else [])


def test_of_a_thousand_runs_in_one_log_the_last_are_kept() -> None:
    steps = np.tile(np.arange(5.0), 1000)
    runs = assemble(log(step=steps, loss=np.tile([5.0, 4.0, 3.0, 2.0, 1.0], 1000), row=np.arange(5000.0)))
    assert len(runs) == MOST_RUNS
    assert runs[-1].series["row"].values.tolist() == [4995.0, 4996.0, 4997.0, 4998.0, 4999.0]
    assert any("936 earlier runs" in e.message for e in runs[0].events)


@pytest.mark.parametrize("start", [0.0, 1.7e9])
def test_a_clock_that_starts_again_gives_no_time_of_a_step_there(start: float) -> None:
    spent = np.random.default_rng(0).uniform(0.9, 1.1, 100)
    clock = start + np.concatenate([np.cumsum(spent[:60]), np.cumsum(spent[60:])])
    (run,) = assemble(log(step=np.arange(100), loss=np.ones(100), time=clock))
    got = run.series["time/step"]
    np.testing.assert_allclose(got.values, np.delete(spent, [0, 60]), rtol=1e-6)
    assert 60 not in got.steps.tolist()


def test_a_duration_that_grows_is_no_clock() -> None:
    spent = 0.5 + 0.004 * np.arange(100) + np.random.default_rng(0).normal(0, 0.01, 100)
    (run,) = assemble(log(step=np.arange(100), loss=np.ones(100), time=spent))
    assert run.series["time/step"].values.tolist() == spent.tolist()


def test_seconds_since_1970_that_do_not_change_are_a_clock() -> None:
    """Whole seconds, several rows in each."""
    (run,) = assemble(log(step=np.arange(12), loss=np.ones(12), time=1.7e9 + np.arange(12) // 4))
    assert run.series["time/step"].values.max() == 1.0


def test_numbers_that_no_training_means_are_taken_out() -> None:
    steps = np.arange(20.0)
    steps[7] = np.inf
    loss = np.ones(20)
    loss[[3, 12]] = 1.7e308, -1e200
    (run,) = assemble(log(step=steps, loss=loss))
    got = run.series["train/loss"]
    assert got.steps.tolist() == [s for s in range(20) if s != 7]
    assert got.values[[3, 11]].tolist() == [np.inf, -np.inf]
    assert np.isfinite(np.delete(got.values, [3, 11])).all()


def test_parts_on_other_rows_do_not_keep_the_total_from_being_summed() -> None:
    raw = log(epoch=np.arange(6), box_loss=np.arange(6.0), cls_loss=np.ones(6))
    raw.columns["mask_loss"] = column([1.0, 2.0], [0, 3])
    (run,) = assemble(raw)
    assert run.series["train/loss"].values.tolist() == [1, 2, 3, 4, 5, 6]


def test_the_losses_of_two_players_have_no_sum() -> None:
    (run,) = assemble(log(epoch=np.arange(6), g_loss=np.ones(6), d_loss=np.ones(6)))
    assert "train/loss" not in run.series


def test_a_stretch_of_nothing_but_nan_is_no_warning() -> None:
    steps = np.tile(np.arange(5.0), 4)
    values = np.where(np.arange(20) < 10, np.nan, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_inner_counter(steps, values, np.array([5, 10, 15]))


def test_whole_numbers_beyond_all_reason_are_facts_in_words() -> None:
    raw = RawLog("log", "made", columns={"loss": column([1.0, 0.5], [0, 1])})
    raw.facts = {"seed": 10**400, "run_id": 10**5000, "batch_size": 10**400, "lr": 0.1, "workers": 1e300}
    (run,) = assemble(raw)
    assert run.setup.lr == 0.1
    assert (run.setup.seed, run.setup.batch_size, run.setup.workers) == (None, None, None)
    assert run.setup.facts["run_id"] == "of 16610 bits"


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_a_loss_without_a_counter_that_begins_again_is_another_run(noise: float) -> None:
    rng = np.random.default_rng(0)
    fall = 2 + 18 * np.exp(-np.arange(400) / 60)
    appended = np.concatenate([fall, fall[:150], fall]) + rng.normal(0, 18 * noise, 950)
    runs = assemble(log(loss=appended))
    assert [len(run.series["train/loss"]) for run in runs] == [400, 150, 400]
    assert [event.kind for event in runs[2].events] == ["restart"]
    assert runs[2].series["train/loss"].steps[0] == 550


def test_what_comes_back_at_once_or_never_is_no_other_run() -> None:
    fall = 2 + 18 * np.exp(-np.arange(400) / 60)
    spike, broken, restarts = fall.copy(), fall.copy(), fall.copy()
    spike[300:304] += [18, 14, 8, 3]
    broken[300:] = 20.0
    restarts[200:] += 5 * np.exp(-np.arange(200) / 60)  # a rate that begins anew
    for values in (spike, broken, restarts, np.tile(fall[:10], 40)):
        assert len(assemble(log(loss=values))) == 1

"""Systems rules: how often they cry wolf, severities, onsets, and what they refuse to judge."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from tests.samples.step_compiles_again import compiled
from traindx.features.shared import Features
from traindx.rules import judge_one
from traindx.rules.sys.accelerator_underused import accelerator_underused
from traindx.rules.sys.memory_grows import memory_grows
from traindx.rules.sys.model_not_compiled import model_not_compiled
from traindx.rules.sys.out_of_memory import out_of_memory
from traindx.rules.sys.step_compiles_again import step_compiles_again
from traindx.rules.sys.step_time_creeps import step_time_creeps
from traindx.rules.sys.step_time_jumps import step_time_jumps
from traindx.rules.sys.step_time_outliers import step_time_outliers
from traindx.rules.sys.step_waits_for_data import step_waits_for_data
from traindx.vocabulary.rule import Evidence, Outcome, Rule
from traindx.vocabulary.run import Event, Run
from traindx.vocabulary.setup import Setup

GIB = 2.0**30
TIMES = (step_waits_for_data, step_time_creeps, step_time_jumps, step_time_outliers)


def judged(rule: Rule, run: Run) -> Outcome:
    return judge_one(rule, run, Features(run), {})


def seen(rule: Rule, run: Run) -> Evidence:
    outcome = judged(rule, run)
    assert outcome.status == "fired", outcome.reason
    return outcome.evidence[0]


def healthy(seed: int) -> Run:
    """Step times as healthy runs have them: jitter with a heavy tail, a slow first row, evaluations inside the step,
    a few stalls; memory that fills up."""
    rng = make.rng(seed)
    n = int(rng.integers(20, 800))
    times = 10.0 ** rng.uniform(-2, 2) * np.exp(rng.uniform(0.005, 0.2) * rng.standard_t(4, n).clip(-4, 4))
    every = int(rng.integers(10, 60))
    times[::every] += rng.uniform(0, 100) * np.median(times)
    times[0] *= rng.uniform(1, 1000)
    times[rng.integers(0, n, max(n // 300, 1))] *= rng.uniform(2, 5)
    memory = (10 - rng.uniform(0, 6) * np.exp(-np.arange(n) / (n * rng.uniform(0.01, 0.15)))) * GIB
    signals = {
        "time/step": times,
        "time/data": times * rng.uniform(0, 0.2, n),
        "mem/device": np.maximum.accumulate(memory),
        "mem/host": memory * (1 + 0.01 * rng.standard_normal(n)),
    }
    held = (np.arange(0, n, every), make.healthy_loss(len(range(0, n, every))))
    return make.run({**signals, "val/loss": held})


def test_healthy_runs_raise_no_alarm() -> None:
    alarms = []
    for seed in range(300):
        run = healthy(seed)
        alarms += [
            (seed, rule.slug) for rule in (*TIMES, memory_grows) if judged(rule, run).status == "fired"
        ]
    assert len(alarms) <= 6, alarms  # of 300 runs and five rules


@pytest.mark.parametrize("factor", [1.8, 2.0, 3.0, 8.0])
@pytest.mark.parametrize("n", [20, 300, 6000])
def test_a_throughput_that_falls_is_caught_at_its_onset(factor: float, n: int) -> None:
    cut = int(0.6 * n)
    rate = 1000 * np.exp(0.08 * make.rng(n).standard_normal(n))
    rate[cut:] /= factor
    found = seen(step_time_jumps, make.run({"throughput": rate}))
    assert found.onset == pytest.approx(cut, abs=max(2, n // 500))
    assert found.values["ratio"] == pytest.approx(factor, rel=0.15)
    assert found.severity == ("high" if factor > 4 else "medium")


def test_a_slow_episode_and_a_new_machine_are_low() -> None:
    times = np.exp(0.05 * make.rng(1).standard_normal(300))
    episode, resumed = times.copy(), times.copy()
    episode[100:160] *= 2.5
    resumed[150:] *= 2
    assert seen(step_time_jumps, make.run({"time/step": episode})).aspects == ("recovered",)
    elsewhere = make.run({"time/step": resumed}, events=(Event("resume", "goes on", 150.0),))
    assert seen(step_time_jumps, elsewhere).severity == "low"


def test_creeping_says_whether_it_is_the_data() -> None:
    noise = np.exp(0.03 * make.rng(2).standard_normal(300))
    data = np.linspace(0.1, 0.9, 300) * noise
    compute = np.linspace(0.4, 1.0, 300) * noise
    loader = make.run({"time/step": 0.4 * noise + data, "time/data": data})
    assert seen(step_time_creeps, loader).aspects == ("data",)
    assert seen(
        step_time_creeps, make.run({"time/step": compute + 0.1, "time/data": 0.1 * noise})
    ).aspects == ("compute",)
    assert seen(step_time_creeps, make.run({"time/step": compute})).aspects == ()


def test_longer_sequences_explain_longer_steps() -> None:
    length = np.linspace(200, 600, 300)
    times = 0.01 * length * np.exp(0.03 * make.rng(3).standard_normal(300))
    assert judged(step_time_creeps, make.run({"time/step": times})).status == "fired"
    assert (
        judged(step_time_creeps, make.run({"time/step": times, "completion_length": length})).status
        == "clear"
    )


@pytest.mark.parametrize(("share", "severity"), [(0.35, "low"), (0.6, "medium"), (0.9, "high")])
def test_waiting_matters_by_its_share(share: float, severity: str) -> None:
    times = np.exp(0.05 * make.rng(4).standard_normal(100))
    found = seen(step_waits_for_data, make.run({"time/step": times, "time/data": share * times}))
    assert found.severity == severity
    assert found.values["share"] == pytest.approx(share)


def test_regular_outliers_are_a_remark() -> None:
    times = 0.2 * np.exp(0.05 * make.rng(5).standard_normal(600))
    times[50::50] = 4.0
    found = seen(step_time_outliers, make.run({"time/step": times}))
    assert (found.severity, found.aspects) == ("info", ("periodic",))
    checked = make.run({"time/step": times, "val/loss": (np.arange(50, 600, 50), np.geomspace(2, 1, 11))})
    assert judged(step_time_outliers, checked).status == "clear"


def test_two_readings_need_much_host_memory() -> None:
    assert seen(memory_grows, make.run({"mem/host": [10 * GIB, 20 * GIB]})).severity == "low"
    for quiet in (
        {"mem/host": [1 * GIB, 3 * GIB]},
        {"mem/host": [20 * GIB, 10 * GIB]},
        {"mem/device": [2 * GIB, 30 * GIB]},
    ):
        assert judged(memory_grows, make.run(quiet)).status == "clear"


def test_memory_evidence_names_the_signal() -> None:
    leak = np.linspace(4, 9, 200) * GIB
    outcome = judged(memory_grows, make.run({"mem/host": leak, "mem/device": leak}))
    assert [e.values["signal"] for e in outcome.evidence] == ["mem/host", "mem/device"]


def test_memory_of_compiled_programs_is_no_leak_but_one_between_them_is() -> None:
    steps = np.arange(1, 101)
    anew = (steps > 20) & (steps % 2 == 0)
    programs = {"calls/compile": (steps[anew], np.full(anew.sum(), 3.0))}
    kept = GIB + 9e6 * np.cumsum(anew) + 60e6 * (np.cumsum(anew) % 2)  # what compiling takes for a while
    memory = {
        "programs": kept,
        "programs and a leak": kept + 5e6 * np.cumsum(~anew),
        "a leak far beyond them": GIB + 90e6 * np.cumsum(anew),
    }
    fired = [
        name
        for name, values in memory.items()
        if judged(memory_grows, make.run({"mem/host": (steps, values), **programs})).status == "fired"
    ]
    assert fired == ["programs and a leak", "a leak far beyond them"]
    alone = make.run({"mem/host": (steps, GIB + 9e6 * np.cumsum(anew))})
    assert judged(memory_grows, alone).status == "fired"


def test_running_out_of_memory_is_critical_when_it_ended_the_run() -> None:
    loss = {"train/loss": make.healthy_loss(50)}
    ended = make.run(loss, events=(Event("out-of-memory", "CUDA out of memory", 49.0),))
    caught = make.run(loss, events=(Event("out-of-memory", "CUDA out of memory", 20.0),))
    assert seen(out_of_memory, ended).severity == "critical"
    assert seen(out_of_memory, caught).severity == "high"


def test_utilization_that_says_nothing_is_not_judged() -> None:
    assert judged(accelerator_underused, make.run({"util/device": np.zeros(30)})).status == "not-evaluated"
    assert (
        judged(accelerator_underused, make.run({"util/device": np.full(30, 55.0)})).status == "not-evaluated"
    )


def test_recompilation_is_not_judged_by_the_first_steps() -> None:
    assert judged(step_compiles_again, compiled(np.arange(16), 0.1, n=16)).status == "not-evaluated"
    assert judged(step_compiles_again, compiled(np.arange(24), 0.1, n=24)).status == "fired"


def test_compilation_is_judged_only_when_known() -> None:
    loss = {"train/loss": make.healthy_loss(2000)}
    assert judged(model_not_compiled, make.run(loss, setup=Setup(device="cuda"))).status == "not-evaluated"
    odd = Setup(device="cuda", facts={"compile": "reduce-overhead"})
    assert judged(model_not_compiled, make.run(loss, setup=odd)).status == "not-evaluated"
    assert (
        judged(model_not_compiled, make.run(loss, setup=Setup(device="cuda", facts={"compile": 0}))).status
        == "fired"
    )


def test_a_large_slowdown_may_be_uneven() -> None:
    """Most of it comes early, and the rest with setbacks, as with lists that grow by the size of the batches."""
    n, noise = np.arange(40), make.rng(5).normal(0, 0.08, 40)
    grown = np.interp(n, [0, 4, 9, 20, 39], [1.7, 1.9, 9, 6.6, 14])
    assert seen(step_time_creeps, make.run({"time/step": grown * np.exp(noise)})).values["ratio"] > 4
    settled = 1 + 12 * (1 - np.exp(-n / 2))  # a start-up that lasts a while, then the same for good
    assert judged(step_time_creeps, make.run({"time/step": settled * np.exp(noise)})).status == "clear"

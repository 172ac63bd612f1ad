"""Unmodified scripts of many styles: what they logged themselves is what is recovered."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from tests.capture.launch.launching import SCRIPTS, Launched, alone, launched
from tests.capture.launch.styles import STATUS, STYLES

pytest.importorskip("torch")


RUNS: dict[str, Launched] = {}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory):
    """Each script is run once under capture, when it is first asked for."""

    def run(name: str) -> Launched:
        needs = STYLES[name].needs
        if needs and importlib.util.find_spec(needs) is None:
            pytest.skip(f"{needs} is not installed")
        if name not in RUNS:
            RUNS[name] = launched(name, tmp_path_factory.mktemp(name))
        return RUNS[name]

    yield run
    RUNS.clear()


@pytest.mark.parametrize("name", STYLES)
def test_the_script_did_not_notice(name: str, recorded) -> None:
    done = recorded(name)
    assert done.status == STATUS.get(name, 0), done.err.decode()
    assert b"traindx" not in done.out + done.err


@pytest.mark.parametrize("name", STYLES)
def test_its_numbers_are_recovered(name: str, recorded) -> None:
    done = recorded(name)
    truth, run = done.truth(STYLES[name].truth), done.run()
    for signal, key in STYLES[name].signals.items():
        assert signal in run.series, f"{signal} is not among {sorted(run.series)}"
        found, expected = run.series[signal].values, truth[key]
        if key == "second_loss":  # logged after the step that counts: the last has no row any more
            expected = expected[:-1]
        # what was printed has four digits; the mean of an evaluation is summed in another order
        loose = 6e-5 if signal == "val/accuracy" else 1e-6 if signal.startswith("val/") else 2e-7
        np.testing.assert_allclose(found, expected, rtol=loose, atol=loose, err_msg=signal)
    assert run.series["train/loss"].steps.tolist() == list(range(1, len(truth["loss"]) + 1))


@pytest.mark.parametrize("name", STYLES)
def test_its_setup_is_recovered(name: str, recorded) -> None:
    setup = recorded(name).run().setup
    assert {key: setup.known(key) for key in STYLES[name].facts} == STYLES[name].facts


@pytest.mark.parametrize("name", [n for n, style in STYLES.items() if style.lines])
def test_the_lines_that_did_it(name: str, recorded) -> None:
    setup = recorded(name).run().setup
    for what, text in STYLES[name].lines.items():
        file, line = str(setup.facts[f"where/{what}"]).rsplit(":", 1)
        assert Path(file).name == f"{name}.py"
        assert text in (SCRIPTS / f"{name}.py").read_text().splitlines()[int(line) - 1]


@pytest.mark.parametrize("name", ["raises", "exits_with_3"])
def test_a_failure_is_in_the_record(name: str, recorded) -> None:
    run = recorded(name).run()
    assert run.complete is False
    (crash,) = [event for event in run.events if event.kind == "crash"]
    assert (
        "RuntimeError" in crash.message and "(raises.py:20)" in crash.message
    ) or "status 3" in crash.message


def test_workers_and_subprocesses_see_a_clean_environment(recorded) -> None:
    truth = recorded("pool_workers").truth()
    assert truth["workers"] == [[i * i, [], False] for i in range(4)]
    assert truth["subprocess"] == "[]"


@pytest.mark.parametrize("name", ["two_ranks", "spawned_ranks"])
def test_every_rank_is_recorded(name: str, recorded) -> None:
    done = recorded(name)
    run = done.run()
    np.testing.assert_allclose(
        run.series["rank/1/train/loss"].values, done.truth("truth1.json")["loss"], rtol=2e-7
    )
    assert (run.setup.number("world_size"), run.setup.number("ranks_reporting")) == (2, 2)
    np.testing.assert_array_equal(run.series["grad_norm"].values, run.series["rank/1/grad_norm"].values)


def test_a_module_sees_its_arguments(recorded) -> None:
    truth = recorded("package_training").truth()
    assert (truth["argv"], truth["name"]) == (["16"], "__main__")


IDENTICAL = ["plain_functions", "trainer_class", "cnn_batchnorm", "rnn", "tiny_gpt", "scaler_amp", "accumulation",
             "gan", "lbfgs_closure", "manual_sgd", "manual_reload", "compiled", "compiled_step", "loader_workers",
             "raises"]  # fmt: skip


SLOW = {"compiled", "compiled_step"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in IDENTICAL]
)
def test_results_are_the_same_to_the_last_bit(name: str, recorded, tmp_path: Path) -> None:
    """Final weights, every number of the script's own, stdout and stderr."""
    with_us, without = recorded(name), alone(name, tmp_path)
    assert with_us.status == without.status
    for file in ("weights.pt", "truth.json"):
        if (tmp_path / file).exists() or name != "raises":
            assert (with_us.folder / file).read_bytes() == (tmp_path / file).read_bytes(), file
    assert with_us.out == without.out
    assert with_us.err == without.err


def test_a_forked_child_is_not_mixed_in(recorded) -> None:
    done = recorded("forks")
    files = (done.folder / "run").glob("steps-*.arrows")
    assert len({file.name.split(".")[0] for file in files}) == 1
    stages = [
        json.loads(line)["stage"] for line in (done.folder / "run" / ".launch").read_text().splitlines()
    ]
    assert stages.count("recording") == 1

"""Checks inside a training: a fault that appears midway is reported once and can end the training."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import traindx
from tests.cli.process import environment
from traindx.live.checks import NOT_STOPPED, Checks, sentence_of

torch = pytest.importorskip("torch")


def losses(
    watch: Any, model: Any, optimizer: Any, steps: int, broken_from: float, stop: bool
) -> Iterator[int]:
    """A training by hand; from one step on its inputs are not numbers."""
    generator = torch.Generator().manual_seed(0)
    with watch:
        for step in range(steps):
            x = torch.randn(32, 8, generator=generator)
            wanted = (x[:, 0] > 0).long()
            loss = torch.nn.functional.cross_entropy(
                model(x * (math.nan if step >= broken_from else 1)), wanted
            )
            optimizer.zero_grad()
            loss.backward()
            watch.log(loss=loss)
            optimizer.step()
            yield step
            if stop and watch.why_stop:
                return


def trained(out: Path, steps: int = 200, broken_from: float = math.inf, **options: Any) -> tuple[int, str]:
    """The last step that was made, and the reason to end there."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    watch = traindx.watch(model, optimizer, out=out, check_every=20, **options)
    made = losses(watch, model, optimizer, steps, broken_from, bool(options.get("stop")))
    return max(made), watch.why_stop


def test_a_loop_learns_the_reason_to_stop_soon_after_the_fault(tmp_path: Path) -> None:
    reported: list[traindx.Diagnosis] = []
    last, why = trained(tmp_path, broken_from=70, stop=True, on_finding=reported.append)
    assert last == 79  # the first check after the fault
    assert why.startswith("stopped: ")
    assert len(reported) == 1
    assert "loss-not-finite" in {finding.slug for finding in reported[0].first.findings}


def test_without_stop_it_goes_on_and_the_fault_is_reported_once(tmp_path: Path) -> None:
    slugs: list[set[str]] = []
    last, _ = trained(
        tmp_path,
        steps=100,
        broken_from=31,
        on_finding=lambda d: slugs.append({f.slug for f in d.first.findings}),
    )
    assert last == 99
    assert sum("loss-not-finite" in found for found in slugs) == 1


def test_an_earlier_record_in_the_folder_ends_nothing(tmp_path: Path) -> None:
    """A script was corrected and started again."""
    assert trained(tmp_path, broken_from=70, stop=True)[1]
    for file in tmp_path.glob(f"*-0-{os.getpid()}*"):
        file.rename(tmp_path / file.name.replace(f"-{os.getpid()}", "-1"))
    assert trained(tmp_path, stop=True) == (199, "")
    assert len(traindx.read_all(tmp_path)) == 2


def test_a_healthy_training_hears_nothing(tmp_path: Path) -> None:
    last, why = trained(tmp_path, stop=True, on_finding=lambda _: pytest.fail("alarm"))
    assert (last, why) == (199, "")


def record(folder: Path, values: np.ndarray) -> Path:
    """A log of losses, written anew as a growing one would be."""
    log = folder / "train.csv"
    log.write_text("step,loss\n" + "".join(f"{step},{value:g}\n" for step, value in enumerate(values)))
    return log


def test_a_finding_that_flickers_is_reported_once(tmp_path: Path) -> None:
    """Judged alone, each diagnosis with the finding after one without it would be news."""
    fall = 2.0 * 0.99 ** np.arange(300)
    rise = np.concatenate([fall, fall[-1] * 1.02 ** np.arange(260)])
    checks = Checks()
    for end in (300, 420, 460, 500, 540, 560):
        checks.check(record(tmp_path, rise[:end]))
    assert [event.kind for event in checks.take()] == ["finding"]
    longer = 2.0 * 0.99 ** np.arange(600)
    for values in (longer, rise, longer, rise):  # a diagnosis without it in between
        checks.check(record(tmp_path, values))
    assert checks.take() == []


def test_a_resumed_training_repeats_nothing_and_resolves_nothing_early(tmp_path: Path) -> None:
    broken = np.concatenate([2.0 * 0.99 ** np.arange(60), [math.nan] * 5])
    before = Checks()
    assert before.check(record(tmp_path, broken)).startswith("stopped: ")
    assert len(before.take()) == 1
    after = Checks()
    after.resume(before.state())
    assert after.check(record(tmp_path, broken[:20])) == ""  # the new record is short and healthy: no news
    assert after.check(record(tmp_path, broken)).startswith("stopped: ")
    assert after.take() == []
    assert after.check(record(tmp_path, 2.0 * 0.99 ** np.arange(100))) == ""
    after.check(record(tmp_path, 2.0 * 0.99 ** np.arange(200)))
    assert [event.kind for event in after.take()] == ["resolved"]


def test_a_check_that_fails_ends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checks = Checks()
    assert [checks.check(tmp_path / "gone") for _ in range(3)] == ["", "", ""]
    assert capsys.readouterr().err.count("the training goes on") == 1


def test_an_alarm_that_raises_ends_the_training(tmp_path: Path) -> None:
    def alarm(_: traindx.Diagnosis) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path, broken_from=30, on_finding=alarm)


def test_sentences_name_the_step_at_which_it_began(tmp_path: Path) -> None:
    checks = Checks()
    checks.check(record(tmp_path, np.concatenate([np.linspace(2, 1, 40), [math.nan] * 3])))
    (event,) = checks.take()
    assert sentence_of(event).startswith("step 40: ")


BOOSTED = [name for name in ("xgboost", "lightgbm", "catboost") if importlib.util.find_spec(name)]


@pytest.mark.parametrize("name", BOOSTED)
@pytest.mark.parametrize(("rate", "ends"), [(2.5, 40), (0.1, 100)])
def test_boosting_ends_where_each_round_overshoots(
    name: str, rate: float, ends: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A step of 2.5 times the residuals makes them 1.5 times as large."""
    chance = np.random.default_rng(0)
    x = chance.normal(size=(400, 8))
    watch = importlib.import_module(f"traindx.{name}").Watch(check_every=20, stop=True)
    boost(name, x, x[:, 0] + x[:, 1], rate, watch)
    assert watch.record.session.step == ends
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("traindx: ")]
    assert len(said) == (2 if ends < 100 else 0)
    assert not said or (said[0].startswith("traindx: step ") and said[1].startswith("traindx: stopped: "))


def boost(name: str, x: np.ndarray, y: np.ndarray, rate: float, watch: Any) -> None:
    library = importlib.import_module(name)
    if name == "xgboost":
        model = library.XGBRegressor(n_estimators=100, learning_rate=rate, n_jobs=1, callbacks=[watch])
        model.fit(x, y, eval_set=[(x, y), (x, y)], verbose=False)
    elif name == "lightgbm":
        settings = {"objective": "regression", "verbose": -1, "learning_rate": rate, "num_threads": 1}
        sets = [library.Dataset(x, y)]
        library.train(settings, sets[0], 100, valid_sets=sets, valid_names=["train"], callbacks=[watch])
    else:
        model = library.CatBoostRegressor(
            iterations=100, learning_rate=rate, verbose=False, allow_writing_files=False, thread_count=1
        )
        model.fit(x, y, callbacks=[watch])


KERAS = """
import sys
import numpy as np, keras, traindx.keras

broken_from = int(sys.argv[1])
chance = np.random.default_rng(0)
x = chance.normal(size=(640, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

class Breaks(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == broken_from:
            first = self.model.layers[0]
            first.set_weights([np.full_like(w, np.nan) for w in first.get_weights()])

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.build((None, 8))
watch = traindx.keras.Watch(check_every=10, stop=True)
model.fit(x, y, epochs=12, batch_size=32, callbacks=[Breaks(), watch], verbose=0)
print(watch.session.step)
"""


@pytest.mark.skipif(not importlib.util.find_spec("keras"), reason="needs keras")
@pytest.mark.parametrize(("broken_from", "last"), [(4, 90), (-1, 240)])
def test_keras_ends_soon_after_the_fault(broken_from: int, last: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KERAS, str(broken_from)],
        env={**os.environ, "KERAS_BACKEND": "jax", "PYTHONPATH": str(Path(traindx.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == last
    said = [line for line in done.stderr.splitlines() if line.startswith("traindx: ")]
    assert len(said) == len(set(said))
    assert sum("train/loss is NaN" in line for line in said) == (broken_from > 0)
    assert broken_from > 0 or said == []


def trained_by_two(tmp_path: Path, place: str, watched: str) -> tuple[list[dict[str, Any]], str]:
    """Where and why each process left its loop, and what was printed on stderr."""
    free = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    script = Path(__file__).parents[1] / "scripts/ranks/ends_together.py"
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", *free, str(script)]
    done = subprocess.run(
        [*command, place, watched], cwd=tmp_path, env=environment(OMP_NUM_THREADS="1"),
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads((tmp_path / f"left{rank}.json").read_text()) for rank in range(2)], done.stderr


def test_processes_end_at_the_same_step(tmp_path: Path) -> None:
    """Twice in one folder: the second training is not ended by what the first one had agreed."""
    for _ in range(2):
        left, _ = trained_by_two(tmp_path, "record", "01")
        assert left[0] == left[1]
        assert "not finite" in left[0]["why"]
        assert 60 < left[0]["step"] < 120


@pytest.mark.parametrize(("place", "watched"), [("record{rank}", "01"), ("record", "0")])
def test_a_process_that_the_others_would_wait_for_goes_on(tmp_path: Path, place: str, watched: str) -> None:
    left, err = trained_by_two(tmp_path, place, watched)
    assert [(one["step"], one["why"]) for one in left] == [(399, ""), (399, "")]
    assert err.count(NOT_STOPPED) == len(watched)

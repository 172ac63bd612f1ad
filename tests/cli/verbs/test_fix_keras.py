"""`traindx fix`, `check` and `investigate` on a script of Keras, as a user types them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.capture.keras.keras_process import BACKENDS, environment
from tests.cli.process import traindx

if (
    importlib.util.find_spec("keras") is None
):  # not imported here, which would take TensorFlow as its backend
    pytest.skip("Keras is not installed", allow_module_level=True)

TRAIN = """
import json
import sys

import keras
import numpy as np

keras.utils.set_random_seed(3)
chance = np.random.default_rng(0)
y = chance.integers(0, 3, 640)
x = (np.array([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])[y] + 1.2 * chance.normal(size=(640, 2))).astype("float32")
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(32, "tanh"), keras.layers.Dense(3)])
model.compile(
    keras.optimizers.SGD(float(sys.argv[1])),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x[:512], y[:512], batch_size=16, epochs=8, validation_data=(x[512:], y[512:]), verbose=0)
print("predicted", json.dumps(model.predict(x[:4], verbose=0).tolist()))
"""
LOADS = """
import json
import sys

import keras
import numpy as np

model = keras.saving.load_model(sys.argv[1])
chance = np.random.default_rng(0)
y = chance.integers(0, 3, 640)
x = (np.array([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])[y] + 1.2 * chance.normal(size=(640, 2))).astype("float32")
print("predicted", json.dumps(model.predict(x[:4], verbose=0).tolist()))
"""
ENVIRONMENT = {**environment(BACKENDS[-1]), "PYTHONWARNINGS": "ignore"} if BACKENDS else {}


def project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN)
    return folder


def predicted(text: str) -> list[list[float]]:
    (line,) = [line for line in text.splitlines() if line.startswith("predicted")]
    return json.loads(line.removeprefix("predicted"))


@pytest.mark.slow
def test_the_fixed_model_is_handed_back(tmp_path: Path) -> None:
    here = project(tmp_path / "p")
    done = traindx(
        "fix",
        "-f",
        "json",
        "--",
        sys.executable,
        "train.py",
        "0.0001",
        cwd=here,
        env=ENVIRONMENT,
        limit=1200,
    )
    assert done.status == 0, done.err
    report = json.loads(done.out)
    assert (report["verdict"], report["applied"]) == ("fixed", ["raise-learning-rate"]), report["reason"]
    kept = report["checkpoint"]
    assert kept["path"].endswith(".keras"), kept
    records = here / report["folder"] / "records"
    (proven,) = [one.parent for one in records.glob("*/setup.json") if kept["sha256"] in one.read_text()]
    loaded = subprocess.run(
        [sys.executable, "-c", LOADS, str(here / kept["path"])],
        env=ENVIRONMENT, capture_output=True, text=True,
    )  # fmt: skip
    assert predicted(loaded.stdout) == predicted((proven / "stdout.log").read_text()), loaded.stderr
    assert not list(records.glob("*/*.keras"))


@pytest.mark.slow
def test_what_is_healthy_passes_its_checks(tmp_path: Path) -> None:
    here = project(tmp_path / "p")
    done = traindx(
        "check", "-f", "json", "--", sys.executable, "train.py", "0.1", cwd=here, env=ENVIRONMENT, limit=300
    )
    assert done.status == 0, done.err + done.out
    found = {one["slug"]: one for one in json.loads(done.out)["checks"]}
    for slug in (
        "determinism",
        "one-batch",
        "blank-inputs",
        "permuted-labels",
        "gradient-flow",
        "parameters-move",
    ):
        assert found[slug]["status"] == "passed", found[slug]


@pytest.mark.slow
def test_experiments_settle_a_cause(tmp_path: Path) -> None:
    here = project(tmp_path / "p")
    done = traindx(
        "investigate",
        "-f",
        "json",
        "--",
        sys.executable,
        "train.py",
        "0.0001",
        cwd=here,
        env=ENVIRONMENT,
        limit=600,
    )
    assert done.status == 1, done.err
    (run,) = json.loads(done.out)["runs"]
    assert run["hypotheses"][0]["cause"] == "learning-rate-too-low"

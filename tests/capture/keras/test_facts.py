"""What the loss of a compiled model is given: facts of layers and outputs."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from tests.capture.keras.keras_process import BACKENDS, started

if importlib.util.find_spec("keras") is None or not BACKENDS:
    pytest.skip("Keras or a backend is not installed", allow_module_level=True)

SCRIPT = """
import json

import keras
import numpy as np

from traindx.capture.keras.facts import Loss

keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(40, 8)).astype("f4")
dense, twice = keras.layers.Dense, keras.layers.Softmax
plain, logits = "sparse_categorical_crossentropy", keras.losses.SparseCategoricalCrossentropy(from_logits=True)
found = {}
for name, last, loss in (
    ("one softmax", [dense(4, "softmax")], plain),
    ("a softmax layer", [dense(4), twice()], plain),
    ("two softmaxes", [dense(4, "softmax"), twice()], plain),
    ("scores", [dense(4)], logits),
    ("a small net that has learned nothing", [dense(4, "softmax", kernel_initializer="zeros")], plain),
):
    model = keras.Sequential([keras.Input((8,)), dense(16, "relu"), *last])
    model.compile("adam", loss)
    fed = Loss(model)
    scores = np.asarray(fed.scores(model.predict(x, verbose=0)))
    looks = bool(scores.min() >= 0 and scores.max() <= 1 and np.allclose(scores.sum(-1), 1, atol=1e-5))
    found[name] = fed.facts()["outputs_last_activation"], looks
print(json.dumps(found))
"""


def test_two_softmaxes_feed_probabilities_to_the_loss(tmp_path: Path) -> None:
    found = json.loads(started(BACKENDS[0], SCRIPT, tmp_path).splitlines()[-1])
    assert found.pop("two softmaxes") == ["softmax", True]
    assert all(facts == ["none", False] for facts in found.values()), found

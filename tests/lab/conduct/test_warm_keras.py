"""Starts of a Keras script forked from a Python with torch in it, which Keras imports as its backend."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from traindx.lab.conduct.attempts import Starter, attempt
from traindx.lab.conduct.warm import Warm

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux forks safely"),
    pytest.mark.skipif(find_spec("keras") is None, reason="needs Keras"),
]

KERAS = """
import sys
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(int(sys.argv[1]))
x = np.random.randn(256, 12).astype("float32")
y = (x @ np.random.randn(12, 3)).argmax(1)
model = keras.Sequential([layers.Dense(16, activation="tanh"), layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=2, batch_size=32, verbose=2)
"""


@pytest.mark.parametrize(("line", "forked"), [
    ('os.environ["KERAS_BACKEND"] = "torch"', True), ("os.environ.setdefault('KERAS_BACKEND', 'torch')", True),
    ('os.environ["KERAS_BACKEND"] = "jax"', False), ('print("KERAS_BACKEND is torch")', False),
])  # fmt: skip
def test_a_backend_that_the_script_chooses_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, forked: bool
) -> None:
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    (tmp_path / "train.py").write_text(f"import os\n{line}\nimport keras\n", encoding="utf-8")
    assert (Warm([sys.executable, "train.py"], tmp_path, reserve="torch").why == "") is forked


def test_a_script_that_gets_torch_from_keras_is_forked_with_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (project / "train.py").write_text(KERAS, encoding="utf-8")
    monkeypatch.chdir(project)
    command = [sys.executable, "train.py", "5"]
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    assert "that imports torch itself" in Warm(command, project, reserve="torch").why
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    starter, losses = Starter(command, project, 1), []
    for name, start in (("started", attempt), ("forked", starter)):
        tried = start(command, project.parent / name, ("seed=3",), None, threads=1)  # type: ignore[operator]
        assert tried.conducted.ok, tried.conducted.tail
        assert tried.conducted.warm == (name == "forked"), starter.note()
        losses.append(tried.run.series["train/loss"].values)
    starter.warm.close()
    assert len(losses[0]) > 10
    assert np.array_equal(*losses)

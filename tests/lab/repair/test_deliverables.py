"""What is handed back is looked at first: a file that was changed, cut short or is not finite is not given."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests import traced
from traindx.lab.conduct.attempts import Attempt
from traindx.lab.repair.bench import Arm
from traindx.lab.repair.deliverables import MODEL, busy_share, checkpoint, last_test_values, sha256
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Fact, Setup


def stored(folder: Path, values: np.ndarray) -> Path:
    """A safetensors file with one tensor."""
    data = values.astype("<f4").tobytes()
    layout = {"w": {"dtype": "F32", "shape": list(values.shape), "data_offsets": [0, len(data)]}}
    header = json.dumps(layout).encode()
    folder.mkdir(parents=True)
    file = folder / MODEL
    file.write_bytes(len(header).to_bytes(8, "little") + header + data)
    return file


def given(tmp_path: Path, facts: dict[str, Fact]) -> Any:
    """What is handed back of the record `1`."""
    run = Run(id="r", source="", format="traindx", framework="torch", series={}, setup=Setup(facts=facts))
    arm = Arm(("lr=*0.1",), 1, run, True, 1.0, "", "1")
    return checkpoint(SimpleNamespace(records=tmp_path / "records"), arm, tmp_path)  # type: ignore[arg-type]


def test_a_whole_file_is_copied_with_its_digest(tmp_path: Path) -> None:
    file = stored(tmp_path / "records" / "1", np.arange(6.0).reshape(2, 3))
    found = given(tmp_path, {"model_sha256": sha256(file), "model_tensors": 1})
    assert found.why == ""
    assert Path(found.path).read_bytes() == file.read_bytes()
    assert (found.sha256, found.bytes, found.tensors) == (sha256(file), file.stat().st_size, 1)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: data[:-1] + b"\x01", "digest"),
        (lambda data: data[:-5], "ends before"),
        (lambda data: data[:-4] + np.float32(np.inf).tobytes(), "not finite"),
        (lambda data: data[:8] + b"x" + data[9:], "not returned"),
    ],
    ids=["a bit changed", "cut short", "infinite", "no header"],
)
def test_a_damaged_one_is_not_given(tmp_path: Path, damage: Any, words: str) -> None:
    file = stored(tmp_path / "records" / "1", np.arange(6.0).reshape(2, 3))
    digest = sha256(file)
    file.write_bytes(damage(file.read_bytes()))
    found = given(tmp_path, {"model_sha256": digest, "model_tensors": 1})
    assert found.path is None
    assert words in found.why
    assert not (tmp_path / MODEL).exists()


def test_the_reason_for_no_deliverable_is_given(tmp_path: Path) -> None:
    assert "GB" in given(tmp_path, {"model_not_kept": "the state has 3.0 GB"}).why
    assert "to its end" in given(tmp_path, {}).why


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("test_acc 0.8906", {"test/accuracy": 0.8906}),
        ("Final test accuracy: 91.5%", {"test/accuracy": 0.915}),
        ("test/loss=3.2e-1, test/f1=0.5", {"test/loss": 0.32, "test/f1": 0.5}),
        ("Test set rmse is 2", {"test/rmse": 2.0}),
        ("latest_loss 0.3, contest score 4", {}),
        ("test", {}),
    ],
)
def test_what_was_printed_once_of_a_test_set_is_read(
    tmp_path: Path, line: str, found: dict[str, float]
) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "stdout.log").write_text(f"epoch 3 loss 0.2\n{line}\n")
    arm = Arm((), 1, None, True, 1.0, "", "1")
    assert last_test_values(SimpleNamespace(records=tmp_path), arm) == found  # type: ignore[arg-type]


def test_how_busy_the_accelerator_is_comes_from_a_trace_that_has_one() -> None:
    parts = traced.step(0.01, data=0.1, forward=0.2, backward=0.3, optimizer=0.1)
    with_one, without = (Attempt(None, traced.run(parts, device=device)) for device in (True, False))  # type: ignore[arg-type]
    assert busy_share(with_one) == pytest.approx(0.7, abs=0.01)
    assert busy_share(without) is None
    assert busy_share(Attempt(None, None, "nothing was traced")) is None  # type: ignore[arg-type]

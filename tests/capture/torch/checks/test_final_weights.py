"""The weights that an arm leaves: those that the script itself ended with, to the last bit, in a form without code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from traindx import pipeline
from traindx.lab.conduct import attempts
from traindx.lab.conduct.checkpoints import inspect
from traindx.lab.repair.deliverables import sha256

SCRIPT = """
import torch
from torch import nn
torch.manual_seed(0)

def main():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    EXTRA
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(30):
        optimizer.zero_grad()
        model(torch.randn(8, 3)).square().mean().backward()
        optimizer.step()
    torch.save(model.state_dict(), "OWN")

main()  # the model is gone when the process ends
"""


def kept(tmp_path: Path, extra: str = "pass") -> tuple[Path, dict[str, object]]:
    """The folder of a start that kept its weights, and the facts that it recorded."""
    here = tmp_path / "project"
    here.mkdir()
    own = tmp_path / "own"
    own.mkdir()
    (here / "train.py").write_text(SCRIPT.replace("EXTRA", extra).replace("OWN", str(own / "state.pt")))
    done = attempts.attempt(
        [sys.executable, "train.py"],
        tmp_path / "record",
        [],
        None,
        keep=True,
        folder=here,
        writable=[str(own)],
    )
    assert done.conducted.ok, done.conducted.tail
    return tmp_path / "record", pipeline.read(tmp_path / "record").setup.facts


def tensors(file: Path) -> dict[str, np.ndarray]:
    """What a safetensors file holds, read after its definition."""
    data = file.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    kinds = {"F32": np.float32, "I64": np.int64, "BOOL": np.bool_}
    return {
        name: np.frombuffer(
            data[8 + length + entry["data_offsets"][0] : 8 + length + entry["data_offsets"][1]],
            kinds[entry["dtype"]],
        ).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def test_they_are_what_the_script_ended_with(tmp_path: Path) -> None:
    record, facts = kept(tmp_path)
    file = record / "model.safetensors"
    own = {name: value.numpy() for name, value in torch.load(tmp_path / "own" / "state.pt").items()}
    found = tensors(file)
    assert list(found) == list(own)
    for name in own:
        assert np.array_equal(found[name], own[name]), name
        assert found[name].dtype == own[name].dtype
    assert facts["model_sha256"] == sha256(file)
    assert facts["model_tensors"] == len(own)
    looked = inspect(file, float("inf"))
    assert (looked.broken, looked.bad, looked.known) == ("", (), True)
    assert not list(record.glob("*.part"))


def test_others_read_them(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.torch")
    record, _ = kept(tmp_path)
    own = torch.load(tmp_path / "own" / "state.pt")
    found = library.load_file(record / "model.safetensors")
    assert all(torch.equal(found[name], own[name]) for name in own)


def test_a_state_with_objects_in_it_is_not_written(tmp_path: Path) -> None:
    extra = "type(model[0]).get_extra_state = lambda self: {'when': 1}; type(model[0]).set_extra_state = lambda s, x: 0"
    record, facts = kept(tmp_path, extra)
    assert not (record / "model.safetensors").exists()
    assert "not a tensor" in str(facts["model_not_kept"])

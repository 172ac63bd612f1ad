from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from traindx.lab.conduct import checkpoints
from traindx.lab.conduct.checkpoints import Inspected, inspect

SOON = float("inf")


def safetensors(tensors: dict[str, np.ndarray], kinds: dict[str, str] | None = None) -> bytes:
    """A file as the format's page describes it."""
    names = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64", "uint16": "BF16"}
    header, data = {}, b""
    for name, values in tensors.items():
        raw = values.tobytes()
        kind = (kinds or {}).get(name, names[str(values.dtype)])
        header[name] = {
            "dtype": kind,
            "shape": list(values.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    head = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    return struct.pack("<Q", len(head)) + head + data


def written(path: Path, data: bytes) -> Inspected:
    path.write_bytes(data)
    return inspect(path, SOON)


def test_whole_and_finite(tmp_path: Path) -> None:
    tensors = {
        "w": np.ones((3, 5), np.float32),
        "n": np.arange(4),
        "h": np.ones(3, np.float16),
        "s": np.float64(2),
    }
    found = written(tmp_path / "a.safetensors", safetensors({k: np.asarray(v) for k, v in tensors.items()}))
    assert found == Inspected(tmp_path / "a.safetensors")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_one_bad_value_is_found(tmp_path: Path, kind: type, bad: float) -> None:
    values = np.ones((50, 7), kind)
    values[31, 2] = bad
    found = written(tmp_path / "a.safetensors", safetensors({"good": np.ones(3, kind), "w": values}))
    assert found.bad == ("w",)


def test_bfloat16_by_its_bits(tmp_path: Path) -> None:
    """The upper half of a float32: all exponent bits set means not finite."""
    values = np.array([1.0, -3.5e38 / 2, 1e-30, 65504.0], np.float32)
    bits = (values.view(np.uint32) >> 16).astype(np.uint16)
    assert written(tmp_path / "a.safetensors", safetensors({"w": bits})).bad == ()
    broken = (np.array([1.0, np.nan], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    assert written(tmp_path / "b.safetensors", safetensors({"w": broken})).bad == ("w",)


@pytest.mark.parametrize("size", [0, 4, 8, 20, -1, -30])
def test_cut_short(tmp_path: Path, size: int) -> None:
    whole = safetensors({"w": np.ones((4, 9), np.float32)})
    assert written(tmp_path / "a.safetensors", whole[:size]).broken


def test_hostile_headers(tmp_path: Path) -> None:
    def with_header(description: object) -> bytes:
        head = json.dumps(description).encode()
        return struct.pack("<Q", len(head)) + head + b"\0" * 64

    for description in (
        [], {"w": 3}, {"w": {}}, {"w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 10**12]}},
        {"w": {"dtype": "F32", "shape": [4], "data_offsets": [-8, 8]}},
        {"w": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 16]}},
        {"w": {"dtype": "F32", "shape": "no", "data_offsets": [0, 16]}},
        {"w": {"dtype": ["F32"], "shape": [4], "data_offsets": [0, 16]}},
    ):  # fmt: skip
        assert written(tmp_path / "a.safetensors", with_header(description)).broken, description
    assert written(tmp_path / "a.safetensors", struct.pack("<Q", 2**60) + b"{}").broken


def archive(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return buffer.getvalue()


class Trap:
    """Would leave a file if it were ever unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Path.touch, (self.place,)  # type: ignore[return-value]


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    import pickle

    trap = pickle.dumps(Trap(tmp_path / "sprung"), protocol=2)
    assert written(tmp_path / "a.pt", archive({"a/data.pkl": trap})) == Inspected(tmp_path / "a.pt")
    assert written(tmp_path / "old.pt", trap) == Inspected(tmp_path / "old.pt", known=False)
    assert not (tmp_path / "sprung").exists()


def test_a_pickle_of_nonsense_is_broken(tmp_path: Path) -> None:
    assert written(tmp_path / "a.pt", archive({"a/data.pkl": b"\x80\x02\xff\xff"})).broken


def test_what_torch_writes(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(
        torch.nn.Linear(20, 30), torch.nn.BatchNorm1d(30), torch.nn.Linear(30, 5).double()
    )
    optimizer = torch.optim.Adam(model.parameters())
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        state = {
            "model": model.to(dtype).state_dict(),
            "optimizer": optimizer.state_dict(),
            "epoch": 3,
            "x": [1, "a"],
        }
        torch.save(state, tmp_path / "good.pt")
        assert inspect(tmp_path / "good.pt", SOON) == Inspected(tmp_path / "good.pt")
        state["model"]["0.weight"] = state["model"]["0.weight"].clone()
        state["model"]["0.weight"][3, 4] = float("inf")
        torch.save(state, tmp_path / "bad.pt")
        assert inspect(tmp_path / "bad.pt", SOON).bad, dtype
    torch.save(model, tmp_path / "whole.ckpt")
    assert inspect(tmp_path / "whole.ckpt", SOON) == Inspected(tmp_path / "whole.ckpt")


def test_damage_to_what_torch_writes(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"w": torch.randn(100, 100)}, tmp_path / "good.pt")
    whole = (tmp_path / "good.pt").read_bytes()
    assert "cut short" in written(tmp_path / "cut.pt", whole[: len(whole) // 2]).broken
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    assert "CRC" in written(tmp_path / "flipped.pt", bytes(flipped)).broken
    assert written(tmp_path / "empty.pt", b"").broken


def test_facts_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".venv").mkdir()
    good, bad = (
        safetensors({"w": np.ones(3, np.float32)}),
        safetensors({"w": np.full(3, np.nan, np.float32)}),
    )
    (tmp_path / "a.safetensors").write_bytes(good)
    (tmp_path / "deep" / "er" / "b.safetensors").write_bytes(bad)
    (tmp_path / ".venv" / "c.safetensors").write_bytes(bad)
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "d.ckpt").write_bytes(b"PK\x03\x04rest")
    found = checkpoints.facts(tmp_path)
    assert (found["checkpoints_seen"], found["checkpoints_unreadable"], found["checkpoints_not_finite"]) == (
        3,
        1,
        1,
    )
    assert found["checkpoints_not_finite_names"] == "deep/er/b.safetensors (w)"
    assert "d.ckpt" in str(found["checkpoints_unreadable_names"])
    assert checkpoints.facts(tmp_path / "deep" / "er")["checkpoints_seen"] == 1

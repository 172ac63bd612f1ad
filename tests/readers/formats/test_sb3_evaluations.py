from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from traindx.errors import NotALog, ReadError
from traindx.readers import read_path
from traindx.readers.formats import sb3_evaluations
from traindx.readers.raw import HEAD_BYTES, RawLog, Source

LOGS = Path(__file__).parents[2] / "logs"
MADE = LOGS / "sb3" / "evaluations.npz"
LOGGED = json.loads((LOGS / "oracles" / "sb3.json").read_text())["evaluations"]


def source(data: bytes) -> Source:
    return Source("evaluations.npz", data=data, head=data[:HEAD_BYTES])


def read(data: bytes) -> RawLog:
    return sb3_evaluations.read(source(data))[0]


def packed(**arrays: object) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def test_means_and_deviations_of_what_the_callback_saw():
    log = read(MADE.read_bytes())
    assert not log.events
    for member, name in (("results", "val/reward"), ("ep_lengths", "val/episode_length")):
        rows = [np.array(r) for r in LOGGED[member]]
        mean, spread = log.columns[name], log.columns[f"{name}_std"]
        assert mean.steps.tolist() == LOGGED["timesteps"]
        np.testing.assert_allclose(mean.values, [sum(r) / len(r) for r in rows], rtol=1e-12)
        deviations = [(sum((r - sum(r) / len(r)) ** 2) / len(r)) ** 0.5 for r in rows]
        np.testing.assert_allclose(spread.values, deviations, rtol=1e-9, atol=1e-12)


def test_becomes_a_run():
    (run,) = read_path(str(MADE))
    assert run.last_step == LOGGED["timesteps"][-1]
    assert len(run.series["val/reward"]) == len(LOGGED["timesteps"])


def test_successes_and_single_episodes():
    log = read(
        packed(timesteps=[1, 2], results=[[3.0], [4.0]], ep_lengths=[[5], [6]], successes=[[True], [False]])
    )
    assert log.columns["val/success_rate"].values.tolist() == [1.0, 0.0]
    assert "val/reward_std" not in log.columns


def test_claims_only_its_own():
    assert sb3_evaluations.sniff(source(MADE.read_bytes())) == 1.0
    assert sb3_evaluations.sniff(source(packed(weights=np.ones(3)))) == 0.0
    others = [p for p in LOGS.rglob("*") if p.is_file() and p.suffix != ".npz"]
    assert not [p for p in others if sb3_evaluations.sniff(source(p.read_bytes()))]


class Bomb:
    """Leaves a trace if anybody unpickles it."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_pickled_objects_are_refused_and_not_run(tmp_path):
    trace = tmp_path / "unpickled"
    ragged = np.array([[1.0, 2.0], [3.0], Bomb(trace)], dtype=object)
    data = packed(timesteps=np.arange(3), results=ragged, ep_lengths=np.ones((3, 2)))
    with pytest.raises(ReadError, match=r"results.npy.*never loaded"):
        read(data)
    assert not trace.exists()
    log = read(packed(timesteps=np.arange(3), results=np.ones((3, 2)), ep_lengths=ragged))
    assert set(log.columns) == {"val/reward", "val/reward_std"}
    assert [e.place for e in log.events] == ["ep_lengths.npy"]
    assert not trace.exists()


def test_rows_that_do_not_match_are_reported():
    log = read(packed(timesteps=[1, 2, 3], results=np.ones((2, 4)), ep_lengths=np.ones((3, 4))))
    assert len(log.columns["val/reward"].values) == 2
    assert "the first 2 are kept" in log.events[0].message


def test_other_archives_are_refused():
    with pytest.raises(NotALog, match="without `timesteps`"):
        read(packed(weights=np.ones(3)))
    with pytest.raises(NotALog):
        read(packed(timesteps=[], results=np.ones((0, 2))))


def test_a_shape_that_its_bytes_do_not_hold_takes_no_memory():
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 8), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("timesteps.npy", b"\x93NUMPY\x01\x00v\x00" + header)
        archive.writestr("results.npy", b"\x93NUMPY\x01\x00v\x00" + header)
    with pytest.raises(ReadError, match=r"timesteps.npy.*more than its"):
        read(out.getvalue())


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3000), st.binary(max_size=3)), min_size=1, max_size=4),
    st.integers(0, 3000),
)
def test_no_damage_raises_anything_but_read_error(changes, cut):
    data = bytearray(MADE.read_bytes())
    for at, octets in changes:
        data[at : at + 3] = octets
    del data[len(data) - cut // 100 :]
    try:
        read(bytes(data))
    except ReadError:
        return

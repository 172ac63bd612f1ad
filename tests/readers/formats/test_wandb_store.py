from __future__ import annotations

import gzip
import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.readers.writers.tfevents import block, varint
from traindx.errors import NotALog, ReadError
from traindx.readers import read_path
from traindx.readers.files.wandb_log import BLOCK
from traindx.readers.formats import wandb_store
from traindx.readers.raw import HEAD_BYTES, RawLog, Source

LOGS = Path(__file__).parents[2] / "logs"
LOGGED = json.loads((LOGS / "oracles" / "wandb.json").read_text())
HEADER = b":W&B" + struct.pack("<HB", 0xBEE1, 0)


def source(data: bytes) -> Source:
    return Source("run.wandb", data=data, head=data[:HEAD_BYTES])


def read(data: bytes) -> RawLog:
    return wandb_store.read(source(data))[0]


def written(records: list[bytes]) -> bytes:
    """The log file of these records: LevelDB's writer, as its documentation describes it."""
    out = bytearray(HEADER)
    for record in records:
        first, left = True, record
        while first or left:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            part, left = left[: room - 7], left[room - 7 :]
            kind = bytes([1 if first and not left else 2 if first else 3 if left else 4])
            out += struct.pack("<IH", zlib.crc32(kind + part), len(part)) + kind + part
            first = False
    return bytes(out)


def row(step: int, **cells: object) -> bytes:
    """A history record as W&B writes it: JSON texts, and the step."""
    items = [
        block(1, block(2, key.encode()) + block(16, json.dumps(value).encode()))
        for key, value in cells.items()
    ]
    return block(2, b"".join(items) + block(2, b"\x08" + varint(step)))


def record(kind: str) -> bytes:
    return (LOGS / "wandb" / kind / "run-made.wandb").read_bytes()


@pytest.mark.parametrize("kind", ["declared", "plain"])
def test_finds_what_was_logged(kind):
    log = read(record(kind))
    rows = LOGGED[kind]
    for name in ("train/loss", "eval/loss", "eval/accuracy", "train/global_step"):
        expected = [float(r[name]) for r in rows if name in r]
        np.testing.assert_array_equal(log.columns[name].values, expected)
        assert log.columns[name].rows.tolist() == [i for i, r in enumerate(rows) if name in r]
    assert log.columns["nested.lr.group0"].values.tolist() == [0.1] * sum("nested" in r for r in rows)
    assert log.facts == {
        "lr": 0.1,
        "batch_size": 32.0,
        "planned_epochs": 5.0,
        "optimizer": "sgd",
        "momentum": 0.9,
    }
    assert not {"word", "ok", "weights", "_runtime", "_timestamp"} & log.columns.keys()
    assert (np.diff(log.columns["train/loss"].times) >= 0).all()
    assert log.axis == "train/global_step"
    assert not [e for e in log.events if e.code]


def test_exit_is_reported():
    assert read(record("declared")).complete is True
    failed = read(record("plain"))
    assert failed.complete is False
    assert [e.kind for e in failed.events] == ["out-of-memory"]


def test_folder_is_one_run():
    folder = LOGS / "wandb" / "declared"
    assert wandb_store.sniff_folder(folder) > 0.5
    assert wandb_store.sniff_folder(LOGS) == 0
    (run,) = read_path(str(folder))
    assert run.last_step == 398
    assert len(run.series["train/loss"]) == 200
    assert "mem/host" in run.series


def test_axis_is_the_own_count_without_another():
    log = read(written([row(s, loss=1.0 / (1 + s)) for s in range(5)]))
    assert log.axis == "_step"
    falling = read(written([row(s, loss=1.0, global_step=9 - s) for s in range(5)]))
    assert falling.axis == "_step"
    rare = read(written([row(s, loss=1.0, **({"global_step": s} if s == 3 else {})) for s in range(5)]))
    assert rare.axis == "_step"


def test_all_spellings_of_not_a_number():
    cells = [
        float("nan"),
        "NaN",
        "Infinity",
        "-Infinity",
        float("inf"),
        None,
        "text",
        True,
        [1, 2],
        10**400,
        3,
    ]
    values = read(written([row(s, loss=cell) for s, cell in enumerate(cells)])).columns["loss"]
    np.testing.assert_array_equal(values.values, [np.nan, np.nan, np.inf, -np.inf, np.inf, np.inf, 3])
    assert values.rows.tolist() == [0, 1, 2, 3, 4, 9, 10]


@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=12))
@settings(max_examples=40, deadline=None)
def test_records_of_any_size_over_any_blocks(sizes):
    log = read(written([row(s, loss=float(s), word="x" * size) for s, size in enumerate(sizes)]))
    assert log.columns["loss"].values.tolist() == [float(s) for s in range(len(sizes))]
    assert not log.events


def test_cut_at_any_byte_keeps_whole_rows():
    records = [row(s, loss=float(s)) for s in range(6)]
    data = written(records)
    ends = [len(written(records[: n + 1])) for n in range(6)]
    for stop in range(ends[0], len(data)):
        log = read(data[:stop])
        whole = sum(end <= stop for end in ends)
        assert log.columns["loss"].values.tolist() == list(range(whole))
        partial = stop - ends[whole - 1] >= 7  # fewer bytes are not even the head of a record
        assert [e.code for e in log.events] == (["partial-tail"] if partial else [])


@pytest.mark.parametrize("blocks", [1, 4, 16])
def test_cut_at_a_block_as_after_a_kill(blocks):
    """W&B writes whole blocks: the last record goes on in a block that was never written."""
    data = written([row(s, loss=float(s), word="x" * 300) for s in range(4000)])[: blocks * BLOCK]
    log = read(data)
    values = log.columns["loss"].values
    assert values.tolist() == list(range(len(values)))
    assert [e.code for e in log.events] == ["partial-tail"]


def test_every_flipped_byte_is_noticed_and_costs_one_row():
    data = written([row(s, loss=float(s)) for s in range(12)])
    for at in range(len(HEADER), len(data)):
        hurt = bytearray(data)
        hurt[at] ^= 0x10
        log = read(bytes(hurt))
        assert len(log.events) == 1, at
        assert len(log.columns["loss"].values) == 11
        assert set(log.columns["loss"].values) <= set(range(12))


def test_goes_on_behind_what_was_overwritten():
    records = [row(s, loss=float(s), word="x" * 1000) for s in range(100)]
    data = bytearray(written(records))
    data[40:3000] = bytes(2960)
    log = read(bytes(data))
    values = log.columns["loss"].values
    assert values.tolist() == list(range(3, 100))  # the bytes of three rows were overwritten
    assert "parse-warning" in [e.kind for e in log.events]


def test_nothing_saved_is_refused():
    with pytest.raises(NotALog, match="without a history row"):
        read(written([block(17, block(1, b"id"))]))
    with pytest.raises(ReadError, match="byte 7"):
        read(HEADER + b"\x01" * 300 + bytes(BLOCK))


def test_sniffs_by_content():
    assert wandb_store.sniff(source(record("plain"))) == 1.0
    others = [p for p in LOGS.rglob("*") if p.is_file() and p.suffix != ".wandb"]
    assert not [p for p in others if wandb_store.sniff(Source(p.name, head=p.read_bytes()[:HEAD_BYTES]))]


def test_cut_while_compressed(tmp_path):
    path = tmp_path / "run.wandb.gz"
    packed = gzip.compress(record("declared"))
    path.write_bytes(packed[: len(packed) // 2])
    log = wandb_store.read(Source(str(path), path))[0]
    assert (
        log.columns["train/loss"].values.tolist()[:5]
        == [r["train/loss"] for r in LOGGED["declared"] if "train/loss" in r][:5]
    )
    assert log.events


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["declared", "plain"]),
    st.lists(st.tuples(st.integers(0, 75_000), st.binary(max_size=9)), max_size=6),
)
def test_no_damage_raises_anything_but_read_error(kind, changes):
    data = bytearray(record(kind))
    for at, octets in changes:
        data[at : at + 9] = octets  # shorter ones take bytes away
    try:
        log = read(bytes(data))
    except ReadError:
        return
    assert log.columns

from __future__ import annotations

import gzip
import io
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.readers.writers import tfevents as w
from traindx.errors import NotALog, ReadError
from traindx.readers import read_path
from traindx.readers.formats import tensorboard
from traindx.readers.raw import HEAD_BYTES, RawLog, Source
from traindx.readers.tfevents.crc import crc32c, mask_crc
from traindx.readers.tfevents.files import decode
from traindx.readers.tfevents.frames import FrameReader
from traindx.readers.tfevents.template import MOST_NAMES

LOGS = Path(__file__).parents[2] / "logs"
MADE = ("tensorboard_torch", "tensorboard_keras", "tensorboard_catboost")
FILES = [
    (name, file, tags)
    for name in MADE
    for file, tags in json.loads((LOGS / "oracles" / f"{name}.json").read_text()).items()
]


def source(data: bytes, name: str = "events") -> Source:
    return Source(name, data=data, head=data[:HEAD_BYTES])


def read(data: bytes) -> RawLog:
    return tensorboard.read(source(data))[0]


def loss_file(count: int, first: int = 0) -> bytes:
    return w.file(
        [
            w.event(1.7e9 + s, s, w.simple("loss" if s % 3 else "val/accuracy", 1 / (1 + s)))
            for s in range(first, count)
        ]
    )


@pytest.mark.parametrize(("folder", "file", "tags"), FILES, ids=[f"{n}/{f[:30]}" for n, f, _ in FILES])
def test_finds_what_tensorboard_itself_finds(folder, file, tags):
    data = (LOGS / folder / file).read_bytes()
    assert tensorboard.sniff(source(data)) == 1.0
    found = decode(io.BytesIO(data))
    assert found.columns.keys() == tags.keys()
    assert not found.damage
    assert found.tail is None
    for tag, column in found.columns.items():
        np.testing.assert_array_equal(column.steps, tags[tag]["steps"])
        np.testing.assert_array_equal(column.times, tags[tag]["times"])
        np.testing.assert_array_equal(column.values, tags[tag]["values"])


def test_claims_only_its_own():
    others = [p for p in LOGS.rglob("*") if p.is_file() and "tfevents" not in p.name]
    assert len(others) > 10
    assert not [p for p in others if tensorboard.sniff(source(p.read_bytes(), p.name))]


def test_resumed_run_with_charts_and_hyperparameters_is_one_run():
    (log,) = tensorboard.read_folder(LOGS / "tensorboard_torch")
    assert {"train/loss", "loss/train", "loss/val", "hparam/accuracy"} <= log.columns.keys()
    losses = log.columns["train/loss"]
    assert losses.steps.tolist() == [*range(220), *range(200, 320)]  # killed, resumed from a checkpoint
    assert (np.diff(losses.rows) > 0).all()
    together = log.columns["train/grad_norm"]
    assert (together.rows - losses.rows == 1).all()  # written one after the other
    assert log.facts["lr"] == 0.1
    assert log.facts["momentum"] == 0.9
    assert log.facts["optimizer"] == "sgd"
    (run,) = read_path(str(LOGS / "tensorboard_torch"))
    assert [e.kind for e in run.events] == ["resume"]
    assert len(run.series["train/loss"]) == 320


def test_splits_of_keras_are_one_run_and_its_neighbour_another():
    fit, types = tensorboard.read_folder(LOGS / "tensorboard_keras")
    assert {"train/epoch_loss", "validation/epoch_loss"} <= fit.columns.keys()
    assert (fit.framework, fit.axis_kind) == ("keras", "epoch")
    assert "number/bfloat16" in types.columns
    (alone,) = tensorboard.read_folder(LOGS / "tensorboard_keras" / "fit" / "validation")
    assert "validation/epoch_loss" in alone.columns


def test_folders_are_claimed_by_content(tmp_path):
    assert tensorboard.sniff_folder(LOGS / "tensorboard_keras" / "fit") > 0.5
    assert tensorboard.sniff_folder(LOGS / "tensorboard_torch") > 0.5
    assert tensorboard.sniff_folder(LOGS) == 0
    (tmp_path / "events.out.tfevents.1").write_text("step,loss\n1,2\n")
    assert tensorboard.sniff_folder(tmp_path) == 0
    with pytest.raises(NotALog):
        tensorboard.read_folder(tmp_path)


def test_writers_that_took_turns_are_interleaved(tmp_path):
    for name, offset in (("a", 0.0), ("b", 0.5)):
        events = [w.event(1.7e9 + s + offset, s, w.simple(name, s)) for s in range(5)]
        (tmp_path / f"events.out.tfevents.{name}").write_bytes(w.file(events))
    (log,) = tensorboard.read_folder(tmp_path)
    assert log.columns["a"].rows.tolist() == [0, 2, 4, 6, 8]
    assert log.columns["b"].rows.tolist() == [1, 3, 5, 7, 9]


def test_checksum_is_crc32c():
    assert w.crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C (iSCSI)
    rng = np.random.default_rng(0)
    data = rng.integers(0, 256, 200_000).astype(np.uint8)
    lengths = np.array(
        [0, 1, 3, 4, 255, 256, 257, 511, 512, 65535, 65536, 65537, 140_000, *rng.integers(0, 900, 50)]
    )
    starts = np.array([int(rng.integers(0, len(data) - n + 1)) for n in lengths])
    expected = [w.crc32c(data[a : a + n].tobytes()) for a, n in zip(starts, lengths, strict=True)]
    assert crc32c(data, starts, lengths).tolist() == expected
    assert (
        mask_crc(np.array([0x12345678], np.uint32))[0]
        == ((0x12345678 >> 15 | 0x12345678 << 17) + 0xA282EAD8) & 0xFFFFFFFF
    )


TAGS = st.sampled_from(["loss", "a", "train/acc", "val/loss", "time/step_time", "é", "x" * 60])
NUMBERS = st.floats(width=32)
STEPS = st.one_of(st.integers(0, 300), st.sampled_from([0, 127, 128, 16383, 16384, 2**21, 2**31, 2**40, -1]))
VALUES = st.tuples(st.sampled_from([w.simple, w.tensor, w.double]), TAGS, NUMBERS)
EVENTS = st.tuples(
    st.floats(1e9, 2e9), STEPS, st.lists(VALUES, min_size=0, max_size=3), st.binary(max_size=40)
)


@settings(max_examples=60, deadline=None)
@given(st.lists(EVENTS, max_size=12), st.integers(1, 30))
def test_any_layout_equals_what_was_written(kinds, repeats):
    events, expected, row = [], {}, 0
    for _ in range(repeats):
        for wall, step, values, octets in kinds:
            row += 1
            parts = [make(tag, value) for make, tag, value in values]
            events.append(w.event(wall, step, *parts, *([w.histogram("h", octets)] if octets else [])))
            for _, tag, value in values:
                expected.setdefault(tag, []).append((row, wall, step, value))
    found = decode(io.BytesIO(w.file(events)))
    assert not found.damage
    assert found.columns.keys() == expected.keys()
    for tag, column in found.columns.items():
        rows, walls, steps, values = zip(*expected[tag], strict=True)
        assert column.rows.tolist() == list(rows)
        assert column.times.tolist() == list(walls)
        assert column.steps.tolist() == list(steps)
        np.testing.assert_array_equal(column.values, values)


def test_one_record_of_each_layout_among_many_of_another():
    values = [w.simple("loss", 1.0), w.tensor("loss", 2.0), w.double("loss", 3.0)]
    events = [w.event(1.7e9, s, values[2 if s == 40 else 1 if s == 20 else 0]) for s in range(60)]
    column = decode(io.BytesIO(w.file(events))).columns["loss"]
    assert column.values.tolist() == [3.0 if s == 40 else 2.0 if s == 20 else 1.0 for s in range(60)]


def naive_frames(data: bytes) -> list[tuple[int, int]]:
    at, out = 0, []
    while at + 12 <= len(data):
        size = struct.unpack("<Q", data[at : at + 8])[0]
        out.append((at, size))
        at += size + 16
    return out


def test_framing_equals_a_naive_walk_over_any_stretch():
    """Records with zeros and with what looks like heads inside, larger than a stretch, and not
    events at all."""
    rng = np.random.default_rng(1)
    inside = struct.pack("<Q", 30) + b"abcd\x09" + bytes(40)
    payloads = [
        w.version(),
        b"",
        bytes(300),
        inside * 4,
        rng.bytes(5000),
        b"\x0a\x03abc",
        bytes(70_000),
        rng.bytes(200_000),
    ]
    payloads += [w.event(1.7e9, s, w.simple("t" * int(rng.integers(1, 90)), s)) for s in range(400)]
    order = rng.permutation(len(payloads))
    data = b"".join(w.record(payloads[i]) for i in order)
    for segment in (64, 1000, 1 << 20):
        reader = FrameReader(io.BytesIO(data), segment)
        found = [(f.base + int(s), int(n)) for f in reader for s, n in zip(f.starts, f.lengths, strict=True)]
        assert found == naive_frames(data)
        assert not reader.damage
        assert reader.tail is None


def test_heads_that_look_like_heads_one_byte_early():
    """A length whose checksum ends in 9 makes the byte before every head look like a head."""
    tags = ["t" * n for n in range(1, 220)]
    sizes = {tag: len(w.event(1.7e9, 1, w.simple(tag, 1.0))) for tag in tags}
    tag = next(t for t in tags if w.masked(struct.pack("<Q", sizes[t]))[3] == 9)
    events = [w.event(1.7e9, s, w.simple(tag, s)) for s in range(1, 100)]
    assert decode(io.BytesIO(w.file(events))).columns[tag].values.tolist() == list(range(1, 100))


@pytest.mark.parametrize("bit", [0, 6])
def test_every_flipped_bit_is_noticed_and_costs_one_record(bit):
    events = [w.event(1.7e9 + s, s, w.simple("loss", 1 / (1 + s))) for s in range(30)]
    data = w.file(events)
    clean = decode(io.BytesIO(data)).columns["loss"].steps.tolist()
    for at in range(len(data)):
        hurt = bytearray(data)
        hurt[at] ^= 1 << bit
        found = decode(io.BytesIO(bytes(hurt)))
        assert len(found.damage) == 1, at
        assert found.damage[0].at <= at < found.damage[0].until
        kept = found.columns["loss"].steps.tolist()
        assert len(kept) >= len(clean) - 1
        assert set(kept) <= set(clean)


def test_cut_at_any_byte_keeps_whole_records_and_notes_the_rest():
    data = loss_file(12)
    ends = [at + size + 16 for at, size in naive_frames(data)]
    for stop in range(len(data)):
        found = decode(io.BytesIO(data[:stop]))
        assert found.records == sum(end <= stop for end in ends)
        assert not found.damage
        assert (found.tail is None) == (stop == 0 or stop in ends)


def test_damage_is_reported_with_its_place():
    data = bytearray(loss_file(50))
    at, size = naive_frames(bytes(data))[20]
    data[at + 20] ^= 0xFF
    log = read(bytes(data))
    (event,) = log.events
    assert (event.kind, event.place) == ("parse-warning", f"byte {at}")
    assert f"{size + 16} bytes" in event.message
    assert sum(len(c.values) for c in log.columns.values()) == 49


def test_a_tail_is_a_note():
    (event,) = read(loss_file(9)[:-3]).events
    assert (event.kind, event.code) == ("note", "partial-tail")


def test_goes_on_behind_rubbish_of_any_size():
    first, second = loss_file(20), loss_file(60, 40)
    heads = (struct.pack("<Q", 30) + b"abcd\x09" + bytes(40)) * 20
    for rubbish in (
        heads,
        b"\0" * 37,
        b"\xff" * 5000,
        bytes(70_000),
        np.random.default_rng(2).bytes(100_000),
    ):
        found = decode(io.BytesIO(first + rubbish + second))
        assert [(d.at, d.until) for d in found.damage] == [(len(first), len(first) + len(rubbish))]
        assert sum(len(c.values) for c in found.columns.values()) == 40


def test_many_damaged_places_are_summed_up():
    data = bytearray(loss_file(80))
    for at, _ in naive_frames(bytes(data))[1::2]:
        data[at + 14] ^= 1
    log = read(bytes(data))
    assert len(log.events) == tensorboard.REPORTED + 1
    assert "20 more damaged places" in log.events[-1].message


def test_a_lost_beginning_is_still_an_event_file():
    data = loss_file(30)[70:]
    assert tensorboard.sniff(source(data)) > 0.5
    assert read(data).columns


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (w.file([]), "nothing was logged"),
        (w.file([w.event(1.7e9, 1, w.histogram("h", b"12345678"))]), "none is a scalar"),
    ],
)
def test_without_scalars_it_says_so(data, why):
    with pytest.raises(NotALog, match=why):
        read(data)


def test_nothing_saved_is_an_error_with_a_place():
    data = bytearray(w.file([w.event(1.7e9, 1, w.simple("loss", 1.0))]))
    data[-6] ^= 1
    with pytest.raises(ReadError, match=f"byte {naive_frames(w.file([]))[0][1] + 16}"):
        read(bytes(data))


def test_compressed_whole_and_cut(tmp_path):
    data = loss_file(3000)
    packed = gzip.compress(data)
    path = tmp_path / "events.out.tfevents.gz"
    path.write_bytes(packed)
    assert len(tensorboard.read(Source(str(path), path))[0].columns["loss"].values) == 2000
    path.write_bytes(packed[: len(packed) // 2])
    log = tensorboard.read(Source(str(path), path))[0]
    assert 0 < len(log.columns["loss"].values) < 2000
    assert "damaged" in [e.code for e in log.events]


def test_more_names_than_anybody_reads_do_not_explode():
    count = MOST_NAMES + 3000
    log = read(w.file([w.event(1.7e9, s, w.simple(f"weights/{s:06d}", s)) for s in range(count)]))
    assert len(log.columns) == MOST_NAMES
    (event,) = log.events
    assert event.code == "too-many-names"
    assert "3000 values" in event.message


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_no_damage_raises_anything_but_read_error(data):
    """Flips, cuts and repeats in a real file: whole records or a ReadError, nothing else."""
    folder, file, _ = data.draw(st.sampled_from(FILES))
    whole = bytearray((LOGS / folder / file).read_bytes()[:20_000])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(whole) - 1)) if whole else 0
        kind = data.draw(st.sampled_from(["flip", "cut", "double", "drop"]))
        if kind == "flip" and whole:
            whole[at] ^= data.draw(st.integers(1, 255))
        elif kind == "cut":
            del whole[at:]
        elif kind == "double":
            whole[at:at] = whole[at : at + 200]
        else:
            del whole[at : at + 50]
    try:
        log = read(bytes(whole))
    except ReadError:
        return
    assert log.columns

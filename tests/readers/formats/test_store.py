from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tests.readers.writers.store import MODULES, Row, rows, write_setup, write_stream
from traindx.errors import NotALog, ReadError
from traindx.readers import read_path
from traindx.readers.formats import store
from traindx.readers.raw import HEAD_BYTES, RawLog, Source


def batches(last: int = 40) -> list[list[Row]]:
    return [rows(i, i + 10) for i in range(0, last, 10)]


def read(data: bytes) -> RawLog:
    return store.read(Source("steps", data=data, head=data[:HEAD_BYTES]))[0]


def test_reads_columns_and_panels(tmp_path):
    write_setup(
        tmp_path, facts={"lr": 0.1, "optimizer": "sgd"}, framework="torch", versions={"python": "3.11"}
    )
    write_stream(tmp_path, batches())
    assert store.sniff_folder(tmp_path) == 1.0
    (log,) = store.read_folder(tmp_path)
    loss = log.columns["train/loss"]
    assert loss.steps.tolist() == list(range(40))
    assert loss.times.tolist() == [1.7e9 + s for s in range(40)]
    assert loss.values.tolist() == [1 / (1 + s) for s in range(40)]
    assert loss.rows.tolist() == log.columns["lr"].rows.tolist()
    assert log.columns["val/loss"].steps.tolist() == list(range(25, 40))
    panel = log.panels["grad_norm"]
    assert panel.modules == MODULES
    assert panel.steps.tolist() == list(range(0, 40, 5))
    np.testing.assert_array_equal(panel.values, [[s, np.nan] for s in range(0, 40, 5)])
    assert (log.framework, log.facts["lr"], log.facts["versions/python"]) == ("torch", 0.1, "3.11")
    assert not log.events


def test_becomes_a_run_with_panels(tmp_path):
    write_setup(tmp_path)
    write_stream(tmp_path, batches())
    (run,) = read_path(str(tmp_path))
    assert run.panels["grad_norm"].values.shape == (8, 2)
    assert not run.panels["grad_norm"].values.flags.writeable
    assert set(run.series) == {"train/loss", "lr", "val/loss"}


def test_plain_pyarrow_reads_it_too(tmp_path):
    file = write_stream(tmp_path, batches())
    with pa.OSFile(str(file)) as stream:
        table = pa.ipc.open_stream(stream).read_all()
    assert table.column_names == ["step", "time", "signal", "modules", "values"]
    assert set(table["signal"].to_pylist()) == {"train/loss", "lr", "grad_norm", "val/loss"}


def test_cut_at_any_byte_keeps_whole_batches(tmp_path):
    """The dictionaries of a batch come before it; a batch counts when its last byte is there."""
    file = write_stream(tmp_path, batches(30), close=False)
    data = file.read_bytes()
    ends = [write_stream(tmp_path, batches(n * 10), close=False).stat().st_size for n in (1, 2, 3)]
    for stop in range(ends[0], len(data) + 1):
        log = read(data[:stop])
        whole = sum(end <= stop for end in ends)
        assert log.columns["train/loss"].steps.tolist() == list(range(10 * whole))
        assert [e.code for e in log.events] == ([] if stop in ends else ["partial-tail"])
    for stop in range(0, ends[0], 7):
        with pytest.raises(ReadError):
            read(data[:stop])


def test_read_while_it_is_written_and_after_a_kill(tmp_path):
    script = (
        "import sys; from pathlib import Path; from tests.readers.writers.store import rows, write_stream\n"
        "def forever():\n"
        "    for i in range(10**6):\n"
        "        yield rows(10 * i, 10 * i + 10); print(i, flush=True)\n"
        "write_stream(Path(sys.argv[1]), forever())"
    )
    root = Path(__file__).resolve().parents[3]
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert child.stdout is not None
    while int(child.stdout.readline()) < 3:  # number i is printed when batch i is on disk
        pass
    seen = len(store.read_folder(tmp_path)[0].columns["lr"].values)
    assert seen >= 30
    child.send_signal(signal.SIGKILL)
    child.stdout.close()
    child.wait()
    after = store.read_folder(tmp_path)[0].columns["lr"].steps
    assert len(after) >= seen
    assert len(after) % 10 == 0
    assert after.tolist() == list(range(len(after)))


def test_ranks_and_restarts_are_joined_by_time(tmp_path):
    write_setup(tmp_path)
    write_stream(tmp_path, [rows(0, 20)], pid=7, close=False)
    later = [(s, t + 1000, signal, m, v) for s, t, signal, m, v in rows(15, 30)]
    write_stream(tmp_path, [later], pid=5)
    write_stream(
        tmp_path, [[(s, 1.7e9 + s + 0.5, "train/loss", (), (9.0,)) for s in range(20)]], rank=1, pid=8
    )
    (log,) = store.read_folder(tmp_path)
    assert log.columns["train/loss"].steps.tolist() == [*range(20), *range(15, 30)]
    assert log.columns["rank/1/train/loss"].values.tolist() == [9.0] * 20
    assert log.columns["train/loss"].rows[1] > log.columns["rank/1/train/loss"].rows[0]
    assert log.panels["grad_norm"].steps.tolist() == [0, 5, 10, 15, 15, 20, 25]
    (run,) = read_path(str(tmp_path))
    assert [e.kind for e in run.events if e.kind == "resume"] == ["resume"]
    assert run.panels["grad_norm"].steps.tolist() == [0, 5, 10, 15, 20, 25]


def test_the_first_rank_there_is_the_run(tmp_path):
    """A machine may hold the records of its own processes only."""
    write_setup(tmp_path)
    for rank in (8, 9):
        write_stream(
            tmp_path, [[(s, 1.7e9 + s, "train/loss", (), (rank,)) for s in range(20)]], rank=rank, pid=rank
        )
    (log,) = store.read_folder(tmp_path)
    assert {name: set(column.values) for name, column in log.columns.items()} == {
        "train/loss": {8.0}, "rank/9/train/loss": {9.0}
    }  # fmt: skip


def test_modules_that_change_are_united(tmp_path):
    first = [(s, 1.7e9 + s, "grad_norm", ("a", "b"), (1.0, 2.0)) for s in range(3)]
    second = [(s, 1.7e9 + s, "grad_norm", ("b", "c"), (3.0, 4.0)) for s in range(3, 5)]
    panel = read(write_stream(tmp_path, [first, second]).read_bytes()).panels["grad_norm"]
    assert panel.modules == ("a", "b", "c")
    np.testing.assert_array_equal(panel.values, [[1, 2, np.nan]] * 3 + [[np.nan, 3, 4]] * 2)


def test_events_and_the_end(tmp_path):
    write_setup(tmp_path)
    write_stream(tmp_path, batches())
    logged = [
        {"kind": "skipped-step", "message": "overflow", "step": 7},
        {"kind": "note", "message": "", "code": "ended"},
    ]
    (tmp_path / "events-0-100.jsonl").write_text(
        "".join(json.dumps(e) + "\n" for e in logged) + '{"kind": "no'
    )
    (log,) = store.read_folder(tmp_path)
    assert [(e.kind, e.step) for e in log.events] == [("skipped-step", 7.0)]
    assert log.complete is True
    (tmp_path / "events-0-100.jsonl").write_text('{"kind": "crash", "message": "boom"}\nrubbish\n')
    (log,) = store.read_folder(tmp_path)
    assert [e.kind for e in log.events] == ["crash", "parse-warning"]
    assert log.complete is False


def test_events_of_other_ranks_say_whose_they_are_and_one_that_died_is_enough(tmp_path):
    write_setup(tmp_path)
    write_stream(tmp_path, batches())
    write_stream(tmp_path, batches(), rank=1, pid=101)
    ended = json.dumps({"kind": "note", "message": "", "code": "ended"}) + "\n"
    (tmp_path / "events-0-100.jsonl").write_text(ended)
    (tmp_path / "events-1-101.jsonl").write_text(ended)
    (log,) = store.read_folder(tmp_path)
    assert (log.complete, log.facts["ranks_reporting"]) == (True, 2)
    for rank, whose in ((0, ""), (1, "rank 1: ")):
        (tmp_path / "events-1-101.jsonl").write_text(ended)
        (tmp_path / f"events-{rank}-{100 + rank}.jsonl").write_text('{"kind": "crash", "message": "boom"}\n')
        (log,) = store.read_folder(tmp_path)
        assert ([e.message for e in log.events][-1], log.complete) == (whose + "boom", False)


def test_of_two_ranks_that_died_the_first_comes_first(tmp_path):
    write_setup(tmp_path)
    for rank, time, why in ((0, 30.0, "connection closed"), (1, 20.0, "boom")):
        write_stream(tmp_path, batches(), rank=rank, pid=rank)
        crash = {"kind": "crash", "message": why, "step": 4, "time": time}
        (tmp_path / f"events-{rank}-{rank}.jsonl").write_text(json.dumps(crash) + "\n")
    (log,) = store.read_folder(tmp_path)
    assert [e.message for e in log.events] == ["rank 1: boom", "connection closed"]


def test_without_setup_the_numbers_are_read_alone(tmp_path):
    write_stream(tmp_path, batches())
    assert store.sniff_folder(tmp_path) > 0.5
    (log,) = store.read_folder(tmp_path)
    assert [e.place for e in log.events] == ["setup.json"]
    assert len(log.columns["lr"].values) == 40


def test_a_changed_number_is_noticed(tmp_path):
    data = bytearray(write_stream(tmp_path, batches()).read_bytes())
    at = data.find(np.float64(1 / (1 + 13)).tobytes())
    assert at > 0
    data[at] ^= 1
    log = read(bytes(data))
    assert log.columns["train/loss"].steps.tolist() == [*range(10), *range(20, 40)]
    assert [e.message for e in log.events] == ["the checksum of a batch is wrong"]


def test_refuses_what_is_not_a_store(tmp_path):
    other = pa.table({"step": [1], "loss": [1.0]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, other.schema) as writer:
        writer.write_table(other)
    data = sink.getvalue().to_pybytes()
    assert store.sniff(Source("x", head=data)) == 0
    with pytest.raises(ReadError, match="none of traindx"):
        read(data)
    write_setup(tmp_path)
    with pytest.raises(NotALog, match="no step"):
        store.read_folder(tmp_path)
    write_stream(tmp_path, [rows(0, 2)])
    (tmp_path / "setup.json").write_text('{"schema": "traindx.store/9"}')
    assert "schema" in store.read_folder(tmp_path)[0].events[0].message


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7000), st.binary(max_size=4)), min_size=1, max_size=4))
def test_no_damage_raises_anything_but_read_error(tmp_path_factory, changes):
    data = bytearray(whole(tmp_path_factory))
    for at, octets in changes:
        data[at : at + 4] = octets
    try:
        log = read(bytes(data))
    except ReadError:
        return
    assert log.columns or log.panels


def whole(factory: pytest.TempPathFactory) -> bytes:
    file = factory.getbasetemp() / "steps-0-100.arrows"
    if not file.exists():
        write_stream(factory.getbasetemp(), batches())
    return file.read_bytes()

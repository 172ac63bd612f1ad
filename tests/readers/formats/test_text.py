"""Text logs of every style, printed by a loop that was really run: the numbers come back as printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from traindx.errors import NotALog, ReadError
from traindx.readers.formats import text
from traindx.readers.raw import HEAD_BYTES, RawLog, Source

LOGS = Path(__file__).parents[2] / "logs" / "text"
STYLES = sorted(path.stem for path in LOGS.glob("*.log"))


def source(data: bytes | str, name: str = "train.log") -> Source:
    raw = data.encode() if isinstance(data, str) else data
    return Source(name, data=raw, head=raw[:HEAD_BYTES])


def read(data: bytes | str) -> RawLog:
    (log,) = text.read(source(data))
    return log


@pytest.fixture(scope="module", params=STYLES)
def style(request: pytest.FixtureRequest) -> tuple[RawLog, dict[str, Any], bytes]:
    data = (LOGS / f"{request.param}.log").read_bytes()
    return read(data), json.loads((LOGS / f"{request.param}.json").read_text()), data


def test_there_are_the_styles_that_the_makers_write() -> None:
    assert len(STYLES) >= 45


def test_values_are_those_printed(style: tuple[RawLog, dict[str, Any], bytes]) -> None:
    log, logged, _ = style
    assert set(logged["columns"]) <= set(log.columns)
    for name, column in logged["columns"].items():
        np.testing.assert_array_equal(log.columns[name].values, column["values"], err_msg=name)


def test_steps_are_those_printed(style: tuple[RawLog, dict[str, Any], bytes]) -> None:
    log, logged, _ = style
    assert log.axis_kind == {"inner": "step"}.get(logged["axis"], logged["axis"])
    for name, column in logged["columns"].items():
        steps = log.columns[name].steps
        assert steps is not None
        if logged["axis"] == "inner":  # the length of an epoch is not printed: order is all there is
            assert (np.diff(steps) > 0).all(), name
        else:
            np.testing.assert_array_equal(steps, column["steps"], err_msg=name)


def test_nothing_else_is_taken_for_a_metric(style: tuple[RawLog, dict[str, Any], bytes]) -> None:
    log, logged, _ = style
    assert set(log.columns) - set(logged["columns"]) - set(logged.get("loose", [])) <= {"epoch"}


def test_facts_events_roles_and_units(style: tuple[RawLog, dict[str, Any], bytes]) -> None:
    log, logged, _ = style
    assert {k: log.facts.get(k) for k in logged.get("facts", {})} == logged.get("facts", {})
    assert [e.kind for e in log.events] == logged.get("events", [])
    assert {k: log.roles.get(k) for k in logged.get("roles", {})} == logged.get("roles", {})
    assert {k: log.units.get(k) for k in logged.get("units", {})} == logged.get("units", {})
    assert logged.get("framework") in (None, log.framework)
    assert len(log.boundaries) == logged.get("boundaries", 0)


def test_rows_ascend_and_columns_fit(style: tuple[RawLog, dict[str, Any], bytes]) -> None:
    log, _, data = style
    for column in log.columns.values():
        assert (np.diff(column.rows) > 0).all()
        assert (
            len(column.rows) == len(column.values) == len(column.steps if column.steps is not None else ())
        )
        assert column.rows[0] >= 1
        assert column.rows[-1] <= data.count(b"\n") + data.count(b"\r") + data.count(b"\x08") + 1


def test_claimed_by_content(style: tuple[RawLog, dict[str, Any], bytes]) -> None:
    assert 0.05 <= text.sniff(source(style[2])) <= 0.5


def test_time_stamps_become_seconds() -> None:
    logged = json.loads((LOGS / "logging_lines.json").read_text())
    times = read((LOGS / "logging_lines.log").read_bytes()).columns["loss"].times
    assert times is not None
    np.testing.assert_allclose(times - times[0], logged["times"], atol=1e-6)
    first = np.datetime64("2026-01-05T23:50:00")
    assert times[0] == (first - np.datetime64("1970-01-01T00:00:00")) / np.timedelta64(1, "s")


def test_a_pasted_line_is_enough() -> None:
    log = read("time: 40.1906  data: 38.0570  max mem: 10768 res mem: 11456\n")
    assert {n: c.values.tolist() for n, c in log.columns.items()} == {
        "time": [40.1906],
        "data": [38.057],
        "max_mem": [10768.0],
        "res_mem": [11456.0],
    }


def test_memory_that_two_lines_report() -> None:
    log = read("epoch start RAM 21G\nepoch end RAM 38G\n")
    assert log.columns["RAM"].values.tolist() == [21.0, 38.0]
    assert log.units["RAM"] == "G"


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", ReadError),
        (b"\x00\x01\x02\x03" * 500, ReadError),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 3\n", ReadError),
        (b"Just some words about a cat.\nAnd more of them.\n", NotALog),
        # A server that goes on after an error that it reports.
        (
            b'Traceback (most recent call last):\n  File "a.py", line 1\nImportError: no module x\n'
            + b"[I 10:05 App] Saving file at /a\n" * 300,
            NotALog,
        ),
        (
            b"import torch\n\nclass A:\n    lr = 0.1\n\ndef f(x):\n    val_loss = 0.0\n    loss = None\n    return x\n",
            NotALog,
        ),
        (
            b"net {\n  layer {\n    loss_weight: 1\n    lr_mult: 2\n  }\n  base_lr: 0.01\n  max_iter: 100\n}\n",
            NotALog,
        ),
    ],
)
def test_refused_with_a_reason(data: bytes, error: type[ReadError]) -> None:
    with pytest.raises(error) as caught:
        text.read(source(data))
    assert caught.value.why
    assert type(caught.value) is error


def test_only_a_traceback_gives_its_event() -> None:
    lines = [
        "Traceback (most recent call last):",
        '  File "a.py", line 3, in <module>',
        "    x = y",
        "",
        "KeyboardInterrupt",
    ]
    log = read("\n".join(lines))
    assert not log.columns
    assert [(e.kind, e.message) for e in log.events] == [("stopped", "KeyboardInterrupt")]


def test_a_file_that_breaks_off_keeps_what_is_whole(tmp_path: Path) -> None:
    import gzip

    path = tmp_path / "train.log.gz"
    whole = gzip.compress("".join(f"step {i} loss {1 / (i + 1):.6f}\n" for i in range(20000)).encode())
    path.write_bytes(whole[: len(whole) // 2])
    (log,) = text.read(Source(str(path), path, head=b"step 0 loss 1.000000\n"))
    values = log.columns["loss"].values
    assert len(values) > 1000
    np.testing.assert_allclose(values, [float(f"{1 / (i + 1):.6f}") for i in range(len(values))])
    assert log.events[-1].kind == "parse-warning"


def test_time_stamps_of_an_unknown_layout_are_passed_over() -> None:
    """Longer than one piece of what is held back, so that several are converted."""
    log = read("".join(f"2026-01-05 step {i} loss {i % 7}.5\n" for i in range(5000)))
    assert log.columns["loss"].times is None
    np.testing.assert_array_equal(log.columns["loss"].values, np.arange(5000) % 7 + 0.5)


def test_units_that_differ_between_lines_are_brought_to_one() -> None:
    lines = [
        f"step {i} loss 0.{i} took 950ms" if i % 2 else f"step {i} loss 0.{i} acc 0.5 took 1.5s"
        for i in range(1, 9)
    ]
    log = read("\n".join(lines))
    assert log.units == {"duration": "s"}
    np.testing.assert_allclose(log.columns["duration"].values, [0.95, 1.5] * 4)


def test_each_process_keeps_its_own_record() -> None:
    log = read("".join(f"[rank{r}] step {i} loss {i + r / 10:.1f}\n" for i in range(6) for r in range(3)))
    assert {n: c.values.tolist() for n, c in log.columns.items()} == {
        "loss": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "rank/1/loss": [0.1, 1.1, 2.1, 3.1, 4.1, 5.1],
        "rank/2/loss": [0.2, 1.2, 2.2, 3.2, 4.2, 5.2],
    }
    assert log.roles["rank/1/loss"] == "rank/1/train/loss"


def test_losses_in_bits_next_to_losses_in_nats() -> None:
    lines = [f"iter {i}: loss {2 - i / 10:.4f} BPC, time 5ms" for i in range(8)]
    log = read("\n".join(["step 0: train loss 1.38, val loss 1.4", *lines]))
    np.testing.assert_allclose(log.columns["loss"].values, [np.log(2) * (2 - i / 10) for i in range(8)])
    assert [e.code for e in log.events] == ["bits-to-nats"]


def test_a_clamped_nan_is_named_and_left() -> None:
    lines = [
        f"I0604 20:56:0{i}.000000   904 solver.cpp:229] Iteration {i}, loss = {87.3365 if i > 1 else 6.9}"
        for i in range(6)
    ]
    log = read("\n".join(lines))
    assert log.columns["loss"].values.tolist() == [6.9, 6.9, 87.3365, 87.3365, 87.3365, 87.3365]
    assert [(e.kind, e.step) for e in log.events] == [("log-suspect", 2.0)]


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        (
            ["Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0"] * 3,
            ["skipped-step"],
        ),
        (["RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"], ["out-of-memory"]),
        (
            ["RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: 8 bytes."],
            ["out-of-memory"],
        ),
        (["Loss is nan, stopping training"], ["crash"]),
        (["Traceback (most recent call last):", '  File "a.py", line 1', "ValueError: no"], ["crash"]),
        (["ValueError: 3 is not in the list"], ["crash"]),
        (["KeyError: 3"], ["crash"]),
        (["MeanAbsoluteError: 0.31"], []),
        (
            ["slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2026-01-05T00:00:00 DUE TO TIME LIMIT ***"],
            ["stopped"],
        ),
        (['    raise RuntimeError("CUDA out of memory")'], []),
        (["except KeyboardInterrupt:"], []),
    ],
)
def test_how_a_run_ended(lines: list[str], kinds: list[str]) -> None:
    records = [f"step {i} loss {1 / (i + 1):.4f}" for i in range(10)]
    assert [e.kind for e in read("\n".join([*records, *lines])).events] == kinds


def test_an_attempt_that_failed_before_the_run_is_a_note() -> None:
    records = [f"step {i} loss {1 / (i + 1):.4f}" for i in range(10)]
    log = read("\n".join(["RuntimeError: CUDA out of memory.", *records]))
    assert [(e.kind, e.code) for e in log.events] == [("note", "earlier-out-of-memory")]


def test_a_damaged_time_stamp_is_no_time() -> None:
    log = read("".join(f"2026-01-05 10:00:0{i}.{'9' * 400} step {i} loss {i}.5\n" for i in range(5)))
    assert log.columns["loss"].times is None
    assert log.columns["loss"].values.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_an_error_long_before_the_first_record_is_not_what_a_question_quotes() -> None:
    """Preparing the data reports a sample that is left out; somewhere, the model is asked something."""
    before = [
        "Why does my model not learn?",
        *TRACEBACK.splitlines(),
        *[f"prepared {i} of 300" for i in range(300)],
    ]
    steps = [f"step {i}: loss {2 / (1 + i):.4f}" for i in range(40)]
    for lines, kinds in ((before + steps, {"note"}), (before[:4] + steps, {"crash"})):
        events = text.read(source("\n".join(lines).encode() + b"\n"))[0].events
        assert {e.kind for e in events if "too long" in e.message} == kinds


TRACEBACK = """Traceback (most recent call last):
  File "prepare.py", line 3, in <module>
ValueError: the sample is too long"""

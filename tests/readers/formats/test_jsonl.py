"""JSON Lines: settings, splits, nesting, damage, and the fast way against the plain one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.errors import NotALog
from traindx.readers.formats import jsonl
from traindx.readers.json import lines as json_lines
from traindx.readers.raw import RawLog


def read(text: bytes | str) -> RawLog:
    return jsonl.read(memory(text))[0]


def test_settings_and_summary_are_facts_and_rows_are_series() -> None:
    rows = oracle("plain_loops")["runs"][0]
    log = jsonl.read(source(LOGS / "jsonl" / "settings_first.jsonl"))[0]
    assert_values(log.columns["loss"], [row["loss"] for row in rows])
    assert_values(log.columns["val_acc"], [row["val_acc"] for row in rows if "val_acc" in row])
    assert log.facts["lr"] == 0.1
    assert log.facts["planned_steps"] == 60
    assert log.facts["parameters"] == 212


def test_records_of_two_splits_do_not_mix() -> None:
    rows = oracle("plain_loops")["runs"][0][9::10]
    log = jsonl.read(source(LOGS / "jsonl" / "split_field.jsonl"))[0]
    assert_values(log.columns["train/loss"], [row["loss"] for row in rows])
    assert_values(log.columns["val/scores/acc"], [row["val_acc"] for row in rows])


def test_log_txt_of_vision_trainers_keeps_the_parameter_count_as_a_fact() -> None:
    rows = oracle("plain_loops")["runs"][0][9::10]
    log = jsonl.read(source(LOGS / "jsonl" / "log.txt"))[0]
    assert_values(log.columns["test_loss"], [row["val_loss"] for row in rows])
    assert log.facts["parameters"] == 212
    assert "n_parameters" not in log.columns


def test_bare_nan_and_infinity() -> None:
    rows = oracle("plain_loops")["diverged"]
    log = jsonl.read(source(LOGS / "jsonl" / "bare_nan.jsonl"))[0]
    assert_values(log.columns["loss"], [row["loss"] for row in rows])
    assert not np.isfinite(log.columns["grad_norm"].values).all()


def test_values_as_text_lists_and_truth_values() -> None:
    log = read('{"step": "1", "loss": "0.5", "ok": true, "ids": [1, 2], "name": "a"}\n' * 3)
    assert list(log.columns) == ["step", "loss"]


def test_a_broken_line_and_a_cut_one_are_reported() -> None:
    log = read('{"step": 1, "loss": 2}\n{"step": 2, "lo\n{"step": 3, "loss": 1}\n')
    assert_values(log.columns["step"], [1, 3])
    assert log.events[0].place == "line 2"
    cut = read('{"step": 1, "loss": 2}\n{"step": 2, "loss": 1}\n{"step": 3, "lo')
    assert "cut" in cut.events[0].message


def test_null_while_not_yet_measured_is_nothing_and_null_to_the_end_is_nan() -> None:
    rows = [{"step": i, "loss": 1.0 if i < 5 else None, "late": None if i < 8 else 2.0} for i in range(12)]
    log = read("".join(json.dumps(row) + "\n" for row in rows))
    assert_values(log.columns["loss"], [1.0] * 5 + [np.nan] * 7)
    assert log.columns["late"].rows.tolist() == [8, 9, 10, 11]


def test_null_between_evaluations_is_nothing() -> None:
    rows = [{"step": i, "val": 1.0 if i % 5 == 0 else None} for i in range(25)]
    log = read("".join(json.dumps(row) + "\n" for row in rows))
    assert log.columns["val"].rows.tolist() == [0, 5, 10, 15, 20]


@pytest.mark.parametrize(
    "text", ["", "no json\n", "[1, 2]\n[3, 4]\n", '{"a": "b"}\n{"a": "c"}\n', "{" * 5000]
)
def test_refusals(text: str) -> None:
    with pytest.raises(NotALog):
        read(text)


NUMBER = st.one_of(st.floats(), st.integers(-(10**20), 10**20), st.sampled_from([0, 1, 5, 1e-5, 123456.789]))
KEYS = st.sampled_from(["step", "loss", "train loss", "acc 5", "1", "a:b", 'q"uote', "lr"])
REGULAR = st.lists(KEYS, min_size=1, max_size=4, unique=True).flatmap(
    lambda keys: st.lists(st.fixed_dictionaries(dict.fromkeys(keys, NUMBER)), min_size=2, max_size=20)
)
ODD = st.lists(
    st.dictionaries(
        KEYS,
        st.one_of(NUMBER, st.none(), st.booleans(), st.just("word"), st.just({"x": 1.5, "y": {"z": 2}})),
    ),
    max_size=3,
)


@settings(max_examples=200, deadline=None)
@given(REGULAR, ODD, st.sampled_from([(", ", ": "), (",", ":")]))
def test_the_fast_way_reads_what_the_plain_way_reads(
    rows: list[dict[str, object]], odd: list[dict[str, object]], separators: tuple[str, str]
) -> None:
    text = "\n".join(json.dumps(row, separators=separators) for row in [*rows, *odd, *rows]) + "\n"
    logs = []
    for threshold in (1, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_lines, "LARGE_BYTES", threshold)
            logs.append(json_lines.read_lines(memory(text)))
    fast, plain = logs
    assert list(fast.columns) == list(plain.columns)
    for name, column in plain.columns.items():
        assert_values(fast.columns[name], column.values)
        assert fast.columns[name].rows.tolist() == column.rows.tolist()
    assert fast.events == plain.events
    assert fast.records == plain.records == len(rows) * 2 + len(odd)


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
def test_regular_blocks_are_taken_the_fast_way(separators: tuple[str, str]) -> None:
    rows = [{"step": i, "train loss": 1.5 / (i + 1), "opt": {"lr": 1e-5}} for i in range(50)]
    block = "".join(json.dumps(row, separators=separators) + "\n" for row in rows).encode()
    found = json_lines.regular(block)
    assert found is not None
    names, arrays = found
    assert names == ["step", "train loss", "opt/lr"]
    assert arrays[1].tolist() == [row["train loss"] for row in rows]


@pytest.mark.parametrize(
    "other",
    [
        '{"step": 1, "lOss": 2.5}',
        '{"loss": 1, "step": 2.5}',
        '{"step": true, "loss": 1}',
        '{"step": 1, "loss": "2"}',
        '{"step": 1}',
        '{"step": null, "loss": 1}',
        "",
    ],
)
def test_a_block_with_another_line_is_not(other: str) -> None:
    lines = ['{"step": 1, "loss": 2.5}'] * 3
    assert json_lines.regular("\n".join([*lines, other, *lines, ""]).encode()) is None


def experiments(words: list[str], **more: object) -> str:
    rows = [{"dataset": w, "accuracy": 0.9 - 0.01 * i} | dict.fromkeys(more, i) for i, w in enumerate(words)]
    return "\n".join(json.dumps(row) for row in rows)


def test_a_table_of_experiments_is_no_run() -> None:
    with pytest.raises(NotALog, match="dataset"):
        read(experiments(["a"] * 4 + ["b"] * 4))


def test_a_counter_or_a_single_word_makes_it_one() -> None:
    assert len(read(experiments(["a"] * 4 + ["b"] * 4, step=True)).columns["accuracy"].values) == 8
    assert len(read(experiments(["a"] * 8)).columns["accuracy"].values) == 8

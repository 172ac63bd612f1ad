"""Tables in every dialect that training scripts write."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.readers.sources import LOGS, assert_values, memory, oracle, source
from traindx.errors import NotALog
from traindx.readers.formats import csv_table
from traindx.readers.raw import RawLog
from traindx.readers.tables import parsing


def read(text: bytes | str) -> RawLog:
    return csv_table.read(memory(text))[0]


def test_german_table_with_byte_order_mark_and_decimal_commas() -> None:
    rows = oracle("plain_loops")["runs"][0]
    log = csv_table.read(source(LOGS / "csv" / "german.csv"))[0]
    assert list(log.columns) == ["Schritt", "Verlust", "Lernrate"]
    assert_values(log.columns["Verlust"], [row["loss"] for row in rows])


def test_repeated_header_is_a_boundary_and_empty_cells_are_missing() -> None:
    first, second = oracle("plain_loops")["runs"]
    log = csv_table.read(source(LOGS / "csv" / "sparse_twice.csv"))[0]
    assert log.boundaries == [len(first)]
    assert_values(log.columns["train loss"], [row["loss"] for row in first + second])
    kept = [(i, row["val_loss"]) for i, row in enumerate(first + second) if "val_loss" in row]
    assert log.columns["val loss"].rows.tolist() == [i for i, _ in kept]
    assert_values(log.columns["val loss"], [value for _, value in kept])


def test_numbers_alone_get_names_by_position() -> None:
    rows = oracle("plain_loops")["runs"][0]
    log = csv_table.read(source(LOGS / "csv" / "no_header.tsv"))[0]
    assert_values(log.columns["c1"], [row["loss"] for row in rows])


def test_a_column_of_splits_parts_the_series() -> None:
    rows = oracle("plain_loops")["runs"][0][9::10]
    log = csv_table.read(source(LOGS / "csv" / "long_split.csv"))[0]
    assert_values(log.columns["train/loss"], [row["loss"] for row in rows])
    assert_values(log.columns["val/loss"], [row["val_loss"] for row in rows])
    assert len(log.columns["epoch"].values) == 2 * len(rows)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("nan", np.nan),
        ("-nan", np.nan),
        ("NaN", np.nan),
        ("inf", np.inf),
        ("-Infinity", -np.inf),
        ("1.#QNAN", np.nan),
        ("8.5%", 8.5),
        ("tensor(0.25)", 0.25),
        ("tensor(0.5, device='cuda:0')", 0.5),
        ("np.float32(2.5)", 2.5),
        ("[0.75]", 0.75),
        ("+1e-3", 1e-3),
    ],
)
def test_spellings_of_a_number(cell: str, value: float) -> None:
    quoted = f'"{cell}"' if "," in cell else cell
    log = read(f"step,loss\n0,1.5\n1,{quoted}\n2,1.25\n")
    assert_values(log.columns["loss"], [1.5, value, 1.25])


@pytest.mark.parametrize("cell", ["", "NA", "n/a", "None", "-", "null"])
def test_spellings_of_nothing(cell: str) -> None:
    log = read(f"step,loss\n0,1.5\n1,{cell}\n2,1.25\n")
    assert log.columns["loss"].rows.tolist() == [0, 2]


def test_nulls_to_the_end_are_nan_and_say_so() -> None:
    log = read("step,loss\n0,1.5\n1,9\n2,null\n3,null\n4,null\n")
    assert_values(log.columns["loss"], [1.5, 9, np.nan, np.nan, np.nan])
    assert [event.code for event in log.events] == ["null-as-nan"]


def test_empty_cells_to_the_end_are_reported_but_not_taken_as_nan() -> None:
    log = read("step,loss\n0,1.5\n1,2\n2,9\n3,\n4,\n5,\n")
    assert len(log.columns["loss"].values) == 3
    assert [event.code for event in log.events] == ["values-vanish"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", "   "])
def test_line_ends_and_delimiters(end: str, delimiter: str) -> None:
    rows = [("epoch", "loss", "acc"), *((str(i), str(2.5 - i / 8), str(i / 16)) for i in range(5))]
    log = read(end.join(delimiter.join(row) for row in rows))
    assert_values(log.columns["loss"], [2.5 - i / 8 for i in range(5)])
    assert log.events == []


def test_utf16_as_windows_shells_write_it() -> None:
    assert_values(read("epoch,loss\n0,2\n1,1\n".encode("utf-16")).columns["loss"], [2, 1])


def test_quoted_and_doubled_names() -> None:
    assert list(read('"step","loss, train",loss,loss\n0,1,2,3\n1,1,2,3\n').columns) == [
        "step",
        "loss, train",
        "loss",
        "loss.1",
    ]


def test_a_header_without_the_index_name() -> None:
    assert list(read("loss,acc\n0,1.5,0.5\n1,1.25,0.75\n").columns) == ["index", "loss", "acc"]


def test_comments_above_the_table() -> None:
    assert list(read("# made by hand\n# epoch loss\n0 1.5\n1 1.25\n").columns) == ["epoch", "loss"]


def test_a_line_that_is_cut_is_left_out_and_reported() -> None:
    log = read("step,loss,lr\n0,1.5,1\n1,1.25,1\n2,1.1")
    assert len(log.columns["loss"].values) == 2
    (event,) = log.events
    assert event.kind == "parse-warning"
    assert event.place == "line 4"
    assert "cut" in event.message


def test_another_number_of_cells_midway_is_reported_with_its_line() -> None:
    log = read("step,loss\n" + "".join(f"{i},1\n" for i in range(10)) + "10,2,3\n11,2,3\n12,1\n")
    assert log.columns["step"].values.tolist() == [*range(10), 12]
    (event,) = log.events
    assert event.place == "line 12"


def test_a_word_among_numbers_is_reported() -> None:
    log = read("step,loss\n0,1\n1,oops\n2,3\n")
    assert log.columns["loss"].rows.tolist() == [0, 2]
    assert "1 cells of loss" in log.events[0].message


def test_a_new_header_renames_what_follows() -> None:
    log = read("epoch,loss\n0,1\n1,2\nepoch,loss,acc\n0,3,0.5\n1,4,0.75\n")
    assert log.boundaries == [2]
    assert_values(log.columns["loss"], [1, 2, 3, 4])
    assert log.columns["acc"].rows.tolist() == [2, 3]


def test_one_row_is_a_table() -> None:
    assert_values(read("epoch,loss\n0,0.5\n").columns["loss"], [0.5])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"epoch,loss\n", "header"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "LFS"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"\0\1\2" * 50, "binary"),
        (b"dear diary,\ntoday I trained\n", "no table"),
        (
            b"index,class,f1,support\n0,leaf,0.93,152\n1,nut,0.97,472\n2,trunk,0.98,359\n3,bud,0.88,36\n4,foot,1.0,13\n",
            "differs in every row",
        ),
        (
            b"data,model,epochs,acc\nage,gcn,10,0.4\nage,gat,10,0.5\nsex,gcn,10,0.6\nsex,gat,10,0.7\n"
            b"age,gcn,100,0.5\nage,gat,100,0.6\nsex,gcn,100,0.7\n2y,gat,100,0.8\n",
            "data with model differs in every row",
        ),
    ],
)
def test_refusals_name_their_reason(data: bytes, why: str) -> None:
    with pytest.raises(NotALog, match=why):
        read(data)


def test_names_next_to_an_axis_and_times_are_no_table_of_things() -> None:
    rows = [f"{i},ckpt-{'abcdef'[i]},0.{9 - i}" for i in range(6)]
    assert_values(
        read("\n".join(["epoch,saved,loss", *rows])).columns["loss"], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    )
    rows = [f"Mon 10:0{i}:00,0.{9 - i}" for i in range(6)]
    assert_values(read("\n".join(["when,loss", *rows])).columns["loss"], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4])


def test_words_that_come_again_next_to_epochs_are_no_table_of_things() -> None:
    rows = [f"{i},run-a,{'train' if i % 2 else 'warm'},0.{9 - i}" for i in range(6)]
    assert_values(
        read("\n".join(["epoch,name,phase,loss", *rows])).columns["loss"], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
    )


@pytest.mark.parametrize(
    "text",
    [
        "iter 10: loss 4.0, time 49.3ms, mfu 7.5%\n" * 9,
        '{"step": 1, "loss": 2}\n' * 9,
        "Epoch 1 loss 0.5\n" * 9,
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "0, loss: 0.5, acc: 0.25\n" * 9,
    ],
)
def test_other_formats_are_not_claimed(text: str) -> None:
    assert csv_table.sniff(memory(text)) == 0.0


def read_if_table(text: str) -> RawLog | None:
    try:
        return read(text)
    except NotALog:
        return None


CELL = st.one_of(
    st.floats(width=64).map(repr),
    st.integers(-(10**18), 10**18).map(str),
    st.sampled_from(
        ["", "nan", "inf", "-inf", "1e400", " 1.5", "1.5 ", "NA", "null", "oops", "1_000", ".5", "5.", "+2"]
    ),
)
ROW = st.lists(CELL, min_size=2, max_size=4)


@settings(max_examples=150, deadline=None)
@given(st.lists(ROW, max_size=30), st.sampled_from([",", ";", "\t"]), st.booleans())
def test_the_fast_way_reads_what_the_plain_way_reads(
    rows: list[list[str]], delimiter: str, ended: bool
) -> None:
    body = ["1", "2", "3"], ["2", "3", "4"], *rows
    text = "\n".join(delimiter.join(row) for row in (("step", "loss", "lr"), *body)) + "\n" * ended
    logs = []
    for threshold in (1, 1 << 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parsing, "ARROW_BYTES", threshold)
            logs.append(read_if_table(text))
    fast, plain = logs
    if fast is None or plain is None:
        assert fast is plain
        return
    assert list(fast.columns) == list(plain.columns)
    for name, column in plain.columns.items():
        assert_values(fast.columns[name], column.values)
        assert fast.columns[name].rows.tolist() == column.rows.tolist()
    assert fast.events == plain.events
    assert fast.boundaries == plain.boundaries


def test_a_large_table_equals_what_was_written(tmp_path_factory: pytest.TempPathFactory) -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((80_000, 4))
    path = tmp_path_factory.mktemp("large") / "log.csv"
    lines = [",".join(map(repr, row)) for row in values.tolist()]
    lines[70_000] = "oops"
    path.write_text("a,b,c,d\n" + "\n".join(lines) + "\n")
    log = csv_table.read(source(path))[0]
    assert_values(log.columns["d"], np.delete(values[:, 3], 70_000))
    assert log.events[0].place == "line 70002"


def experiments(epochs: list[int]) -> str:
    """Results of nets of several depths, with the epoch at which each was best."""
    grid = [
        (deep, wide, kind) for deep in (2, 4, 6) for wide in (1, 2) for kind in ("sum", "stack", "concat")
    ]
    rows = (
        f"{deep},{wide},{kind},{epoch},{1 / (i + 1):.4f}"
        for i, ((deep, wide, kind), epoch) in enumerate(zip(grid, epochs, strict=True))
    )
    return "\n".join(["layers,heads,kind,epoch,loss", *rows])


def test_a_grid_of_settings_is_no_log_of_a_run() -> None:
    for epochs in ([199] * 18, [35, 48, 40, 20, 137, 173] * 3):
        with pytest.raises(NotALog, match="settings"):
            read(experiments(epochs))
    assert len(read(experiments(list(range(18)))).columns["loss"].values) == 18


def test_the_sides_of_a_log_are_no_settings() -> None:
    rows = (
        f"{e},{side},{b},{b % 2},{1 / (e + b):.4f}"
        for e in (1, 2, 3)
        for side in ("train", "val")
        for b in (1, 2, 3)
    )
    columns = read("\n".join(["epoch,phase,batch,odd,loss", *rows])).columns
    assert any("loss" in name for name in columns)


def test_two_settings_that_change_from_row_to_row_are_no_schedule() -> None:
    grid = [(hidden, lr) for hidden in (16, 24, 32) for lr in (5e-5, 1e-4, 1e-3)]
    rows = (f"{hidden},{lr},{20 + i},0.9{i}" for i, (hidden, lr) in enumerate(grid))
    with pytest.raises(NotALog, match="hidden_size and lr are settings"):
        read("\n".join(["hidden_size,lr,seconds,test_acc", *rows]))
    cycle = (f"64,{1e-3 * (1 + i % 4)},{1 / (i + 1):.3f}" for i in range(12))
    assert "loss" in read("\n".join(["hidden_size,lr,loss", *cycle])).columns


def test_scores_over_thresholds_are_no_log_of_a_run() -> None:
    rows = [(i / 10, 0.5 + 0.04 * i, 0.9 - 0.05 * i) for i in range(1, 10)]
    text = "\n".join(["threshold,recall,precision", *(f"{a},{b:.2f},{c:.2f}" for a, b, c in rows)])
    with pytest.raises(NotALog, match="the rows go over threshold"):
        read(text)
    counted = "\n".join(["step,threshold,loss", *(f"{i},{a},{b:.2f}" for i, (a, b, _) in enumerate(rows))])
    assert "loss" in read(counted).columns

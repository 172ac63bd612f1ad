from __future__ import annotations

import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.survey.made import COLUMNS, facts, measured, rng, sound, write_csv
from traindx.errors import ConfigError, ReadError
from traindx.redaction import round_outward

SAME = ("dataset_size", "inputs_features", "classes", "class_majority_share", "samples_duplicates")
CLOSE = ("inputs_mean_abs", "inputs_std_mean", "inputs_std_max", "inputs_min", "inputs_max")


def assert_equal_facts(found: dict[str, Any], other: dict[str, Any]) -> None:
    assert {k: found[k] for k in SAME} == {k: other[k] for k in SAME}
    for name in CLOSE:
        assert found[name] == pytest.approx(other[name], rel=1e-4), name


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    return sound(3000)


@pytest.fixture(scope="module")
def held(columns: dict[str, Any]) -> dict[str, Any]:
    return facts(columns)


def test_moments_are_numpys(columns: dict[str, Any], held: dict[str, Any]) -> None:
    values = np.stack([columns[c] for c in COLUMNS], axis=1)
    assert held["inputs_mean_abs"] == pytest.approx(np.abs(values.mean(0)).mean(), rel=1e-12)
    assert held["inputs_std_max"] == pytest.approx(values.std(0).max(), rel=1e-12)
    assert held["inputs_min"] == round_outward(float(values.min()))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv(delimiter: str, columns: dict[str, Any], held: dict[str, Any], tmp_path: Path) -> None:
    assert_equal_facts(facts(write_csv(tmp_path / "x.csv", columns, delimiter=delimiter)), held)


def test_csv_in_other_clothes(columns: dict[str, Any], held: dict[str, Any], tmp_path: Path) -> None:
    text = write_csv(tmp_path / "x.csv", columns).read_text()
    comma = text.replace(",", ";").replace(".", ",")
    body = text.split("\n", 1)[1]
    written = {
        "crlf.csv": text.replace("\n", "\r\n").encode(),
        "mark.csv": b"\xef\xbb\xbf" + text.encode(),
        "latin.csv": text.replace("d,", "größe,", 1).encode("latin-1"),
        "comma.csv": comma.encode(),
        "packed.csv.gz": gzip.compress(text.encode()),
        "no-suffix": text.encode(),
    }
    for name, data in written.items():
        (tmp_path / name).write_bytes(data)
        assert_equal_facts(facts(tmp_path / name), held)
    (tmp_path / "bare.csv").write_text(body)
    assert_equal_facts(facts(tmp_path / "bare.csv", "-1"), held)


def test_parquet_and_numpy(columns: dict[str, Any], held: dict[str, Any], tmp_path: Path) -> None:
    pq.write_table(pa.table({**columns, "list": [[1.0]] * 3000}), tmp_path / "x.parquet")
    values = np.stack([columns[c] for c in COLUMNS], axis=1)
    np.savez_compressed(tmp_path / "x.npz", x=values, y=columns["label"])
    np.savez(tmp_path / "columns.npz", **columns)
    np.save(tmp_path / "x.npy", np.column_stack([values, columns["label"]]))
    assert_equal_facts(facts(tmp_path / "x.parquet"), held)
    assert_equal_facts(facts(tmp_path / "x.npz", None), held)
    assert_equal_facts(facts(tmp_path / "columns.npz"), held)
    assert_equal_facts(facts(tmp_path / "x.npy", "-1"), held)
    notes = measured(tmp_path / "x.parquet").notes
    assert notes == ("columns of lists, structs or bytes were left out: 1",)


def test_what_python_holds(columns: dict[str, Any], held: dict[str, Any]) -> None:
    values = np.stack([columns[c] for c in COLUMNS], axis=1)
    assert_equal_facts(facts(values, columns["label"]), held)
    assert_equal_facts(facts((values, np.eye(3)[columns["label"]]), None), held)


class Items:
    """A map-style data set without a framework; counts what was asked of it."""

    def __init__(self, count: int, shape: tuple[int, ...] = (4,)) -> None:
        self.count, self.shape, self.asked = count, shape, 0

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        self.asked += 1
        np.random.random()
        return rng(index).standard_normal(self.shape), index % 3


def test_a_data_set_is_drawn_from_evenly_and_rows_keep_their_numbers() -> None:
    items = Items(20_000)
    state = np.random.get_state()[1].copy()
    found = measured(items, None)
    assert (np.random.get_state()[1] == state).all()
    assert items.asked <= 5002
    assert found.measured.facts["dataset_size"] == 20_000
    assert found.measured.facts["samples_read"] == 5000
    assert "drawn" in found.notes[0]


def test_rows_of_a_drawn_data_set_are_those_of_the_whole() -> None:
    class Spoilt(Items):
        def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
            inputs, label = super().__getitem__(index)
            return (inputs * np.nan if index == 19_990 else inputs), label

    rows = measured(Spoilt(20_000), None).measured.rows["inputs-not-finite"]
    assert rows.tolist() == [19_990]


def test_a_loader_yields_batches() -> None:
    batches = [(rng(i).standard_normal((32, 4)), np.full(32, i // 10)) for i in range(30)]
    found = facts(Batches(batches), None)
    assert found["samples_read"] == 960
    assert found["batch_class_purity"] == pytest.approx(1.0)


class Batches:
    def __init__(self, batches: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self.batches = batches

    def __iter__(self) -> Any:
        return iter(self.batches)


def test_wide_samples_are_thinned_and_said_so() -> None:
    images = rng().standard_normal((50, 3, 64, 64))
    images[7] = images[3]
    found = measured(images, np.arange(50) % 2)
    assert found.measured.facts["inputs_features"] == 4096
    assert "one in 3" in found.notes[0]
    assert found.measured.rows["samples-duplicated"].tolist() == [7]


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    whole = write_csv(tmp_path / "x.csv", sound(50))
    np.savez(tmp_path / "x.npz", x=np.zeros((100, 3)))
    pq.write_table(pa.table({"a": [1.0] * 100}), tmp_path / "x.parquet")
    np.save(tmp_path / "pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "pickled.npz", x=np.array([{}], dtype=object))
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "header.csv").write_text("a,b,label\n")
    (tmp_path / "bytes.csv").write_bytes(b"a,b\n\x00\x01\x02,1\n")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(whole.read_bytes())[:300])
    for name in ("x.npz", "x.parquet"):
        data = (tmp_path / name).read_bytes()
        (tmp_path / f"cut-{name}").write_bytes(data[: len(data) // 2])
    names = ["pickled.npy", "pickled.npz", "empty.csv", "header.csv", "bytes.csv", "cut.csv.gz", "cut-x.npz",
             "cut-x.parquet", "not-there.csv"]  # fmt: skip
    for name in names:
        with pytest.raises(ReadError) as error:
            measured(tmp_path / name, None)
        assert error.value.why, name


def test_an_archive_that_states_a_wrong_length(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.zeros((100, 3)))
    with zipfile.ZipFile(tmp_path / "x.npz") as archive:
        data = archive.read("x.npy").replace(b"(100, 3)", b"(900, 3)")
    with zipfile.ZipFile(tmp_path / "lies.npz", "w") as archive:
        archive.writestr("x.npy", data)
    with pytest.raises(ReadError, match="ends in the middle"):
        measured(tmp_path / "lies.npz", None)


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "x.csv", sound(50))
    with pytest.raises(ConfigError, match="did you mean 'label'"):
        measured(path, "labl")
    with pytest.raises(ConfigError, match="no column 'zzz'"):
        measured(path, "label", sensitive="zzz")
    short = write_csv(tmp_path / "y.csv", {k: v for k, v in sound(50).items() if k != "b"})
    with pytest.raises(ConfigError, match="has no column b"):
        measured(path, "label", validation=short)
    with pytest.raises(ConfigError, match="samples and 3 targets"):
        measured(np.zeros((4, 2)), np.zeros(3))


def test_names_are_escaped_and_no_sample_is_printed(tmp_path: Path) -> None:
    columns = {
        "\x1b[31mred\u202e": rng().standard_normal(60),
        "secret": ["hunter2"] * 59 + [""],
        "label": [0, 1] * 30,
    }
    found = measured(write_csv(tmp_path / "x.csv", columns))
    said = repr(found.measured.facts) + repr(found.notes) + repr(found.measured.reasons)
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "hunter2" not in said


def test_rows_with_another_number_of_cells_are_counted(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "x.csv", sound(50), rows=["1,2", "1,2,3,4,5,6"])
    assert facts(path)["rows_malformed"] == 2
    assert facts(path)["dataset_size"] == 50


def test_words_among_numbers_do_not_make_a_column_of_words(tmp_path: Path) -> None:
    columns = sound(100)
    columns["a"] = ["oops" if i == 40 else f"{v:.4f}" for i, v in enumerate(columns["a"])]
    found = facts(write_csv(tmp_path / "x.csv", columns))
    assert found["inputs_inconvertible"] == 1
    assert found["inputs_missing"] == 1
    assert found["inputs_nonfinite"] == 0


def test_row_numbers_and_names_of_rows_are_left_out(tmp_path: Path) -> None:
    columns = {"id": range(100), "uuid": [f"u{i * 7919 % 100}" for i in range(100)], **sound(100)}
    found = measured(write_csv(tmp_path / "x.csv", columns))
    assert found.measured.facts["inputs_features"] == 4
    assert found.notes == ("taken for row names and left out: id, uuid",)


def test_tensors_and_data_sets_of_torch(columns: dict[str, Any], held: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, TensorDataset

    values = torch.tensor(
        np.stack([columns[c] for c in COLUMNS], axis=1), dtype=torch.float64, requires_grad=True
    )
    label = torch.tensor(columns["label"])
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    items = TensorDataset(values.detach(), label)
    for found in (
        facts(values, label),
        facts(items, None),
        facts(DataLoader(items, 32, shuffle=True), None),
    ):
        assert_equal_facts(found, held)
    assert torch.equal(torch.rand(1), expected)

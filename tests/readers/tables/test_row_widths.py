"""Rows that become wider or narrower under one header."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

from traindx.readers import read_path
from traindx.vocabulary.run import Floats, Run

N = 100


def made() -> tuple[Floats, ...]:
    """Step, training loss, validation loss and accuracy of a run, to four digits."""
    noise = np.random.default_rng(0)
    n = np.arange(float(N))
    loss: Floats = 0.3 + 2.3 * np.exp(-n / 30) + noise.normal(0, 0.01, N)
    return 10 * n, loss.round(4), (loss + 0.3).round(4), (1 - loss / 3).round(4)


STEP, LOSS, VAL, ACCURACY = made()
Row = Callable[[int], Iterable[object]]


def written(
    folder: Path, header: str, first: Row, second: Row, turn: int = 50, mark: str = ","
) -> list[Run]:
    """The runs in a table whose rows are of another kind from row `turn` on."""
    rows = [mark.join(map(str, first(i) if i < turn else second(i))) for i in range(N)]
    path = folder / "log.csv"
    path.write_text("\n".join([header.replace(",", mark), *rows]) + "\n")
    return read_path(str(path))


def narrow(i: int) -> list[object]:
    return [STEP[i], LOSS[i], ACCURACY[i], 0.001]


def wide(i: int) -> list[object]:
    return [STEP[i], LOSS[i], VAL[i], ACCURACY[i], 0.001]


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_a_column_that_comes_later(mark: str, tmp_path: Path) -> None:
    (run,) = written(tmp_path, "step,loss,acc,lr", narrow, wide, mark=mark)
    for name, values in (("train/loss", LOSS), ("train/accuracy", ACCURACY), ("lr", np.full(N, 0.001))):
        np.testing.assert_array_equal(run.series[name].values, values)
        np.testing.assert_array_equal(run.series[name].steps, STEP)
    np.testing.assert_array_equal(run.series["c2"].values, VAL[50:])
    (event,) = run.events
    assert event.place == "line 52"
    assert (
        event.message == "rows have 5 cells instead of 4; by their values they are step, loss, c2, acc, lr"
    )


def test_a_column_that_goes(tmp_path: Path) -> None:
    (run,) = written(tmp_path, "step,loss,val_loss,acc,lr", wide, narrow)
    np.testing.assert_array_equal(run.series["train/loss"].values, LOSS)
    np.testing.assert_array_equal(run.series["val/loss"].values, VAL[:50])
    assert [e.code for e in run.events] == [""]  # it did not vanish: it is no longer written


def test_columns_that_come_with_another_run(tmp_path: Path) -> None:
    first, second = written(
        tmp_path,
        "epoch,accuracy,loss",
        lambda i: [i, ACCURACY[i], LOSS[i]],
        lambda i: [i - 50, ACCURACY[i - 50], LOSS[i - 50], 1 - VAL[i - 50], VAL[i - 50]],
    )
    np.testing.assert_array_equal(first.series["train/loss"].values, LOSS[:50])
    np.testing.assert_array_equal(second.series["train/loss"].values, LOSS[:50])


def test_next_to_words(tmp_path: Path) -> None:
    (run,) = written(
        tmp_path,
        "at,step,loss,acc",
        lambda i: ["monday", STEP[i], LOSS[i], ACCURACY[i]],
        lambda i: ["monday", STEP[i], LOSS[i], 8.5, ACCURACY[i]],
    )
    np.testing.assert_array_equal(run.series["train/loss"].values, LOSS)
    np.testing.assert_array_equal(run.series["train/accuracy"].values, ACCURACY)


def test_cells_that_could_be_either_are_neither(tmp_path: Path) -> None:
    twice = written(
        tmp_path, "step,loss,acc,lr", narrow, lambda i: [STEP[i], LOSS[i], LOSS[i], ACCURACY[i], 0.001], 20
    )
    (run,) = twice
    np.testing.assert_array_equal(run.series["train/loss"].values, LOSS[:20])
    np.testing.assert_array_equal(run.series["train/accuracy"].values, ACCURACY)


def test_rows_that_go_with_nothing_are_left_out(tmp_path: Path) -> None:
    noise = np.random.default_rng(1)
    (run,) = written(
        tmp_path, "step,loss,acc,lr", narrow, lambda i: (10 ** noise.uniform(5, 30, 6)).tolist()
    )
    np.testing.assert_array_equal(run.series["train/loss"].values, LOSS[:50])
    assert "50 lines have another number of cells" in run.events[0].message


def test_single_rows_of_another_width_are_left_out(tmp_path: Path) -> None:
    (run,) = written(tmp_path, "step,loss,acc,lr", narrow, lambda i: wide(i) if i % 5 == 0 else narrow(i))
    kept = [i for i in range(N) if i < 50 or i % 5]
    np.testing.assert_array_equal(run.series["train/loss"].values, LOSS[kept])


def test_rows_that_wait_do_not_pass_a_header(tmp_path: Path) -> None:
    """Three wider rows, then a header that names their columns: its rows begin after it, under its
    names."""
    before = [f"{STEP[i]},{LOSS[i]},{ACCURACY[i]}" for i in range(40)]
    wider = [f"{STEP[i]},{LOSS[i]},{VAL[i]},{ACCURACY[i]}" for i in range(40, N)]
    text = "\n".join(["step,loss,acc", *before, *wider[:3], "step,loss,val_loss,acc", *wider[3:]])
    (tmp_path / "log.csv").write_text(text + "\n")
    runs = read_path(str(tmp_path / "log.csv"))
    np.testing.assert_array_equal(runs[-1].series["val/loss"].values, VAL[43:])
    assert not any(name.startswith("c") for run in runs for name in run.series)
    logged = [e for run in runs for e in run.events if "another number of cells" in e.message]
    assert [e.place for e in logged[:1]] == ["line 42"]


def test_the_line_of_rows_that_are_recognized_is_theirs(tmp_path: Path) -> None:
    """Blank lines may be between them."""
    before = [",".join(map(str, narrow(i))) for i in range(50)]
    after = [",".join(map(str, wide(i))) for i in range(50, N)]
    (tmp_path / "log.csv").write_text(
        "\n".join(["step,loss,acc,lr", *before, after[0], "", "", *after[1:]]) + "\n"
    )
    (run,) = read_path(str(tmp_path / "log.csv"))
    assert [e.place for e in run.events if "by their values" in e.message] == ["line 52"]
    np.testing.assert_array_equal(run.series["train/loss"].values, LOSS)


def test_rows_of_another_kind_under_each_row(tmp_path: Path) -> None:
    """Statistics of a policy are printed as lists under each row of numbers; the header is that of the numbers."""
    names = [f"m{i}" for i in range(4)]
    rows = [
        f"{STEP[i]},{LOSS[i]},{VAL[i]},{ACCURACY[i]},0.1,0.2\n[0.3 0.7],[{i}.5 0.2],[0.8 0.{i}]"
        for i in range(20)
    ]
    path = tmp_path / "progress.csv"
    path.write_text("\n".join([",".join(["step", "loss", *names]), *rows]) + "\n")
    (run,) = read_path(str(path))
    assert run.series["train/loss"].values.tolist() == LOSS[:20].tolist()

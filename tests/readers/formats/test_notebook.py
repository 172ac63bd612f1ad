"""Notebooks are read by what their cells printed; notebooks that printed no training are not logs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.readers.sources import memory
from traindx.errors import NotALog
from traindx.readers import read_source
from traindx.readers.formats import notebook

LOSSES = (2.31, 1.9, 1.62, 1.41, 1.3, 1.22)
PRINTED = [f"Epoch {i}/6 loss: {loss}\n" for i, loss in enumerate(LOSSES, 1)]
TABLE = (
    "<table border='1' class='dataframe'><thead><tr><th>Epoch</th><th>Training Loss</th>"
    "<th>Validation Loss</th></tr></thead><tbody>"
    + "".join(
        f"<tr><td>{i}</td><td>{'No log' if i == 1 else loss}</td><td>{loss + 0.25}</td></tr>"
        for i, loss in enumerate(LOSSES, 1)
    )
    + "</tbody></table>"
)
FRAME = (
    "<table class='dataframe'><tr><th></th><th>height</th><th>weight</th></tr>"
    + "".join(f"<tr><td>{i}</td><td>1.7{i}</td><td>6{i}.5</td></tr>" for i in range(6))
    + "</table>"
)


def document(*outputs: dict[str, object], old: bool = False) -> str:
    cells = [
        {"cell_type": "markdown", "source": ["# Train\n"], "metadata": {}},
        {"cell_type": "code", "execution_count": 7, "metadata": {}, "source": [], "outputs": list(outputs)},
    ]
    return json.dumps({"worksheets": [{"cells": cells}]} if old else {"cells": cells, "nbformat": 4})


def stream(text: object) -> dict[str, object]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def result(**data: object) -> dict[str, object]:
    return {
        "output_type": "display_data",
        "data": {name.replace("_", "/"): text for name, text in data.items()},
        "metadata": {},
    }


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("text", [PRINTED, "".join(PRINTED)], ids=["lines", "whole"])
def test_what_a_cell_printed_is_the_log(text, old):
    (log,) = read_source(memory(document(stream(text), old=old), "train.ipynb"))
    np.testing.assert_array_equal(log.columns["loss"].values, LOSSES)
    assert "execution_count" not in log.columns


def test_a_table_that_a_progress_display_drew_is_read():
    table = result(text_html=[TABLE], text_plain=["<IPython.core.display.HTML object>"])
    (log,) = read_source(memory(document(table), "train.ipynb"))
    assert sorted(len(column.values) for column in log.columns.values()) == [5, 6]
    np.testing.assert_allclose(
        next(c.values for name, c in log.columns.items() if "alidation" in name), np.array(LOSSES) + 0.25
    )


def test_data_that_was_looked_at_is_no_log():
    frame = result(text_html=FRAME, text_plain="   height  weight\n0  1.70  60.5\n1  1.71  61.5\n")
    (log,) = read_source(memory(document(stream(PRINTED), frame), "train.ipynb"))
    assert list(log.columns) == ["loss"]


def test_the_error_that_ended_it_is_kept():
    trace = [
        "Traceback (most recent call last)",
        "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB",
    ]
    failed = {"output_type": "error", "ename": "RuntimeError", "evalue": "", "traceback": trace}
    (log,) = read_source(memory(document(stream(PRINTED), failed), "train.ipynb"))
    assert "out-of-memory" in {event.kind for event in log.events}


def test_a_notebook_that_was_not_run_says_so():
    with pytest.raises(NotALog, match="without outputs"):
        notebook.read(memory(document(), "train.ipynb"))


def test_other_json_is_not_claimed():
    assert notebook.sniff(memory('{"cells": [1, 2], "loss": [1.0, 0.5]}')) > 0  # asked only for `HOLDS`
    (log,) = read_source(memory(json.dumps({"loss": LOSSES, "cells": [1, 2, 3, 4, 5, 6]}), "history.json"))
    assert log.format == "json"


def test_a_notebook_in_the_middle_of_which_the_file_ends_is_read_so_far():
    text = document(stream(PRINTED), stream("more\n"))
    (log,) = read_source(memory(text[: text.index("more")], "train.ipynb"))
    assert len(log.columns["loss"].values) == len(LOSSES)

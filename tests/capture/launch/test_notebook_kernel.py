"""`%%traindx` in a real kernel: the page below the cell, a record for each run of it, restarts, errors."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

START = (
    "%load_ext traindx\nimport torch\ntorch.manual_seed(0); torch.set_num_threads(1)\nx = torch.randn(64, 3)"
)
TRAIN = """%%traindx
m = torch.nn.Linear(3, 1); o = torch.optim.SGD(m.parameters(), lr={lr})
for step in range({steps}):
    l = torch.nn.functional.mse_loss(m(x), x[:, :1]); o.zero_grad(); l.backward(); o.step()
    {last}
l.item()"""


def train(steps: int = 40, last: str = "", lr: float = 0.05) -> str:
    return TRAIN.format(steps=steps, last=last, lr=lr)


def run(cells: list[str], cwd: Path) -> list[Any]:
    """The outputs of each cell, in one kernel."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    client = nbclient.NotebookClient(
        book,
        timeout=120,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(cwd)}},
    )
    client.execute()
    return [cell.outputs for cell in book.cells]


def pages(outputs: Any) -> list[str]:
    """The pages in frames, as a browser would unpack them."""
    found = [o["data"]["text/html"] for o in outputs if "text/html" in o.get("data", {})]
    return [html.unescape(m[1]) for text in found if (m := re.search('srcdoc="([^"]*)"', text))]


def words(outputs: Any) -> str:
    return "".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") for o in outputs)


def test_a_cell_shows_its_page_each_time_it_is_run(tmp_path: Path) -> None:
    again = "%traindx"
    plain = train(20).replace("%%traindx\n", "")
    outputs = run(
        [
            START,
            train(),
            train(60),
            "%%traindx\n1 + 1",
            plain,
            again,
            "%unload_ext traindx\nprint(l.item())",
        ],
        tmp_path,
    )
    first, second = pages(outputs[1]), pages(outputs[2])
    assert len(first) == len(second) == 1
    assert first[0].startswith("<!DOCTYPE html>") or first[0].lstrip().lower().startswith("<!doctype html>")
    assert "40 points" in words(outputs[1])
    assert "60 points" in words(outputs[2])  # its own record: not 100
    assert "nothing trained in this cell" in words(outputs[3])
    assert "20 points" in words(outputs[5])
    folders = sorted(p.name for p in (tmp_path / "traindx-runs").iterdir())
    assert len(folders) == 3
    assert float(words(outputs[6])) < 1


def test_the_frame_is_isolated(tmp_path: Path) -> None:
    outputs = run([START, train()], tmp_path)
    (shown,) = [o["data"]["text/html"] for o in outputs[1] if "text/html" in o.get("data", {})]
    assert re.fullmatch(r'<iframe srcdoc="[^"]*" sandbox="allow-scripts"[^<>]*></iframe>', shown.strip())


def test_a_restarted_kernel_begins_anew(tmp_path: Path) -> None:
    for _ in range(2):
        assert "40 points" in words(run([START, train()], tmp_path)[1])
    assert len(list((tmp_path / "traindx-runs").iterdir())) == 2


def test_an_error_in_the_cell_is_reported_and_raised(tmp_path: Path) -> None:
    outputs = run([START, train(last="if step == 30: raise ValueError('odd shape')"), "%traindx"], tmp_path)
    assert any(o["output_type"] == "error" and o["ename"] == "ValueError" for o in outputs[1])
    assert "odd shape" in pages(outputs[1])[0]
    assert "nothing has trained yet" in words(outputs[2])


def test_the_training_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    with_us = run([START, train(last=""), "print(m.weight.tolist(), torch.rand(1).item())"], tmp_path)
    bare = [START.replace("%load_ext traindx\n", ""), train().replace("%%traindx\n", "")]
    without = run([*bare, "print(m.weight.tolist(), torch.rand(1).item())"], tmp_path)
    assert words(with_us[2]) == words(without[2])

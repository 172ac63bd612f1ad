"""Sources that are long, deeply nested or begin with a byte-order mark, and configurations without a value."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("libcst", reason="the extra `fix` is not installed")

from traindx.lab.conduct.environment import imported_packages
from traindx.lab.conduct.warm import imported_files, imports
from traindx.lab.edits import Advice, Patch, edit
from traindx.lab.edits.files import read_tree, write
from traindx.lab.edits.project import DEEPEST, MOST_TOKENS

SCRIPT = """import json, torch
cfg = json.load(open("cfg.json"))
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=cfg["lr"])
for i in range(20):
    opt.zero_grad()
    loss = model(torch.randn(8, 3)).square().mean()
    loss.backward()
    opt.step()
"""
LONG = {
    "functions": "".join(f"def f{i}(a):\n    return a + {i}\n" for i in range(8000)),
    "numbers": f"x = [{', '.join(map(str, range(150_000)))}]\n",
}
DEEP = {
    "brackets": "x = " + "[" * 5000 + "]" * 5000 + "\n",
    "signs": "x = " + "-" * 20_000 + "1\n",
    "sums": "x = " + "+".join(["1"] * 20_000) + "\n",
    "attributes": "x = a" + ".b" * 20_000 + "\n",
    "calls": "x = a" + "()" * 5000 + "\n",
    "words": "x = " + "not " * 20_000 + "1\n",
}
CHANGE = """import sys
from pathlib import Path
from traindx.lab.edits import Advice, edit
found = edit({"train.py": Path(sys.argv[1]).read_text(), "cfg.json": '{"lr": 0.5}'}, "train.py", "", ["lr=*0.1"])
print(found.why if isinstance(found, Advice) else "patched")
"""


@pytest.mark.parametrize("name", [*LONG, *DEEP])
def test_a_long_or_deep_source_is_left_as_it_is(name: str, tmp_path: Path) -> None:
    """In its own process: LibCST ends it with a signal at 5,000 brackets."""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT + (LONG | DEEP)[name])
    done = subprocess.run(
        [sys.executable, "-c", CHANGE, str(script)], capture_output=True, text=True, timeout=60
    )
    limit = f"more than {MOST_TOKENS} tokens" if name in LONG else f"more than {DEEPEST} deep"
    assert (done.returncode, done.stderr) == (0, "")
    assert limit in done.stdout


def test_a_nesting_that_the_parser_accepts_is_edited() -> None:
    text = SCRIPT + "x = " + "(1 + " * 40 + "1" + ")" * 40 + "\ny = [" + "1, " * 5000 + "]\n"
    assert isinstance(
        edit({"train.py": text, "cfg.json": '{"lr": 0.5}'}, "train.py", "", ["lr=*0.1"]), Patch
    )


def test_hundreds_of_branches_are_advice() -> None:
    text = SCRIPT + "if i == 0:\n    pass\n" + "".join(f"elif i == {n}:\n    pass\n" for n in range(600))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # Python's own: a library that another test imported may have raised it
    try:
        found = edit({"train.py": text, "cfg.json": '{"lr": 0.5}'}, "train.py", "", ["lr=*0.1"])
    finally:
        sys.setrecursionlimit(limit)
    assert isinstance(found, Advice)
    assert "nested too deeply" in found.why


@pytest.mark.parametrize("value", ["null", "{}", "[]", "true"])
def test_a_rate_without_a_value_is_advice(value: str) -> None:
    found = edit({"train.py": SCRIPT, "cfg.json": f'{{"lr": {value}}}'}, "train.py", "", ["lr=*0.1"])
    assert isinstance(found, Advice)
    assert "cannot tell where" in found.why


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("change", ["lr=*0.1", "clip=1.0"])
def test_a_byte_order_mark_and_line_ends_stay(end: str, change: str, tmp_path: Path) -> None:
    before = {"train.py": "\ufeff" + SCRIPT.replace("\n", end), "cfg.json": f'\ufeff{{"lr": 0.5}}{end}'}
    for name, text in before.items():
        (tmp_path / name).write_bytes(text.encode())
    found = edit(read_tree(tmp_path), "train.py", "", [change])
    assert isinstance(found, Patch)
    assert len(found.after) == 1
    write(tmp_path, found)
    for name in before:
        written = (tmp_path / name).read_bytes().decode()
        assert written.startswith("\ufeff")
        assert written.count("\n") == written.count(end)


@pytest.mark.parametrize("name", ["brackets", "signs", "sums"])
def test_imports_of_a_deep_source_are_none(name: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\n" + DEEP[name])
    assert imported_packages(script) == set() == set(imports(script.read_text()))


def test_a_source_with_a_hole_of_gigabytes_is_read_in_part(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\n")
    with script.open("r+b") as stream:
        stream.truncate(1 << 38)
    (only,) = imported_files(script, tmp_path)
    assert len(only[1]) < 1 << 24
    assert imported_packages(script) == set()


@pytest.mark.parametrize("rate", ["1e308", "1" + "0" * 400])
def test_a_rate_that_no_format_can_write_is_advice(rate: str) -> None:
    script = SCRIPT.replace("json", "tomllib").replace("cfg.tomllib", "cfg.toml")
    found = edit({"train.py": script, "cfg.toml": f"lr = {rate}\n"}, "train.py", "", ["lr=*100"])
    assert isinstance(found, Advice), found


def test_a_number_that_no_float_holds_is_advice() -> None:
    script = SCRIPT.replace('cfg["lr"]', "1e999")
    for change in ("lr=*0.1", "lr=*10"):
        assert isinstance(edit({"train.py": script}, "train.py", "", [change]), Advice)

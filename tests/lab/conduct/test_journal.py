"""The diary of a proof: what survives a kill, and whose diary it is."""

from __future__ import annotations

import json
from pathlib import Path

from traindx.lab.conduct.journal import FILE, Journal, about, find_unfinished, sentence


def test_what_was_written_is_there_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path, {"of": "a"})
    journal.write({"seed": 1})
    journal.write({"seed": 2})
    assert [e["seed"] for e in Journal(tmp_path, {"of": "a"}).entries] == [1, 2]


def test_a_torn_last_line_is_left_out_and_the_next_one_is_whole(tmp_path: Path) -> None:
    journal = Journal(tmp_path, {"of": "a"})
    journal.write({"seed": 1})
    with open(tmp_path / FILE, "ab") as file:
        file.write(b'{"seed": 2, "in')
    again = Journal(tmp_path, {"of": "a"})
    assert [e["seed"] for e in again.entries] == [1]
    again.write({"seed": 3})
    assert [e["seed"] for e in Journal(tmp_path, {"of": "a"}).entries] == [1, 3]


def test_the_diary_of_something_else_is_not_gone_on_with(tmp_path: Path) -> None:
    Journal(tmp_path, {"of": "a"}).write({"seed": 1})
    assert Journal(tmp_path, {"of": "b"}).entries == []
    lines = (tmp_path / FILE).read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"of": "b"}]


def test_another_command_option_or_input_is_named(tmp_path: Path) -> None:
    first = about(["python", "train.py"], {"cfg.json": "a", "out.txt": ""}, seeds=3)
    assert sentence(first, first) == ""
    assert sentence(first, {**first, "--seeds": 5}) == "--seeds changed since"
    assert sentence(first, {**first, "inputs": {"cfg.json": "b", "out.txt": "c", "new": "d"}}) == (
        "cfg.json, new changed since"
    )
    Journal(tmp_path, first).write({"seed": 1})
    assert Journal(tmp_path, {**first, "command": ["python", "other.py"]}).changed == "command changed since"


def test_the_newest_that_is_not_finished_is_found(tmp_path: Path) -> None:
    for name, of in (("train-1", "a"), ("train-2", "a"), ("train-3", "a"), ("train-4", "b")):
        (tmp_path / name).mkdir()
        Journal(tmp_path / name, {"of": of})
    (tmp_path / "train-3" / "fix.json").write_text("{}")
    assert find_unfinished(tmp_path, "train", {"of": "a"}, "fix.json") == (tmp_path / "train-2", "")
    assert find_unfinished(tmp_path, "other", {"of": "a"}, "fix.json") == (None, "")
    assert find_unfinished(tmp_path, "train", {"of": "c"}, "fix.json") == (
        None,
        f"of changed since {tmp_path / 'train-4'}",
    )

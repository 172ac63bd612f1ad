"""Configurations that nobody wrote by hand: read within bounds, or left alone with the reason."""

from __future__ import annotations

import pytest

from traindx.lab.edits import configs

pytest.importorskip("ruamel.yaml", reason="the extra `fix` is not installed")


def bomb(line: str) -> str:
    """39 lines, each with nine aliases of the one above."""
    lines = [line.format(i=i, above=",".join([f"*a{i - 1}"] * 9)) for i in range(1, 38)]
    return "\n".join(["a0: &a0 {lr: 1}", *lines, "lr: 50.0\n"])


ODD = {
    "aliases.yaml": (bomb("a{i}: &a{i} [{above}]"), "20000 values"),
    "merges.yaml": (bomb("a{i}: &a{i} {{<<: [{above}], b{i}: 1}}"), "nested too deep"),
    "cycle.yaml": ("a: &a [*a]\nlr: 50.0\n", "holds itself"),
    "cycle.yml": ("a: &a {b: *a}\nlr: 50.0\n", "holds itself"),
    "deep.yaml": ("[" * 5000, "too deep"),
    "lists.yaml": ("- " * 2000 + "1", "too deep"),
    "large.yaml": ("lr: 1\n" * 20_000, "larger than"),
    "deep.json": ("[" * 5000 + "]" * 5000, "too deep"),
    "long.json": ('{"lr": ' + "1" * 5000 + "}", "limit"),
    "deep.toml": ("a = " + "[" * 5000, "too deep"),
    "dots.toml": (".".join("a" * 20_000) + " = 1", "too deep"),
    "tag.yaml": ("!!python/object:os.system {}", "damaged"),
    "key.yaml": ("? {a: 1}\n: 1\n", "damaged"),
    "date.yaml": ("a: 9999-99-99\n", "month"),
}


@pytest.mark.parametrize("name", ODD)
def test_it_is_left_alone_and_the_reason_is_given(name: str) -> None:
    text, why = ODD[name]
    found = configs.read(name, text)
    assert found.document is None
    assert why in found.why
    assert configs.parse(name, text) is None
    assert configs.entries_ending_with(configs.parse(name, text), ("lr",)) == []


def test_aliases_that_people_write_are_read() -> None:
    text = "base: &base {lr: 0.1}\nsmall:\n  <<: *base\n  width: 8\nboth: [*base, *base]\n"
    assert configs.parse("c.yaml", text)["small"] == {"lr": 0.1, "width": 8}


def test_a_document_that_was_changed_is_read_anew() -> None:
    first = configs.parse("c.json", '{"lr": 1}')
    first["lr"] = 2
    assert configs.parse("c.json", '{"lr": 1}') == {"lr": 1}

"""docs/gradients-and-activations.md: its pictures are there, its words are those that the code says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import modules, modules_text
from tests.captured import NAMES, captured
from traindx.cli.module_tables import limits
from traindx.features.per_module import flags
from traindx.features.per_module.table import table

PICTURES = [(name, kind) for name, case in modules.CASES.items() for kind in case.kinds]


def test_every_flag_is_explained() -> None:
    said = re.findall(r"Flag\(\s*\"([^\"]+)\"", Path(flags.__file__).read_text(encoding="utf-8"))
    assert set(said) == set(modules_text.FLAGS)


def test_all_flags_but_two_are_seen_in_recorded_runs() -> None:
    """Those two have tests of their own with made values."""
    seen = set()
    for name in NAMES:
        for kind in ("gradients", "activations"):
            found = table(captured(name), kind, limits())  # type: ignore[arg-type]
            seen |= {flag.word for row in found.rows for flag in row.flags} if found is not None else set()
    assert set(modules_text.FLAGS) - seen <= {"died", "imbalanced"}


def test_the_page_has_no_gaps() -> None:
    page = modules.page()
    assert not re.findall(r"\{[a-z]", page)
    assert all(page.count(f"images/modules/{modules.picture(*which)}") == 1 for which in PICTURES)
    assert {p.name for p in modules.IMAGES.iterdir()} == {modules.picture(*which) for which in PICTURES}
    assert {p.stem for p in modules.TRACES.iterdir()} == set(modules.CASES)


@pytest.mark.parametrize(("name", "kind"), PICTURES)
def test_pictures_can_be_redrawn(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules, "IMAGES", tmp_path)
    monkeypatch.setattr(modules, "CASES", {name: modules.CASES[name]._replace(kinds=(kind,))})
    (path,) = modules.draw()
    assert path.read_bytes().startswith(b"\x89PNG")
    assert (
        (Path(modules.__file__).parent / "images" / "modules" / path.name)
        .read_bytes()
        .startswith(b"\x89PNG")
    )


def test_what_the_page_claims_of_its_runs() -> None:
    words = {
        which: {flag.word for row in modules.shown(*which).rows for flag in row.flags}  # type: ignore[arg-type]
        for which in PICTURES
    }
    assert words.pop(("deep-sigmoid", "gradients")) == {"vanishing", "small steps"}
    assert words.pop(("dead-relus", "gradients")) == {"died"}
    assert words.pop(("dead-relus", "activations")) == {"silent", "constant"}
    assert words.pop(("exploding-rnn", "gradients")) == {"leaps"}
    assert set(map(frozenset, words.values())) == {frozenset()}
    head = modules.shown("exploding-rnn", "gradients").rows[-1].courses["update_ratio"]
    assert 0.4 < head.most < 0.7
    assert modules.shown("healthy", "gradients").learning
    assert modules.shown("deep-sigmoid", "gradients").learning is False

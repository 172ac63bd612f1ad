"""The scripts that `python -m benchmarks.check` runs: labelled, parsable, each with its own fault."""

from __future__ import annotations

import ast

import pytest

from benchmarks import PROGRAM_FILES
from benchmarks.check.__main__ import LABELS, scripts
from traindx.checks.catalogue import CHECKS

SLUGS = {check.slug for check in CHECKS}


def test_every_faulty_script_has_a_label() -> None:
    assert {name for name in scripts() if name.startswith("faulty_")} == set(LABELS)
    assert sum(name.startswith("healthy_") for name in scripts()) >= 15
    assert len(LABELS) >= 30


@pytest.mark.parametrize("name", sorted(LABELS))
def test_labels_are_checks(name: str) -> None:
    assert LABELS[name]
    assert set(LABELS[name]) <= SLUGS


@pytest.mark.parametrize("name", scripts())
def test_scripts_are_parsable_and_seeded(name: str) -> None:
    text = (PROGRAM_FILES / "check" / f"{name}.py").read_text(encoding="utf-8")
    ast.parse(text)
    assert "manual_seed" in text

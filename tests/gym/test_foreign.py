"""The manifest of public programs for `traindx fix`, and the figures that its rows come to."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks.repair.foreign import HERE, Fault, Manifest, Row, figures

MANIFEST = msgspec.json.decode((HERE / "foreign.json").read_bytes(), type=Manifest)


def test_each_fault_is_of_a_program_and_has_a_half() -> None:
    programs = {one.name: one for one in MANIFEST.programs}
    assert len(programs) == len(MANIFEST.programs)
    assert len({one.name for one in MANIFEST.faults}) == len(MANIFEST.faults)
    assert {one.program for one in MANIFEST.faults} == set(programs) | {"circles"}
    assert sum(not one.edits for one in MANIFEST.faults) >= 5
    assert {one.half for one in MANIFEST.faults} == {"developed", "measured"}
    assert all(len(one.commit) == 40 for one in MANIFEST.programs)


def test_figures_count_what_they_say() -> None:
    faults = [Fault("a", "p", {"x": "y"}), Fault("b", "p", {"x": "z"}), Fault("c", "p")]
    rows = {
        "a": Row("fixed", ["lower-learning-rate"], 9.0, True, True, [0.9, 0.5, 0.86]),
        "b": Row("fixed", ["feed-logits-to-loss"], 9.0, True, True, [0.9, 0.5, 0.4]),
        "c": Row("nothing-to-fix", [], 9.0, False, False, [None, None, None]),
    }
    assert rows["a"].closed == pytest.approx(0.9)
    assert [value for _, value in figures(rows, faults)] == ["2 of 2", "1", "1", "2 of 2", "1 of 1"]
    even = Row("fixed", [], 9.0, True, True, [0.9, 0.9, 0.95])
    assert even.closed is None, "no gap to close"

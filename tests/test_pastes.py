"""Short logs as somebody would paste them, and what a practitioner says of each (see tests/pastes/README.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from traindx import pipeline
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.readers.raw import Source
from traindx.vocabulary.diagnosis import RunDiagnosis

HERE = Path(__file__).parent / "pastes"
LABELS: dict[str, dict[str, Any]] = json.loads((HERE / "labels.json").read_text())
WORSE = ("healthy", "watch", "sick", "failed")


def diagnosed(name: str) -> tuple[RunDiagnosis, ...]:
    data = (HERE / f"{name}.txt").read_bytes()
    logs = read_source(Source("-", data=data, head=data[:65536]))
    return pipeline.diagnose(tuple(run for log in logs for run in assemble(log))).document.runs


@pytest.mark.parametrize("name", LABELS)
def test_says_what_a_practitioner_says(name: str) -> None:
    label, runs = LABELS[name], diagnosed(name)
    said = {f.slug for r in runs for f in r.findings} | {str(e["kind"]) for r in runs for e in r.run.events}
    for group in label["says"]:
        assert set(group.split("|")) & said, f"{group} is not said, but {sorted(said)}"
    loud = {f.slug for r in runs for f in r.findings if f.severity != "info"}
    assert not loud & set(label["never"])
    assert max((r.health for r in runs), key=WORSE.index) in label["health"]
    assert {r.decision.action for r in runs} & set(label["action"])
    if label["cause"]:
        assert runs[0].hypotheses[0].cause in label["cause"]


def test_every_paste_has_a_label() -> None:
    assert {p.stem for p in HERE.glob("*.txt")} == set(LABELS)

"""Public programs: those that do not train here say nothing of the verdicts."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from benchmarks.world.__main__ import HERE, NOT_STARTED, Program, Row, Start, report, untrained

MISSING = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'torchvision'\n"


@pytest.mark.parametrize(
    ("status", "err", "why"),
    [
        (1, MISSING, "ModuleNotFoundError: No module named 'torchvision'"),
        (-9, "", "status -9"),
        (0, "UserWarning: this is slow\n", ""),
        (124, "", ""),  # stopped at the limit, in the middle of its training
    ],
)
def test_why_a_program_did_not_train(status: int, err: str, why: str) -> None:
    assert untrained(status, err) == why


def test_a_program_that_did_not_start_has_no_verdict(tmp_path: Path) -> None:
    programs = msgspec.json.decode((HERE / "programs.json").read_bytes(), type=list[Program])
    chosen = [program for program in programs if not program.flaw][:2]
    for program, status in zip(chosen, (1, 0), strict=True):
        record = tmp_path / program.name / "record"
        record.mkdir(parents=True)
        (record / "loss.csv").write_text(
            "step,loss\n" + "\n".join(f"{i},{2.3 * 0.95**i}" for i in range(90))
        )
        row = Row(None, Start(status, 1.0, 1.0, "", MISSING if status else ""), True)
        (tmp_path / program.name / "row.json").write_bytes(msgspec.json.encode(row))
    table, _, counts = report(chosen, tmp_path).partition("programs without a flaw: ")
    assert f"{NOT_STARTED} 1" in counts
    assert "watch 0" in counts
    assert "torchvision" in table

"""Diagnoses the records of a folder of programs, and prints how right they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.gym.captured import RECORD
from benchmarks.gym.programs.outcome import labelled
from benchmarks.gym.runner import rows
from benchmarks.gym.scoring.diagnoses import Record, captured
from benchmarks.gym.scoring.tables import markdown, share

SURE = 0.95


def report(folder: Path) -> str:
    """Tables as Markdown: verdicts, programs as they stand, faults by severity, each fault."""
    journal = labelled(rows(folder / "journal.jsonl"))
    counts = Counter(row["verdict"] for row in journal)
    said = [
        captured(row, folder / "runs" / row["id"] / RECORD) for row in journal if row["verdict"] != "failed"
    ]
    read = [r for r in said if isinstance(r, Record)]
    parts = [
        f"{len(journal)} runs: " + ", ".join(f"{n} {v}" for v, n in counts.most_common()),
        f"{len(said) - len(read)} not read: {Counter(r for r in said if isinstance(r, str)).most_common()}",
        "## Healthy programs\n\n" + healthy([r for r in read if r.healthy]),
        "## Faults that hurt\n\n" + faults([r for r in read if r.hurt]),
        "## Faults without harm\n\n" + each([r for r in read if r.row["verdict"] == "harmless"]),
        "## Each healthy program\n\n" + each([r for r in read if r.healthy]),
        "## Each fault that hurts\n\n" + each([r for r in read if r.hurt]),
        "## Not counted\n\n" + "\n".join(f"{row['id']}: {row['verdict']}" for row in journal
                                         if row["verdict"] in ("failed", "twin-failed")),
    ]  # fmt: skip
    return "\n\n".join(parts)


def healthy(found: list[Record]) -> str:
    """How programs without a fault are called, and what they are accused of."""
    called = Counter(r.health for r in found)
    accused = Counter(r.causes[0][0] for r in found if r.causes[0][0] != "healthy")
    return f"{dict(called)} of {len(found)}; first answer not healthy: {dict(accused)}"


def faults(found: list[Record]) -> str:
    """Right answers by severity and by split."""
    groups = {s: [r for r in found if r.row["severity"] == s] for s in ("mild", "clear", "gross", "found")}
    groups |= {s: [r for r in found if r.row["split"] == s] for s in ("fit", "held")}
    groups |= {"all": found, "single": [r for r in found if not r.row["second"]]}
    sure = [r for r in found if r.causes[0][1] >= SURE]
    groups[f"first answer at {SURE:.0%} or more"] = sure
    return markdown(("faults", "runs", "first", "in three", "called healthy"),
                    ((name, len(g), share(firsts(g), len(g)), share(thirds(g), len(g)),
                      sum(r.causes[0][0] == "healthy" for r in g)) for name, g in groups.items()))  # fmt: skip


def firsts(found: Iterable[Record]) -> int:
    return sum(r.rank() == 1 for r in found)


def thirds(found: Iterable[Record]) -> int:
    return sum((r.rank() or 9) <= 3 for r in found)


def each(found: list[Record]) -> str:
    """One row a run."""
    return markdown(("run", "severity", "harm", "health", "right", "said"), (
        (r.row["id"], r.row["severity"] or "", "" if r.row["harm"] is None else f"{r.row['harm']:.2f}", r.health,
         r.rank() or "-", ", ".join(f"{c} {p:.2f}" for c, p in r.causes[:3])) for r in found))  # fmt: skip

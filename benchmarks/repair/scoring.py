"""What the benchmark counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean, median
from typing import Any

from benchmarks.repair.cases import Case

CONFIRMED = "confirmed"
NOISE = (
    0.03  # of skill: what a repaired script may stand below the faulty one on unseen seeds, and be no worse
)
HARM = 0.05  # of skill between a faulty script and its twin: with less there is no gap to close
MOST = 0.8  # of the gap that is to be closed


def judged(case: Case, document: dict[str, Any], skills: dict[str, Sequence[float]]) -> dict[str, Any]:
    """One row: whether the cause was named, a fix confirmed, and what became of the metric on unseen seeds.
    `skills`: those of the faulty script, its twin and what was returned."""
    hypotheses = document.get("diagnosis", {}).get("hypotheses", [])
    named = [one["cause"] for one in hypotheses if one["cause"] != "healthy"][: len(case.causes)]
    proven = [one.get("cause", "") for one in document.get("trials", []) if one.get("verdict") == CONFIRMED]
    named += [cause for causes in proven for cause in causes.split(" + ")]  # what a confirmed trial was for
    confirmed = [one.get("fix") for one in document.get("trials", []) if one.get("verdict") == CONFIRMED]
    faulty, twin = (mean(skills.get(name) or [0.0]) for name in ("faulty", "twin"))
    returned = mean(skills["returned"]) if skills.get("returned") else faulty
    gap = twin - faulty
    return {
        "verdict": document.get("verdict"),
        "applied": document.get("applied", []),
        "causes_found": sum(bool(set(right) & set(named)) for right in case.causes),
        "named": named,
        "trials": [
            [one.get(k) for k in ("fix", "verdict", "interventions")] for one in document.get("trials", [])
        ],
        "notes": document.get("notes", []),
        "reason": document.get("reason"),
        "fix_confirmed": bool(confirmed),
        "faulty": faulty,
        "twin": twin,
        "returned": returned,
        "worse": returned < faulty - NOISE,
        "closed": (returned - faulty) / gap if gap > HARM and case.causes else None,
    }


def table(rows: Iterable[dict[str, Any]]) -> str:
    """The figures, one line each."""
    rows = list(rows)
    lines = []
    for kind in ("faulty", "double", "healthy", "trap"):
        of_kind = [row for row in rows if row["kind"] == kind]
        if of_kind:
            lines += counted(kind, of_kind)
    return "\n".join(lines)


def counted(kind: str, rows: list[dict[str, Any]]) -> list[str]:
    n = len(rows)
    worse = f"made worse on unseen seeds: {sum(row['worse'] for row in rows)} of {n}"
    times = [row["seconds"] / row["plain_seconds"] for row in rows if row["plain_seconds"]]
    used = [row["cpu"] / row["plain_cpu"] for row in rows if row["plain_cpu"]]
    price = (
        f"wall time beside one plain training: median {median(times):.1f}x, most {max(times):.1f}x; "
        f"processor time: median {median(used):.1f}x"
    )
    if kind in ("healthy", "trap"):
        silent = sum(row["verdict"] == "nothing-to-fix" for row in rows)
        return [f"{kind}: nothing to fix said of {silent} of {n}", f"  {worse}", f"  {price}"]
    found = sum(row["causes_found"] == row["faults"] for row in rows)
    gaps = [row["closed"] for row in rows if row["closed"] is not None]
    return [
        f"{kind}: cause{'s' if kind == 'double' else ''} found: {found} of {n}",
        f"  a fix confirmed: {sum(row['fix_confirmed'] for row in rows)} of {n}",
        f"  {worse}",
        f"  {MOST:.0%} of the gap to the twin closed: {sum(g >= MOST for g in gaps)} of {len(gaps)} with a gap",
        f"  {price}",
    ]

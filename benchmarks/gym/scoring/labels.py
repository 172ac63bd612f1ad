"""What each run is labelled: a fault counts where it did harm against the clean twins, over all its seeds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from statistics import mean
from typing import Any

MARGIN = 0.03  # of skill that seeds may differ by
LOST = 0.07  # of the twins' skill that must be lost
UNTRUE = 0.06  # of accuracy that a report must be wrong by, beyond the twins'
SLOWER = 1.6  # times the twins' seconds per step
HEAVIER = 3.0  # times the twins' growth of memory
WORTH = 0.25  # skill that a twin must reach at least


def labelled(journal: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The journal's rows with `verdict`, `harm` and `causes`: hurts, harmless, healthy, twin-failed, failed (the
    script did not come to an end), alone (fewer than two seeds)."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in journal:
        groups[row["group"]].append(row)
    return [{**row, **verdict(groups[row["group"]], groups.get(row["twin"], []))} for row in journal]


def verdict(case: list[dict[str, Any]], twins: list[dict[str, Any]]) -> dict[str, Any]:
    """Verdict on a case (runs of all seeds) against its twins."""
    clean = case[0]["fault"] is None
    if any("skill" not in row for row in (*case, *twins)):
        return {"verdict": "failed", "harm": None, "causes": []}
    worth = [row["skill"] for row in (case if clean else twins)]
    if min(worth, default=0.0) < WORTH:
        return {"verdict": "twin-failed", "harm": None, "causes": []}
    if clean:
        return {"verdict": "healthy", "harm": 0.0, "causes": ["healthy"]}
    if len(case) < 2 or len(twins) < 2:
        return {"verdict": "alone", "harm": None, "causes": []}
    harm, hurts = MEASURES[case[0]["harm_in"]](case, twins)
    right = [case[0]["cause"], *case[0]["also"], *case[0].get("second", ())]
    return {
        "verdict": "hurts" if hurts else "harmless",
        "harm": round(harm, 4),
        "causes": right if hurts else ["healthy", *right],
    }


def model(case: list[dict[str, Any]], twins: list[dict[str, Any]]) -> tuple[float, bool]:
    """Share of the twins' skill that is lost."""
    good, own = [t["skill"] for t in twins], [c["skill"] for c in case]
    harm = 1 - mean(own) / mean(good)
    return harm, harm >= LOST and max(own) < min(good) - MARGIN


def report(case: list[dict[str, Any]], twins: list[dict[str, Any]]) -> tuple[float, bool]:
    """By how much what the script says of its model is wrong, beyond its twins': accuracy, or loss by its logarithm
    (of which 1 counts as much as 0.1 of accuracy)."""
    harms = []
    for key, gap in (("told", accuracy_gap), ("losses", loss_gap)):
        own, usual = untrue(case, key, gap), untrue(twins, key, gap) or [0.0]
        if own:
            harms.append((mean(own) - mean(usual), min(own) >= max(usual) + UNTRUE))
    return max(harms, key=lambda h: (h[1], h[0]), default=(0.0, False))


def untrue(rows: list[dict[str, Any]], key: str, gap: Callable[[dict[str, Any]], float]) -> list[float]:
    """The gaps of all rows; none, if one of them does not tell."""
    return [] if any(row.get(key) is None for row in rows) else [gap(row) for row in rows]


def accuracy_gap(row: dict[str, Any]) -> float:
    return abs(float(row["told"]) - float(row["true"]))


def loss_gap(row: dict[str, Any]) -> float:
    told, true = row["losses"]
    if not (math.isfinite(told) and math.isfinite(true) and told > 0 and true > 0):
        return 0.0
    return min(1.0, 0.1 * abs(math.log(told / true)))


def pace(case: list[dict[str, Any]], twins: list[dict[str, Any]]) -> tuple[float, bool]:
    """Seconds per step against the twins', less one."""
    usual, own = ([r["seconds"] / r["steps"] for r in rows] for rows in (twins, case))
    return mean(own) / mean(usual) - 1, min(own) > SLOWER * max(usual)


def growth(case: list[dict[str, Any]], twins: list[dict[str, Any]]) -> tuple[float, bool]:
    """Bytes by which the process grew in a run, against the twins', less one."""
    usual, own = ([max(r["grown"], 1.0) for r in rows] for rows in (twins, case))
    return mean(own) / mean(usual) - 1, min(own) > HEAVIER * max(usual)


def end(case: list[dict[str, Any]], twins: list[dict[str, Any]]) -> tuple[float, bool]:
    """Share of the runs that died; it hurts where all did, and none of the twins."""
    died = [row["status"] != 0 for row in case]
    return mean(died), all(died) and not any(row["status"] for row in twins)


MEASURES = {"model": model, "report": report, "time": pace, "memory": growth, "end": end}

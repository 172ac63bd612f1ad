"""What each run is labelled, in the words of `scoring.labels`, with a fault's harm measured against its twins.

A program is run as it stands and with other seeds; a fault may have fewer runs than its twins.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import mean
from typing import Any

from benchmarks.gym.scoring import labels


def labelled(journal: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The journal's rows with `verdict`, `harm` and `causes`, as `scoring.labels.labelled` gives them."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in journal:
        groups[row["group"]].append(row)
    return [{**row, **verdict(groups[row["group"]], groups.get(row["twin"], []))} for row in journal]


def verdict(case: list[dict[str, Any]], twins: list[dict[str, Any]]) -> dict[str, Any]:
    """Verdict on a case against its twins; without a fault, whether the program is worth anything. A program after
    a published fault has no twins, and hurts (or is well) by its description."""
    if case[0]["severity"] == "found":
        well = case[0]["cause"] == "healthy"
        causes = [case[0]["cause"], *case[0]["also"]]
        return {"verdict": "healthy" if well else "hurts", "harm": 0.0 if well else None, "causes": causes}
    fault = case[0]["fault"] is not None
    if any("skill" not in row for row in (*case, *twins)):
        return {"verdict": "failed", "harm": None, "causes": []}
    worth = twins if fault else case
    if min((row["skill"] for row in worth), default=0.0) < labels.WORTH:
        return {"verdict": "twin-failed", "harm": None, "causes": []}
    if not fault:
        return {"verdict": "healthy", "harm": 0.0, "causes": ["healthy"]}
    harm, hurts = labels.MEASURES[case[0]["harm_in"]](told(case, twins), told(twins, twins))
    right = [case[0]["cause"], *case[0]["also"], *case[0]["second"]]
    causes = right if hurts else ["healthy", *right]
    return {"verdict": "hurts" if hurts else "harmless", "harm": round(harm, 4), "causes": causes}


def told(runs: list[dict[str, Any]], twins: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs with what they say of their models as `told`, and as `true` what the twins say of theirs: a fault of
    the report changes nothing in the model. Of a language model they say a loss, which may be too good for its skill
    to show it."""
    true = mean(row["skill"] for row in twins)
    loss = mean(row["final"] for row in twins)
    return [{**row, "told": row["skill"], "true": true,
             "losses": (row["final"], loss) if row["task"] == "lm" and "final" in row else None}
            for row in runs]  # fmt: skip

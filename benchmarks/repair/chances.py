"""What verdicts of trials tell of causes: how often each came where the change cures a right cause, and where not.

The weights that `traindx.causes.experiments.belief` multiplies with, fitted: counts over the trials of a journal, smoothed by
what was set by hand, which counts as ten trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.gym.runner import rows
from benchmarks.repair.cases import cases
from traindx.fixes import find

BY_HAND: Mapping[str, tuple[float, float]] = {
    "confirmed": (0.80, 0.10), "refuted": (0.08, 0.50), "harmful": (0.04, 0.20), "inconclusive": (0.08, 0.20),
}  # fmt: skip
WORTH = 10.0  # trials
AND = " + "  # two changes at once tell of neither cause alone


def main(folder: Path, _words: Sequence[str]) -> None:
    """Print the counts and the weights of a folder's journal."""
    right = {case.name: {cause for fault in case.causes for cause in fault} for case in cases()}
    print(table(rows(folder / "journal.jsonl"), right))


def counted(
    found: Sequence[Mapping[str, Any]], right: Mapping[str, set[str]]
) -> tuple[Counter[str], Counter[str]]:
    """Verdicts of changes that cure a right cause, and of the others."""
    yes: Counter[str] = Counter()
    no: Counter[str] = Counter()
    for row in found:
        for slug, verdict, _ in row["trials"]:
            fix = find(slug)
            if AND not in slug and fix is not None and row["id"] in right:
                (yes if right[row["id"]] & set(fix.causes) else no)[verdict] += 1
    return yes, no


def table(found: Sequence[Mapping[str, Any]], right: Mapping[str, set[str]]) -> str:
    """A line for each verdict: counts, and the weights that they make."""
    yes, no = counted(found, right)
    lines = [f"trials of a right cause {sum(yes.values())}, of others {sum(no.values())}"]
    for verdict, prior in BY_HAND.items():
        weights = [
            (counts[verdict] + WORTH * by_hand) / (sum(counts.values()) + WORTH)
            for counts, by_hand in zip((yes, no), prior, strict=True)
        ]
        lines.append(f"  {verdict}: {yes[verdict]}, {no[verdict]} -> {weights[0]:.3f}, {weights[1]:.3f}")
    return "\n".join(lines)

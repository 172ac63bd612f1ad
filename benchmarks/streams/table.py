"""What was replayed, as a Markdown table: false alarms, warnings, delay, and the compute that stopping would save."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.streams.replay import STOP, TOOLS, Replayed

HEAD = (
    "", "fine runs alarmed", "harmless faults alarmed", "sick runs warned before the end",
    "median share of the run at the warning", "median steps",
)  # fmt: skip


def table(found: list[Replayed]) -> str:
    """A row for each tool, then what stopping at the first advice to stop saves and costs."""
    rows = [HEAD, ("---",) * len(HEAD), *(row(tool, found) for tool in TOOLS)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows) + "\n\n" + saved(found)


def row(tool: str, found: list[Replayed]) -> tuple[str, ...]:
    early = [one for one in runs_of(found, "sick") if one.first.get(tool, 1.0) < 1.0]
    shares = [one.first[tool] for one in early]
    steps = [one.first[tool] * one.last for one in early]
    return (
        tool,
        alarmed(tool, runs_of(found, "fine")),
        alarmed(tool, runs_of(found, "harmless")),
        f"{len(early)} of {len(runs_of(found, 'sick'))}",
        f"{np.median(shares):.2f}" if early else "",
        f"{np.median(steps):,.0f}" if early else "",
    )


def runs_of(found: Iterable[Replayed], kind: str) -> list[Replayed]:
    return [one for one in found if one.kind == kind]


def alarmed(tool: str, found: list[Replayed]) -> str:
    return f"{sum(tool in one.first for one in found)} of {len(found)}"


def saved(found: list[Replayed]) -> str:
    """The share of all compute that ending each run at its first advice to stop would have saved."""
    lines = []
    for kind, said in (("sick", "saves"), ("harmless", "costs"), ("fine", "costs")):
        runs = runs_of(found, kind)
        if runs:
            share = np.mean([1 - one.first.get(STOP, 1.0) for one in runs])
            lines.append(f"- {kind} runs: stopping at the advice {said} {share:.1%} of their compute")
    return "\n".join(lines)

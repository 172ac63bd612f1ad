"""docs/frameworks.md: what each framework can show."""

from __future__ import annotations

import re
from pathlib import Path

from traindx.capture.framework import frameworks
from traindx.capture.signals import catalogue

HEAD = """# What each framework can show

Signals, names and facts are the same in all frameworks, so rules and causes are, too. Losses, metrics and their
validation are recorded in all. A dash: not recorded yet. [What is recorded](capture.md) says how each is measured.
"""
TAIL = """
`python -m benchmarks.frames` trains one set of twelve faults and six healthy twins in each
([benchmarks](benchmarks.md)).
"""
CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"  # what the tests ran with


def page() -> str:
    known = frameworks()
    rows = [["", *(framework.title or framework.label for framework in known)], ["---"] * (len(known) + 1)]
    for family in catalogue():
        shown = [framework.shows is None or family.kind in framework.shows for framework in known]
        names = ", ".join(f"`{name}`" for name in family.signals)
        rows.append([names, *("yes" if yes else "–" for yes in shown)])
    rows.append(["started by", *(framework.started_by for framework in known)])
    tested = dict(re.findall(r"^([\w-]+)==(\S+)$", CONSTRAINTS.read_text(encoding="utf-8"), re.MULTILINE))
    rows.append(
        ["tested with", *(", ".join(f"{name} {tested[name]}" for name in f.tested_with) for f in known)]
    )
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    observed = "\n".join(f"- **{framework.label}**: {framework.observed_by}" for framework in known)
    return f"{HEAD}\n{table}\n\n## How a training is observed, and what that costs\n{observed}\n{TAIL}"

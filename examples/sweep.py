"""Sort the runs of a sweep: which are healthy, which can be stopped, and why.

python examples/sweep.py runs/
"""

from __future__ import annotations

import sys

import traindx

ORDER = ("failed", "sick", "watch", "healthy")


def main(folder: str) -> None:
    diagnosis = traindx.diagnose(traindx.read_all(folder))
    for run in sorted(diagnosis.document.runs, key=lambda run: ORDER.index(run.health)):
        first = run.findings[0].slug if run.findings else "nothing found"
        cause = run.hypotheses[0]
        print(
            f"{run.health:8} {run.decision.action:9} {run.run.id}: {first}; {cause.title} ({cause.probability:.0%})"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

"""How good the forecasts are: `python -m benchmarks.forecast PATH… [--table FILE]`.

Every run found in the paths (and the project's own synthetic look-alikes with `--own`) is cut at 25, 50 and 75 % of
its points; the level at its end is forecast from what is left, and compared with the level that it really reached and
with the simplest forecast there is: the last level known. Errors are in units of the run's whole range (so that runs
can be averaged); coverage counts how often the true level lay inside the 80 % and 95 % intervals.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from traindx import pipeline
from traindx.errors import ReadError
from traindx.features.curve import Curve
from traindx.features.curves.forecast import QUANTILES, forecast_curve
from traindx.features.shared import Features
from traindx.vocabulary.run import Run, series

CUTS = (0.25, 0.5, 0.75)
LEAST = 40  # points of a run that is worth cutting


def curves(runs: list[Run]) -> list[Curve]:
    """The curves that the diagnosis would forecast: losses that did not fail."""
    found = []
    for run in runs:
        features = Features(run)
        for name in dict.fromkeys((features.objective_name, "val/loss")):
            curve = features.curve(name) if name else None
            if (
                curve is not None
                and curve.n >= LEAST
                and np.isfinite(curve.raw.values).all()
                and curve.span > 0
            ):
                found.append(curve)
    return found


def score(curve: Curve, cut: float) -> tuple[float, float, dict[float, bool]] | None:
    """(error, error of the last value, inside each interval) of one curve cut at `cut`."""
    known = int(curve.n * cut)
    part = Curve(curve.name, series(curve.steps[:known], curve.values[:known]))
    tail = max(3, curve.n // 20)
    made = forecast_curve(part, float(np.median(curve.steps[-tail:])))
    if made is None:
        return None
    middle, sigma = made
    true = float(np.median(curve.values[-tail:]))
    last = float(np.median(part.values[-tail:]))
    scale = max(abs(curve.start - curve.best), curve.span)
    inside = {level: abs(middle - true) <= width * sigma for level, width in QUANTILES.items()}
    return abs(middle - true) / scale, abs(last - true) / scale, inside


def table(found: list[Curve]) -> str:
    lines = [
        "| cut at | curves | mean error | median error | last value: mean | median | inside 80 % | inside 95 % |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cut in CUTS:
        scored = [s for s in (score(c, cut) for c in found) if s is not None]
        ours, last = (np.array([s[i] for s in scored]) for i in (0, 1))
        cover = [np.mean([s[2][level] for s in scored]) for level in QUANTILES]
        errors = [ours.mean(), np.median(ours), last.mean(), np.median(last)]
        cells = [f"{cut:.0%}", str(len(scored)), *(f"{e:.3f}" for e in errors), *(f"{c:.0%}" for c in cover)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--own", action="store_true", help="add the look-alikes of the tests")
    parser.add_argument("--table", type=Path)
    arguments = parser.parse_args()
    runs: list[Run] = []
    for path in arguments.paths:
        for file in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
            try:
                runs += pipeline.read_all(file)
            except ReadError:
                continue
    if arguments.own:
        from tests.lookalikes import all_runs

        runs += list(all_runs().values())
    text = table(curves(runs))
    arguments.table.write_text(text) if arguments.table else print(text)


if __name__ == "__main__":
    main()

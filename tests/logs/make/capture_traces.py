"""Traces of small trainings, healthy and broken on purpose, as `traindx run` records them: tests/logs/captured/*.json.

    python tests/logs/make/capture_traces.py [CASE ...]

Every case is `captured_training.py`, run unmodified. A trace keeps the facts, a few series and the panels, thinned and
rounded to three digits. Needs torch.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from captured_cases import CASES

from traindx import pipeline
from traindx.capture.launch.command import Request, launch
from traindx.vocabulary.run import Floats, Run

OUT = Path(__file__).parents[1] / "captured"
SCRIPT = Path(__file__).with_name("captured_training.py")
SERIES = ("train/loss", "val/loss", "grad_norm", "lr", "clip_ratio", "grad_noise_scale")
PANELS = (
    "grad_norm", "weight_norm", "update_ratio", "act_zero_fraction", "act_saturated_fraction", "act_std",
    "act_nonfinite", "act_rank",
)  # fmt: skip
POINTS, ROWS, EVERY = 60, 10, 4
LEFT_OUT = ("where/", "versions/", "script/", "log_file", "seed", "modules/")


def thinned(n: int, most: int) -> np.ndarray:
    """At most `most` of `n` rows: the first three, then evenly spread, with the last."""
    return np.unique(np.r_[np.arange(min(3, n)), np.linspace(0, n - 1, min(n, most)).astype(int)])


def rounded(values: Floats) -> list[Any]:
    return json.loads(json.dumps([[float(f"{v:.3g}") for v in np.atleast_1d(row)] for row in values]))


def trace(run: Run) -> dict[str, Any]:
    series = {}
    for name in SERIES:
        if name in run.series:
            found = run.series[name]
            keep = thinned(len(found), POINTS)
            series[name] = [found.steps[keep].tolist(), [row[0] for row in rounded(found.values[keep])]]
    panels = {}
    for name in PANELS:
        if name not in run.panels:
            continue
        panel = run.panels[name]
        keep = thinned(len(panel.steps), ROWS)
        panels[name] = [panel.steps[keep].tolist(), list(panel.modules), rounded(panel.values[keep])]
    setup = {n: v for n in run.setup.__struct_fields__ if (v := getattr(run.setup, n)) is not None}
    facts = {**setup.pop("facts"), **{n: v for n, v in setup.items() if n != "origins"}}
    facts = {n: v for n, v in facts.items() if not n.startswith(LEFT_OUT)}
    events = [[e.kind, e.message, e.step, e.code] for e in run.events]
    return {"series": series, "panels": panels, "facts": facts, "events": events}


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for name in sys.argv[1:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "run"
            ended = launch([sys.executable, str(SCRIPT), name], Request(out=store, every=EVERY))
            if ended.status:
                raise SystemExit(f"{name} ended with status {ended.status}")
            text = json.dumps(trace(pipeline.read(store)), separators=(",", ":"))
        (OUT / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""How many steps the arms of a proof make."""

import numpy as np

from traindx.lab.plan import steps_for
from traindx.lab.repair.bench import Arm
from traindx.vocabulary import Run, RunDiagnosis


def from_speed(first: Arm, diagnosis: RunDiagnosis, first_value: float | None) -> int | None:
    """The steps of each arm, by how long the script takes and how soon its fault shows."""
    onsets = [
        f.onset_step
        for f in diagnosis.findings
        if f.onset_step is not None and f.severity in ("critical", "high")
    ]
    reach = int(1.2 * min(onsets)) if onsets else None
    assert first.run is not None
    return steps_for(first.last, training_seconds(first.run) or first.seconds, reach, first_value)


def training_seconds(run: Run) -> float | None:
    """How long a run trained, without what came before its first step; None where its log has no times."""
    times = [s.times for s in run.series.values() if s.times is not None and len(s.times) > 1]
    known = [(float(np.nanmin(t)), float(np.nanmax(t))) for t in times if np.isfinite(t).any()]
    return max(last for _, last in known) - min(first for first, _ in known) if known else None

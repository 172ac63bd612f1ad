"""Whether a run needs a repair, and whether interventions are possible."""

from __future__ import annotations

from traindx.capture.interventions import parse
from traindx.errors import ConfigError
from traindx.vocabulary.diagnosis import RunDiagnosis


def fine(diagnosis: RunDiagnosis) -> bool:
    """Whether a diagnosis leaves nothing to repair."""
    first = diagnosis.hypotheses[0] if diagnosis.hypotheses else None
    return diagnosis.health == "healthy" or (
        first is not None and first.cause == "healthy" and first.probability > 0.5
    )


def refusal(*specs: str) -> str:
    """Why interventions are impossible (together), or ""."""
    try:
        parse(specs)
    except ConfigError as error:
        return str(error).partition(": ")[2] or str(error)
    return ""

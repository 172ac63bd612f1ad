"""The diagnosis document: the shapes behind the JSON contract `traindx.diagnosis/1`.

Field names are the contract's. NaN and infinities are allowed in memory; the JSON report
writes them as strings.
"""

from typing import Literal

import msgspec

from traindx.vocabulary.memory import Memory
from traindx.vocabulary.profile import Profile

SCHEMA = "traindx.diagnosis/1"

Severity = Literal["critical", "high", "medium", "low", "info"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low", "info")
Health = Literal["healthy", "watch", "sick", "failed"]
Action = Literal["continue", "stop", "inspect"]


class SignalInfo(msgspec.Struct, frozen=True):
    name: str
    original: str
    points: int


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Identity of a run. `steps` is the number of points of its longest signal."""

    id: str
    source: str
    format: str
    framework: str | None
    steps: int
    first_step: float | None
    last_step: float | None
    complete: bool | None
    axis: str
    signals: tuple[SignalInfo, ...]
    setup: dict[str, object]
    events: tuple[dict[str, object], ...]


class EvidencePoint(msgspec.Struct, frozen=True):
    """One number that a finding rests on; `expected` is what it was compared with."""

    signal: str
    step: float | None
    value: float
    expected: float | None = None
    unit: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule saw. `aspects` are the finer marks that the ranking uses ("early", "late" ...)."""

    code: str
    slug: str
    family: str
    severity: Severity
    onset_step: float | None
    last_step: float | None
    where: str | None
    message: str
    consequence_of: str | None = None
    aspects: tuple[str, ...] = ()
    evidence: tuple[EvidencePoint, ...] = ()


class NotEvaluated(msgspec.Struct, frozen=True):
    code: str
    slug: str
    reason: str
    needs: tuple[str, ...] = ()


class EvidenceTerm(msgspec.Struct, frozen=True):
    """What one rule's outcome adds to a cause's log-odds."""

    finding: str
    log_odds: float


class FixOffer(msgspec.Struct, frozen=True):
    fix: str
    applicability: Literal["runtime", "patch", "advice"]
    change: str
    expected: str


class Hypothesis(msgspec.Struct, frozen=True, kw_only=True, rename={"for_": "for"}):
    """A cause with its probability; over all hypotheses of a run they sum to 1. `pattern` is set for
    `healthy` when a benign shape shows, and for the first cause of a run that is too short to tell.
    `interval`, of the leading one of a recording: the least and the most probability that fits of the
    ranking give it which lack a fifth of the programs each; null otherwise, and where an experiment moved
    the belief since."""

    cause: str
    title: str
    probability: float
    interval: tuple[float, float] | None = None
    pattern: str | None = None
    for_: tuple[EvidenceTerm, ...] = ()
    against: tuple[EvidenceTerm, ...] = ()
    fixes: tuple[FixOffer, ...] = ()


class Decision(msgspec.Struct, frozen=True):
    action: Action
    reason: str
    confidence: float


class Harm(msgspec.Struct, frozen=True):
    """`probability` that the run is harmed; None where too little was logged to judge it. `seen`: the slugs of
    the findings that are harm. `judged_by`: the number that shows what was achieved, and what it is compared with."""

    probability: float | None = None
    seen: tuple[str, ...] = ()
    judged_by: str = ""


class NextMeasure(msgspec.Struct, frozen=True):
    """What to measure next; `gain_bits` is the expected drop of the entropy over causes, `cost_minutes`
    about how long it takes: to answer, or to run the script as far as needed; `decides`: an answer that is
    not far-fetched would put another cause first."""

    measure: str
    why: str
    how: str
    gain_bits: float
    cost_minutes: float
    decides: bool = False

    @property
    def bits_per_minute(self) -> float:
        return self.gain_bits / self.cost_minutes


class ForecastPoint(msgspec.Struct, frozen=True):
    signal: str
    at_step: float
    median: float
    low: float
    high: float
    level: float


class Recommendation(msgspec.Struct, frozen=True):
    kind: str
    text: str
    because: str


class RunDiagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """`belief`: the probabilities of causes before and after each experiment, with what it was; `profile`:
    where the time of a step goes, of a run that was traced; `memory`: what a step needs, of a run that ran
    out of it or was measured."""

    run: RunInfo
    health: Health
    harm: Harm = Harm()
    decision: Decision
    findings: tuple[Finding, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    next: tuple[NextMeasure, ...] = ()
    forecast: tuple[ForecastPoint, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    trials: tuple[dict[str, object], ...] = ()
    belief: tuple[tuple[str, dict[str, float]], ...] = ()
    profile: Profile | None = None
    memory: Memory | None = None


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What `--format json` prints."""

    schema: str = SCHEMA
    traindx_version: str
    runs: tuple[RunDiagnosis, ...]

"""The nouns of traindx: frozen, JSON-able, knowing nothing of the stages that use them.

What every diagnosis loads is exported here; `edit`, `live`, `rates` and `trial` are imported by those who
need them.
"""

from traindx.vocabulary.cause import (
    Cause,
    Pattern,
    Weight,
)
from traindx.vocabulary.check import (
    Check,
    CheckReport,
    CheckResult,
    Experiment,
    Group,
)
from traindx.vocabulary.diagnosis import (
    SEVERITIES,
    Decision,
    Document,
    EvidencePoint,
    EvidenceTerm,
    Finding,
    FixOffer,
    ForecastPoint,
    Harm,
    Health,
    Hypothesis,
    NextMeasure,
    NotEvaluated,
    Recommendation,
    RunDiagnosis,
    RunInfo,
    Severity,
    SignalInfo,
)
from traindx.vocabulary.fix import (
    Applicability,
    Fix,
)
from traindx.vocabulary.memory import (
    Memory,
    Need,
    Option,
)
from traindx.vocabulary.profile import (
    Operator,
    Part,
    Profile,
)
from traindx.vocabulary.rule import (
    CannotJudge,
    Deferred,
    Evidence,
    Outcome,
    PersistenceKind,
    Rule,
    threshold,
)
from traindx.vocabulary.run import (
    ENDINGS,
    STANDARD_INPUT,
    Bools,
    Event,
    EventKind,
    Floats,
    Ints,
    Panel,
    Run,
    Series,
    frozen_array,
    series,
)
from traindx.vocabulary.setup import (
    FACT_FIELDS,
    Fact,
    Setup,
)
from traindx.vocabulary.signals import (
    QUANTIZED,
    SIGNALS,
    UNQUANTIZED,
    direction_of,
)
from traindx.vocabulary.wording import certainty, format_step, lower_first

__all__ = [
    "ENDINGS",
    "FACT_FIELDS",
    "QUANTIZED",
    "SEVERITIES",
    "SIGNALS",
    "STANDARD_INPUT",
    "UNQUANTIZED",
    "Applicability",
    "Bools",
    "CannotJudge",
    "Cause",
    "Check",
    "CheckReport",
    "CheckResult",
    "Decision",
    "Deferred",
    "Document",
    "Event",
    "EventKind",
    "Evidence",
    "EvidencePoint",
    "EvidenceTerm",
    "Experiment",
    "Fact",
    "Finding",
    "Fix",
    "FixOffer",
    "Floats",
    "ForecastPoint",
    "Group",
    "Harm",
    "Health",
    "Hypothesis",
    "Ints",
    "Memory",
    "Need",
    "NextMeasure",
    "NotEvaluated",
    "Operator",
    "Option",
    "Outcome",
    "Panel",
    "Part",
    "Pattern",
    "PersistenceKind",
    "Profile",
    "Recommendation",
    "Rule",
    "Run",
    "RunDiagnosis",
    "RunInfo",
    "Series",
    "Setup",
    "Severity",
    "SignalInfo",
    "Weight",
    "certainty",
    "direction_of",
    "format_step",
    "frozen_array",
    "lower_first",
    "series",
    "threshold",
]

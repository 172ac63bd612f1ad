"""Everything that most rules need, for one import: `from traindx.rules.api import Evidence, Run, rule, threshold`.

Only what every diagnosis loads anyway is exported. What few rules use is imported from `traindx.features` by those
rules: `traindx diagnose` loads only the rules that apply to a log, and would pay for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.features.curve import Curve
from traindx.features.curves.progress import by_progress, is_learning
from traindx.features.shared import Features
from traindx.features.statistics.medians import median
from traindx.features.statistics.trends import slope
from traindx.vocabulary.diagnosis import EvidencePoint, Severity
from traindx.vocabulary.rule import CannotJudge, Evidence, rule, threshold
from traindx.vocabulary.run import Floats, Ints, Panel, Run

__all__ = [
    "CannotJudge",
    "Curve",
    "Evidence",
    "EvidencePoint",
    "Features",
    "Floats",
    "Ints",
    "Iterator",
    "Panel",
    "Run",
    "Severity",
    "by_progress",
    "is_learning",
    "median",
    "np",
    "rule",
    "slope",
    "threshold",
]

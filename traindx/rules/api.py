"""What most rules need: `from traindx.rules.api import Evidence, Run, api, rule, threshold` for the names that
fit on one line, `api.median` for those that do not.

Only what a diagnosis loads anyway is exported. Rules import from `traindx.features` directly what few of
them use, because `traindx diagnose` loads only the rules that apply to a log and should not pay for the
others.
"""

from collections.abc import Iterator

import numpy as np

from traindx.features.curve import Curve
from traindx.features.curves.gradient_norms import (
    clip_ratios,
    early_level,
    excursions,
    far_above,
    has_improved,
    is_worse_after,
    is_worse_from,
    printed_step,
    share_lost,
    usual_level,
)
from traindx.features.curves.plateaus import Flat, flat_tail, improvement, late_drop
from traindx.features.curves.progress import (
    is_learning,
    is_too_short,
    progress_severity,
    searches_within_steps,
)
from traindx.features.curves.score_scales import (
    EXTREMES,
    best_skill,
    is_late,
    scale_of,
    scores,
    skill,
    words_of,
)
from traindx.features.curves.signal_pairs import Pair, accuracy, pairs, score
from traindx.features.performance.level_shifts import (
    events_per_row,
    growth,
    halvings,
    settling_row,
    start_up,
    stretches,
)
from traindx.features.shared import Features
from traindx.features.statistics import (
    TREND_PARTS,
    autocorrelation,
    block_medians,
    difference_noise,
    median,
    median_error,
    robust_sigma,
    running_median,
    slope,
    trend,
)
from traindx.rules import api
from traindx.vocabulary import SEVERITIES, EvidencePoint, Floats, Ints, Panel, Run, Severity, format_step
from traindx.vocabulary.rule import CannotJudge, Evidence, rule, threshold

__all__ = [
    "EXTREMES",
    "SEVERITIES",
    "TREND_PARTS",
    "CannotJudge",
    "Curve",
    "Evidence",
    "EvidencePoint",
    "Features",
    "Flat",
    "Floats",
    "Ints",
    "Iterator",
    "Pair",
    "Panel",
    "Run",
    "Severity",
    "accuracy",
    "api",
    "autocorrelation",
    "best_skill",
    "block_medians",
    "clip_ratios",
    "difference_noise",
    "early_level",
    "events_per_row",
    "excursions",
    "far_above",
    "flat_tail",
    "format_step",
    "growth",
    "halvings",
    "has_improved",
    "improvement",
    "is_late",
    "is_learning",
    "is_too_short",
    "is_worse_after",
    "is_worse_from",
    "late_drop",
    "median",
    "median_error",
    "np",
    "pairs",
    "printed_step",
    "progress_severity",
    "robust_sigma",
    "rule",
    "running_median",
    "scale_of",
    "score",
    "scores",
    "searches_within_steps",
    "settling_row",
    "share_lost",
    "skill",
    "slope",
    "start_up",
    "stretches",
    "threshold",
    "trend",
    "usual_level",
    "words_of",
]

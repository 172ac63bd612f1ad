"""What most rules need, for one import: `from traindx.rules.api import Evidence, Run, rule, threshold`.

Only what a diagnosis loads anyway is exported. Rules import from `traindx.features` directly what few of
them use, because `traindx diagnose` loads only the rules that apply to a log and should not pay for the
others.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.features.curve import Curve
from traindx.features.curves.chance_level import chance_classes, chance_loss
from traindx.features.curves.generalization import (
    BLOCKS,
    Hump,
    Rise,
    hump,
    reached,
    reached_again,
    rise_after_low,
    valley_noise,
)
from traindx.features.curves.gradient_norms import (
    clip_ratios,
    early_level,
    excursions,
    far_above,
    improved,
    printed_step,
    shed,
    suffers,
    usual_level,
    worsened_after,
)
from traindx.features.curves.plateaus import Flat, flat_tail, improvement, late_drop
from traindx.features.curves.progress import by_progress, is_learning, young
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
from traindx.features.curves.spike_outcomes import (
    beside_objective,
    curve_spikes,
    fails_after,
    is_rough,
    regular_interval,
    towers,
)
from traindx.features.curves.spikes import RETURN, Spike
from traindx.features.per_module.panels import (
    after_warm_up,
    at_end,
    before_break,
    first_known,
    least,
    named,
    panel,
    typical,
)
from traindx.features.performance.level_shifts import growth, halvings, per_row, settles, start_up, stretches
from traindx.features.shared import Features
from traindx.features.statistics.medians import median
from traindx.features.statistics.noise import autocorrelation, difference_noise, median_error, robust_sigma
from traindx.features.statistics.smoothing import TREND_PARTS, block_medians, running_median, trend
from traindx.features.statistics.trends import slope
from traindx.vocabulary.diagnosis import EvidencePoint, Severity
from traindx.vocabulary.rule import CannotJudge, Evidence, rule, threshold
from traindx.vocabulary.run import Floats, Ints, Panel, Run

__all__ = [
    "BLOCKS",
    "EXTREMES",
    "RETURN",
    "TREND_PARTS",
    "CannotJudge",
    "Curve",
    "Evidence",
    "EvidencePoint",
    "Features",
    "Flat",
    "Floats",
    "Hump",
    "Ints",
    "Iterator",
    "Pair",
    "Panel",
    "Rise",
    "Run",
    "Severity",
    "Spike",
    "accuracy",
    "after_warm_up",
    "at_end",
    "autocorrelation",
    "before_break",
    "beside_objective",
    "best_skill",
    "block_medians",
    "by_progress",
    "chance_classes",
    "chance_loss",
    "clip_ratios",
    "curve_spikes",
    "difference_noise",
    "early_level",
    "excursions",
    "fails_after",
    "far_above",
    "first_known",
    "flat_tail",
    "growth",
    "halvings",
    "hump",
    "improved",
    "improvement",
    "is_late",
    "is_learning",
    "is_rough",
    "late_drop",
    "least",
    "median",
    "median_error",
    "named",
    "np",
    "pairs",
    "panel",
    "per_row",
    "printed_step",
    "reached",
    "reached_again",
    "regular_interval",
    "rise_after_low",
    "robust_sigma",
    "rule",
    "running_median",
    "scale_of",
    "score",
    "scores",
    "settles",
    "shed",
    "skill",
    "slope",
    "start_up",
    "stretches",
    "suffers",
    "threshold",
    "towers",
    "trend",
    "typical",
    "usual_level",
    "valley_noise",
    "words_of",
    "worsened_after",
    "young",
]

"""What the author of a question says is wrong, where the rows that were pasted do not show it."""

from collections.abc import Sequence

import numpy as np

from traindx.features.shared import Features
from traindx.vocabulary import Decision, Finding, Run

ENOUGH = 10  # points, with fewer of which the page asks for more anyway
# A loss that clearly improves shows the opposite of these, but not of a rise that came later.
NO_PROGRESS = frozenset({
    "loss-flat-from-start", "loss-plateaus", "loss-at-chance", "loss-falls-slowly", "loss-oscillates",
})  # fmt: skip


def words_only(run: Run) -> bool:
    """Whether somebody asked without pasting a row of the log."""
    return any(e.code == "words-only" for e in run.events)


def is_unanswered(run: Run, findings: Sequence[Finding], *, improving: bool) -> bool:
    """Whether somebody says that something is wrong, and neither a finding nor clear progress answers him."""
    said = {slug for slug in run.setup.word("symptoms").split(",") if slug}
    if not all(np.isfinite(series.values).all() for series in run.series.values()):
        said -= {"loss-not-finite"}  # the rows show it, or a reward that is NaN was taken for words
    if not said or run.panels or said & {f.slug for f in findings}:
        return False
    return not (improving and said <= NO_PROGRESS)


def doubt(features: Features) -> Decision | None:
    """What to answer where a question is not answered by the log."""
    curve = features.objective
    if curve is None or curve.n == 0:
        return None
    rows = f"{curve.n} points of {curve.name} do" if curve.n > 1 else f"one point of {curve.name} does"
    more = ". Paste those from where it happens" if curve.n >= ENOUGH else ""
    return Decision(
        "inspect", f"the question says that something is wrong, and {rows} not show it{more}", 0.5
    )

"""When to stop debugging: what the most promising remaining change may gain, against what its proof
costs."""

import math

from traindx.causes.experiments.belief import CHANCES
from traindx.lab.judge.significance import percent as gained
from traindx.lab.plan import LEAST
from traindx.lab.repair.conditions import is_fine
from traindx.lab.repair.search import Search
from traindx.vocabulary import RunDiagnosis, threshold
from traindx.vocabulary.trial import Stopping

TYPICAL = math.log(2)  # assumed gain of a confirmed change, where none was confirmed yet: 50 %


def what_remains(
    search: Search,
    after: RunDiagnosis | None,
    *,
    worth: float = threshold(
        0.10, "chance", basis="convention", source="ten proofs for each change that helps"
    ),
) -> Stopping | None:
    """What remains to be tried, its chance and its cost. None where the unchanged script is healthy.
    `after`: the diagnosis of the fixed run, None where nothing was applied."""
    if search.well:
        return None
    shown = search.hypotheses if after is None else after.hypotheses
    gains = [t.effect for t in search.trials if t.verdict == "confirmed" and t.effect is not None]
    gain = sum(gains) / len(gains) if gains else TYPICAL
    each, starts = price(search)
    seconds = each * starts / max(search.bench.jobs, 1)
    impossible = {u.fix for u in search.untried.values() if u.why != search.bench.budget_message()}
    left = [one for one in search.plan(shown) if one.fix not in impossible]
    if not left:
        believed = {h.cause for h in shown if h.probability >= LEAST}
        person = ", ".join([u.fix for u in search.untried.values() if u.cause in believed][:3])
        well = (
            "the fixed run shows no fault"
            if after is not None and is_fine(after)
            else "nothing is left to try"
        )
        return Stopping(stop=True, why=f"what is left needs a person ({person})" if person else well)
    first = left[0]
    chance = first.chance * CHANCES["confirmed"][0]
    stop = chance < worth
    words = (
        f"{first.fix} would help with a chance of {100 * chance:.0f} %"
        f" (then {gained(gain)}), and its proof takes about {format_duration(seconds)}"
    )
    tail = (
        f": about {format_duration(seconds / chance)} of trials for each change that helps"
        if stop and chance > 0
        else ""
    )
    return Stopping(stop=stop, fix=first.fix, chance=round(chance, 4), gain=round(chance * gain, 4),
                    seconds=round(seconds, 1), why=words + tail)  # fmt: skip


def price(search: Search) -> tuple[float, int]:
    """Seconds of a start, and how many starts a proof of one fix takes."""
    share = 1.0 if search.bench.steps is None else min(1.0, search.bench.steps / max(search.first.last, 1.0))
    return search.first.seconds * share, 2 * search.options.seeds


def format_duration(seconds: float) -> str:
    """ "40 s", "12 min", "3 h"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.0f} h"

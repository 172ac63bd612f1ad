"""Second causes of the gym's pairs, once what the first explains is taken away, as the ranking does it.

A row keeps the values of its signs and no signs; what is made of them here differs from those only in the severity of
findings, which is guessed from their size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.gym.fitting import fit
from benchmarks.gym.fitting.fit import Floats, Table
from traindx.causes.grades.weights import SAME_AS
from traindx.causes.ranking.fitted import sign_of
from traindx.causes.ranking.probabilities import explain_away, explained_groups
from traindx.causes.ranking.rank import EXPLAINS, findings_of, hand_terms
from traindx.causes.ranking.signs import CLEAR, GRAVITY, GROUP_OF, Sign
from traindx.vocabulary.diagnosis import Severity

GUESSED: tuple[Severity, ...] = ("info", "medium", "high")


def found_in(values: Mapping[str, float]) -> dict[str, Sign]:
    """The signs that have these values."""
    signs: dict[str, Sign] = {}
    for key, value in values.items():
        own = key.removeprefix(CLEAR)
        if own.startswith("fact:") or "=" in own:
            name = own.partition("=")[0]
            group = SAME_AS.get(name, own)
            signs[own] = Sign(own, own == key, GROUP_OF.get(group, group))
        elif own != key:
            signs[own] = Sign(own, False, GROUP_OF.get(own, own))
        elif ":" not in key:
            severity = next(s for s in GUESSED if value <= GRAVITY[s] or s == "high")
            marks = frozenset(k.partition(":")[2] for k in values if k.startswith(f"{key}:"))
            signs[key] = Sign(
                key, True, GROUP_OF.get(key, key), min(1.0, value / GRAVITY[severity]), marks, severity
            )
    return signs


def with_second(
    whole: Table, p: Floats, at: Sequence[int], models: Sequence[fit.Model], fold: Sequence[int]
) -> Floats:
    """Probabilities[n, c] in which the rows `at` have the places after the first as the ranking gives them; row i by
    the model that has not seen its `fold[i]`."""
    told = p.copy()
    for i in at:
        model, row = models[fold[i]], whole.rows[i]
        signs, view = found_in(row["signs"]), int(whole.views[i].argmax())
        found = findings_of(signs)
        parts = [hand_terms(cause, signs, found) for cause in fit.fitted_causes()]
        terms = []
        for c, (own, rest) in enumerate(parts):
            sums = {k: float(model.scale[view]) * v for k, v in own.items()}
            for key, value in rest.items():
                sums[key] = sums.get(key, 0.0) + float(model.surprise[view]) * value
            for k in np.flatnonzero(whole.signs[i]):
                key = sign_of(model.keys[k])
                sums[key] = sums.get(key, 0.0) + float(whole.signs[i, k] * model.weights[k, c])
            terms.append(sums)
        bases = [
            model.scale[view] * c.prior + b
            for c, b in zip(fit.fitted_causes(), model.base[view], strict=True)
        ]
        explained = explained_groups(parts[int(p[i].argmax())][0], signs, EXPLAINS)
        told[i] = explain_away(p[i], bases, terms, signs, explained, whole.causes.index("healthy"))
    return told


def both(whole: Table, p: Floats, at: Sequence[int]) -> int:
    """In how many rows both faults have a right answer among the first two."""
    order = np.argsort(-p, axis=1)[:, :2]
    return int(sum(whole.right[i, order[i]].any() and whole.second[i, order[i]].any() for i in at))

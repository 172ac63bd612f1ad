"""Which changes to try on a script, in which order: the posterior of a cause x what is known of a fix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.fix import Fix
from traindx.vocabulary.setup import Setup
from traindx.vocabulary.trial import Untried

LEAST = 0.05  # probability of a cause below which nothing is tried for it
# What a fix's place in the list of what it cures, and a second choice among its alternatives, take from its chance.
PLACES = (1.0, 0.5, 0.3, 0.2)
SECOND = 0.6
SHORT = 2.0  # seconds of training: fewer are not worth a cut, which takes another start at full length
LENGTHS = ("train-longer", "stop-early")  # fixes that do nothing within the steps of a trial
Way = tuple[str, ...]  # interventions that are tried together
# How far a change goes: what is tried beside the first (at once), and after it where the end of these was best.
# Gradients that are cleared are smaller than those that add up: the rate that was chosen for these may be too low then.
# A rate for Adam that suits a large net is too low for a small one that trains for a few epochs.
DOSES: Mapping[str, tuple[tuple[Way, ...], ...]] = {
    "lr=*0.1": ((("lr=*0.1",), ("lr=*0.01",)), (("lr=*0.001",), ("lr=*0.0001",))),
    "lr=*10": ((("lr=*10",), ("lr=*100",)), (("lr=*1000",), ("lr=*10000",))),
    "clip=*10": ((("clip=*10",), ("clip=off",)),),
    "weight_decay=*0.01": ((("weight_decay=*0.01",), ("weight_decay=0",)),),
    "dropout=*0.33": ((("dropout=*0.33",), ("dropout=0",)),),
    "zero_grad=each-step": ((("zero_grad=each-step",), ("zero_grad=each-step", "lr=*10")),),
    "optimizer=adamw lr=0.0003": (
        (("optimizer=adamw", "lr=0.0003"), ("optimizer=adamw", "lr=0.003")),
        (("optimizer=adamw", "lr=0.03"),),
    ),
}

Record = Callable[
    [str, str], tuple[float, float]
]  # (fix, cause) -> how often it was confirmed, and not, before


class Candidate(NamedTuple):
    """A change to try: a fix for a cause as interventions, with the chance that it helps. `doses`: the same change
    taken further, in stages."""

    fix: str
    cause: str
    interventions: tuple[str, ...]
    chance: float
    doses: tuple[tuple[Way, ...], ...] = ()


def unknown_record(_fix: str, _cause: str) -> tuple[float, float]:
    """Nothing is known of what was tried before."""
    return 0.0, 0.0


def candidates(
    hypotheses: Sequence[Hypothesis],
    fixes: Sequence[Fix],
    setup: Setup,
    tried_for: Mapping[str, tuple[str, ...]],
    refused: Callable[[str], str],
    record: Record = unknown_record,
    no_source: Callable[[str], str] = lambda _fix: "it is a change of the script's code",
) -> tuple[tuple[Candidate, ...], tuple[Untried, ...]]:
    """What can be tried from outside, most promising first, and what cannot, with the reason. `tried_for`: the
    interventions that would cure a cause; `refused(spec)`: why an intervention cannot be, or ""; `no_source(fix)`: why
    a fix without one cannot be written into the source and tried there, or ""."""
    found: list[Candidate] = []
    left: list[Untried] = []
    for hypothesis in hypotheses:
        if hypothesis.cause == "healthy" or hypothesis.probability < LEAST:
            continue
        for fix in (f for f in fixes if hypothesis.cause in f.causes):
            words = fix.propose(setup)
            chance = hypothesis.probability * standing(fix, hypothesis.cause, record)
            ways = [
                w for w in variants(fix, tried_for.get(hypothesis.cause, ())) if not any(map(refused, w))
            ]
            for place, way in enumerate(ways if words else ()):
                found.append(Candidate(fix.slug, hypothesis.cause, way, chance * SECOND**place, doses(way)))
            if words and not ways:
                why = why_not(fix, refused, no_source)
                if why:
                    left.append(Untried(fix.slug, hypothesis.cause, words, why))
                else:
                    found.append(Candidate(fix.slug, hypothesis.cause, (f"source={fix.slug}",), chance))
    return distinct(sorted(found, key=lambda c: (-c.chance, c.fix, c.interventions))), tuple(left)


def why_not(fix: Fix, refused: Callable[[str], str], no_source: Callable[[str], str]) -> str:
    """Why a fix is not tried, from outside or in the source; "" where it can be in the source."""
    if fix.applicability == "advice":
        return "advice: it takes a person"
    if fix.slug in LENGTHS:
        return "it changes how long is trained: nothing to be compared at equal steps"
    told = no_source(fix.slug)
    outside = next(filter(None, map(refused, fix.interventions)), "")
    return f"{outside}; {told}" if outside and told else told


def standing(fix: Fix, cause: str, record: Record) -> float:
    """How likely a fix is to help where its cause is right: by its place in the list, and by what was seen before
    (a Beta posterior: the place counts as two trials)."""
    place = fix.causes.index(cause)
    prior = PLACES[min(place, len(PLACES) - 1)] * 0.9
    yes, no = record(fix.slug, cause)
    return (2 * prior + yes) / (2 + yes + no)


def variants(fix: Fix, cure: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The ways to try a fix: its interventions together, or, where they contradict each other, each by itself with
    the one that cures the cause first."""
    names = [spec.partition("=")[0] for spec in fix.interventions]
    if not names:
        return []
    if len(set(names)) == len(names):
        return [fix.interventions]
    first = [spec for spec in fix.interventions if spec in cure]
    if first:  # the others go the other way
        return [(spec,) for spec in first]
    return [(spec,) for spec in fix.interventions]


def doses(way: Way) -> tuple[tuple[Way, ...], ...]:
    return DOSES.get(" ".join(way), ())


def distinct(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Without those that would do the same as a more promising one."""
    seen: set[Way] = set()
    kept = []
    for one in found:
        ways = {dose for stage in one.doses for dose in stage} or {one.interventions}
        if not ways & seen:
            kept.append(one)
        seen |= ways
    return tuple(kept)


def merged(base: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Interventions on top of others: a factor multiplies a number or factor of the same name, other values take the
    place; words ("lr=constant") and numbers of one name go together."""
    found = {slot(spec): spec.partition("=")[2] for spec in base}
    for spec in more:
        value, before = spec.partition("=")[2], found.get(slot(spec))
        if before is None or not value.startswith("*"):
            found[slot(spec)] = value
        else:
            factor = float(value[1:]) * float(before.removeprefix("*"))
            found[slot(spec)] = ("*" if before.startswith("*") else "") + f"{factor:g}"
    return tuple(f"{name}={value}" for (name, _), value in found.items())


def slot(spec: str) -> tuple[str, bool]:
    """What can be there once: the name, for words and for numbers."""
    name, _, value = spec.partition("=")
    return name, value.removeprefix("*").replace(".", "").replace("e-", "").isdigit()


def steps_for(
    steps: float, seconds: float, reach: int | None, first_value: float | None, *, short: float = SHORT
) -> int | None:
    """Steps of each arm for a script that trains `steps` in `seconds`: all of them (None) where that is short; else a
    third, at least what shows the finding (`reach`), what takes `short` seconds, and the first values of the
    objective (at step `first_value`, twice over)."""
    if seconds <= short or steps <= 0:
        return None
    wanted = max(steps / 3, reach or 0, steps * short / seconds, 2.2 * (first_value or 0))
    return None if wanted >= 0.8 * steps else int(wanted) + 1

"""Which changes to try on a script, in which order: by the probability of a cause times the chance of a fix."""

from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

from traindx.vocabulary import Fix, Hypothesis, Setup
from traindx.vocabulary.trial import Untried

LEAST = 0.05  # probability of a cause below which nothing is tried for it
FEW = 20  # steps: a run of fewer shows its initialization, so no arm is cut to less
# Factors on a fix's chance: by its place in the list of causes that it cures, and for a second choice.
PLACES = (1.0, 0.5, 0.3, 0.2)
SECOND = 0.6
SHORT = (
    2.0  # seconds of training; a shorter one is not cut, because a cut costs another start at full length
)
# Fixes whose arms cannot be compared with the run, and why.
INCOMPARABLE = {
    "mask-the-future": "the loss rises to what is possible, so it cannot be compared",
}
# Twice the epochs improve nearly any run that is not finished, whatever is wrong with it: tried after all others, and
# only for a cause that is more likely than not.
LAST, SURE = "train-longer", 0.5
MARK = "source="  # before a fix, or an intervention, that is written into the source
Way = tuple[str, ...]  # interventions that are tried together
# Doses of a change: those tried together first, and those tried next if the last of these was best.
# Cleared gradients are smaller than accumulated ones, so the rate chosen for the latter may be too low.
# A rate for Adam that suits a large net is too low for a small one that trains for a few epochs.
DOSES: Mapping[str, tuple[tuple[Way, ...], ...]] = {
    "lr=*0.1": ((("lr=*0.1",), ("lr=*0.01",)), (("lr=*0.001",), ("lr=*0.0001",))),
    # The whole data set as one batch takes more than a quarter.
    "batch=*0.25": ((("batch=*0.25",), ("batch=*0.0625",)), (("batch=*0.0156",),)),
    "lr=*10": ((("lr=*10",), ("lr=*100",)), (("lr=*1000",), ("lr=*10000",))),
    "clip=*10": ((("clip=*10",), ("clip=off",)),),
    "weight_decay=*3": ((("weight_decay=*3",), ("weight_decay=*10",)), (("weight_decay=*100",),)),
    "weight_decay=0.01": ((("weight_decay=0.01",), ("weight_decay=0.1",)), (("weight_decay=1",),)),
    "dropout=0.2": ((("dropout=0.2",), ("dropout=0.5",)),),
    "weight_decay=*0.01": ((("weight_decay=*0.01",), ("weight_decay=0",)),),
    "dropout=*0.33": ((("dropout=*0.33",), ("dropout=0",)),),
    "steps=*2": ((("steps=*2",),), (("steps=*4",),)),
    "zero_grad=each-step": ((("zero_grad=each-step",), ("zero_grad=each-step", "lr=*10")),),
    "optimizer=adamw lr=0.0003": (
        (("optimizer=adamw", "lr=0.0003"), ("optimizer=adamw", "lr=0.003")),
        (("optimizer=adamw", "lr=0.03"),),
    ),
}

# (fix, cause) -> how often it was confirmed before, and how often not
Record = Callable[[str, str], tuple[float, float]]


class Candidate(NamedTuple):
    """A change to try: a fix for a cause as interventions, with the chance that it helps. `doses`: larger
    doses of the same change, in stages."""

    fix: str
    cause: str
    interventions: tuple[str, ...]
    chance: float
    doses: tuple[tuple[Way, ...], ...] = ()


def unknown_record(_fix: str, _cause: str) -> tuple[float, float]:
    """The record of a fix that was never tried."""
    return 0.0, 0.0


def candidates(
    hypotheses: Sequence[Hypothesis],
    fixes: Sequence[Fix],
    setup: Setup,
    tried_for: Mapping[str, tuple[str, ...]],
    refused: Callable[[str], str],
    record: Record = unknown_record,
    no_source: Callable[[str], str] = lambda _fix: "it needs a change of the script's code",
    pointless: Callable[[str], str] = lambda _spec: "",
) -> tuple[tuple[Candidate, ...], tuple[Untried, ...]]:
    """What can be tried from outside, most promising first, and what cannot, with the reason. `tried_for`:
    the interventions that would cure a cause; `refused(spec)`: why an intervention is impossible, or "";
    `no_source(what)`: why a fix without an intervention, or a refused intervention, cannot be tried in the source;
    `pointless(spec)`: why an intervention would change nothing here, or ""."""
    found: list[Candidate] = []
    left: list[Untried] = []
    for hypothesis in hypotheses:
        if hypothesis.cause == "healthy" or hypothesis.probability < LEAST:
            continue
        for fix in (f for f in fixes if hypothesis.cause in f.causes):
            words = fix.propose(setup)
            if fix.slug == LAST and hypothesis.probability < SURE:
                left.append(Untried(fix.slug, hypothesis.cause, words, "other causes are as likely"))
                continue
            chance = hypothesis.probability * chance_of(fix, hypothesis.cause, record)
            vain = {spec: why for spec in fix.interventions if (why := pointless(spec))}
            cures = tried_for.get(hypothesis.cause, ())
            every = variants(fix, cures, vain)
            ways = [w for w in every if not any(map(refused, w))]
            if not ways and (fix.slug not in INCOMPARABLE and fix.applicability != "advice"):
                ways = [tuple(f"{MARK}{spec}" for spec in w) for w in every if not any(map(no_source, w))]
            for place, way in enumerate(ways if words else ()):
                found.append(Candidate(fix.slug, hypothesis.cause, way, chance * SECOND**place, doses(way)))
            if words and not ways:
                why = next(iter(vain.values()), "") or why_not_tried(fix, refused, no_source)
                if why:
                    left.append(Untried(fix.slug, hypothesis.cause, words, why))
                else:
                    found.append(Candidate(fix.slug, hypothesis.cause, (f"{MARK}{fix.slug}",), chance))
    return distinct(sorted(found, key=lambda c: (c.fix == LAST, -c.chance, c.fix, c.interventions))), tuple(
        left
    )


def why_not_tried(fix: Fix, refused: Callable[[str], str], no_source: Callable[[str], str]) -> str:
    """Why a fix is not tried, from outside or in the source; "" where it can be tried in the source."""
    if fix.applicability == "advice":
        return "advice: only a person can do it"
    if fix.slug in INCOMPARABLE:
        return INCOMPARABLE[fix.slug]
    source = no_source(fix.slug)
    outside = next(filter(None, map(refused, fix.interventions)), "")
    return f"{outside}; {source}" if outside and source else source


def chance_of(fix: Fix, cause: str, record: Record) -> float:
    """How likely a fix is to help where its cause is right: by its place in the list, and by earlier
    outcomes (a Beta posterior in which the place counts as two trials)."""
    prior = PLACES[min(fix.causes.index(cause), len(PLACES) - 1)] * 0.9
    yes, no = record(fix.slug, cause)
    return (2 * prior + yes) / (2 + yes + no)


def variants(fix: Fix, cure: tuple[str, ...], vain: Container[str] = ()) -> list[tuple[str, ...]]:
    """The ways to try a fix: its interventions together, or each separately where they contradict each
    other, with the one that cures the cause first. Without those that are `vain`."""
    names = [spec.partition("=")[0] for spec in fix.interventions]
    left = [spec for spec in fix.interventions if spec not in vain]
    if len(set(names)) == len(names):
        return [fix.interventions] if left else []
    first = [spec for spec in left if spec in cure]  # the others may change the setting the other way
    return [(spec,) for spec in first or left]


def doses(way: Way) -> tuple[tuple[Way, ...], ...]:
    if not any(spec.startswith(MARK) for spec in way):
        return DOSES.get(" ".join(way), ())
    stages = doses(tuple(spec.removeprefix(MARK) for spec in way))
    return tuple(tuple(tuple(f"{MARK}{spec}" for spec in dose) for dose in stage) for stage in stages)


def distinct(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates without those that would do the same as a more promising one."""
    seen: set[Way] = set()
    kept = []
    for one in found:
        ways = {dose for stage in one.doses for dose in stage} or {one.interventions}
        if not ways & seen:
            kept.append(one)
        seen |= ways
    return tuple(kept)


def merge_interventions(base: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Interventions on top of others. A factor multiplies a number or factor of the same name, another value
    replaces it. Words ("lr=constant") and numbers of one name are kept together."""
    found = {slot(spec): value_of(spec) for spec in base}
    for spec in more:
        value, before = value_of(spec), found.get(slot(spec))
        if before is None or not value.startswith("*"):
            found[slot(spec)] = value
        else:
            factor = float(value[1:]) * float(before.removeprefix("*"))
            found[slot(spec)] = ("*" if before.startswith("*") else "") + f"{factor:g}"
    return tuple(f"{name}={value}" if value else name for (name, _), value in found.items())


def value_of(spec: str) -> str:
    """ "*0.1" of "lr=*0.1", also where it is written into the source; "" of a fix that is written there."""
    return spec.removeprefix(MARK).partition("=")[2]


def slot(spec: str) -> tuple[str, bool]:
    """What can be set once: a name, separately for words and for numbers. Each fix in the source is separate."""
    value = value_of(spec)
    name = spec.removesuffix(f"={value}") if value else spec
    return name, value.removeprefix("*").replace(".", "").replace("e-", "").isdigit()


def steps_for(
    steps: float, seconds: float, reach: int | None, first_value: float | None, *, short: float = SHORT
) -> int | None:
    """Steps of each arm for a script that trains `steps` in `seconds`: all of them (None) where that is
    short. Else a third, but at least what shows the finding (`reach`), what takes `short` seconds, and
    twice what the first value of the objective takes (step `first_value`)."""
    if seconds <= short or steps <= 0:
        return None
    wanted = max(steps / 3, reach or 0, steps * short / seconds, 2.2 * (first_value or 0), FEW)
    return None if wanted >= 0.8 * steps else int(wanted) + 1

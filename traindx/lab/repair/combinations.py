"""Two changes at once, where neither gains alone, because one fault hides the effect of mending the other.

The run under the first change is diagnosed again, and its likeliest cause suggests the second. Otherwise
two changes that were tried are combined."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from traindx import pipeline
from traindx.config import Config
from traindx.lab.judge.significance import CAP, Judged
from traindx.lab.plan import MARK, Candidate, merge_interventions
from traindx.lab.repair.bench import Bench
from traindx.lab.repair.pairs import pair_arms
from traindx.lab.repair.variants import Way
from traindx.vocabulary import Hypothesis, Run
from traindx.vocabulary.trial import Objective, Verdict

# Changes for which a second one is sought, seconds for each, and pairs that are tried.
FIRSTS, SECONDS, MOST = 2, 2, 4
AND = " + "  # between the slugs of two fixes that were tried at once
# Belief in `healthy`, after everything tried, above which two changes at once are not worth their time.
WELL = 0.5


class Applied(NamedTuple):
    """A fix that was confirmed, with the interventions that it put in place."""

    fix: str
    interventions: tuple[str, ...]


class Searching(Protocol):
    """What this module needs of the search."""

    bench: Bench
    config: Config
    base: tuple[str, ...]
    seeds: tuple[int, ...]
    hypotheses: tuple[Hypothesis, ...]
    vain: list[tuple[Way, Verdict]]

    def plan(self, hypotheses: Sequence[Hypothesis]) -> tuple[Candidate, ...]: ...
    def why_incompatible(self, candidate: Candidate) -> str: ...
    def fits_budget(self, arms: int) -> bool: ...
    def objective(self, run: Run, interventions: Sequence[str], cause: str) -> Objective: ...
    def prove(self, way: Way, judged_together: int) -> Judged: ...


class Two(NamedTuple):
    """Two changes: the fixes with their interventions, and both as one candidate."""

    first: Applied
    second: Applied
    cause: str

    @property
    def apart(self) -> bool:
        """Whether they change different settings. Otherwise one would replace the other."""
        first, second = (
            {changed_setting(spec) for spec in one.interventions} for one in (self.first, self.second)
        )
        return not first & second

    @property
    def candidate(self) -> Candidate:
        """As one change."""
        both = merge_interventions(self.first.interventions, self.second.interventions)
        return Candidate(f"{self.first.fix}{AND}{self.second.fix}", self.cause, both, 0.0)


def changed_setting(spec: str) -> str:
    """What an intervention changes: its name, or the whole spec of a change in the source."""
    return spec if spec.startswith(MARK) else spec.partition("=")[0]


def try_two(search: Searching) -> list[Applied]:
    """The two fixes that are confirmed together, or nothing."""
    well = sum(one.probability for one in search.hypotheses if one.cause == "healthy")
    firsts = hopeful_ways(search)
    if not firsts or well > WELL:
        return []
    found: dict[frozenset[str], Two] = {}
    for two in promising_pairs(search, firsts):
        if two.apart and not search.why_incompatible(two.candidate):
            found.setdefault(frozenset(two.candidate.interventions), two)
    some = list(found.values())[:MOST]
    if not some or not search.fits_budget(len(some)):
        return []
    ways = sorted(first_pairs(search, some), key=lambda one: -one[1].pair.gain)
    for two, way in ways[:2]:
        if search.prove(way._replace(doses=len(ways)), len(search.vain) or 1).verdict == "confirmed":
            return [two.first, two.second]
    return []


def hopeful_ways(search: Searching) -> list[Way]:
    """What was tried on the current state, came as far as that, and did no harm; the best first."""
    here = [
        way
        for way, verdict in search.vain
        if way.pair.before.interventions == search.base and verdict != "harmful"
    ]
    return sorted(
        (w for w in here if w.pair.after.run is not None and w.pair.gain > -CAP), key=lambda w: -w.pair.gain
    )


def promising_pairs(search: Searching, firsts: Sequence[Way]) -> Iterator[Two]:
    """Pairs of changes, the most promising first."""
    for way in firsts[:FIRSTS]:
        assert way.pair.after.run is not None
        shown = pipeline.diagnose(way.pair.after.run, search.config).first.hypotheses
        one = Applied(way.candidate.fix, way.interventions)
        for other in search.plan(shown)[:SECONDS]:
            doses = other.doses[0] if other.doses else (other.interventions,)
            for dose in (each for each in doses if not failed_alone(search, each)):
                yield Two(one, Applied(other.fix, dose), causes_of_both(way.candidate.cause, other.cause))
    for i, way in enumerate(firsts):
        for two in firsts[i + 1 :]:
            if two.candidate.fix != way.candidate.fix:
                first, second = (Applied(w.candidate.fix, w.interventions) for w in (way, two))
                yield Two(first, second, causes_of_both(way.candidate.cause, two.candidate.cause))


def failed_alone(search: Searching, interventions: tuple[str, ...]) -> bool:
    """Whether a change was tried alone and the script did not reach its end."""
    arm = search.bench.known.get(
        ((merge_interventions(search.base, interventions), search.seeds[0]), search.bench.steps)
    )
    return arm is not None and (arm.run is None or not arm.ok)


def causes_of_both(one: str, other: str) -> str:
    """The causes that two changes are for."""
    return one if one == other else f"{one}{AND}{other}"


def first_pairs(search: Searching, some: Sequence[Two]) -> list[tuple[Two, Way]]:
    """Each with its first pair, where it can be compared."""
    seed = search.seeds[0]
    mine = [merge_interventions(search.base, two.candidate.interventions) for two in some]
    before, *arms = search.bench.arms([(search.base, seed), *((way, seed) for way in mine)])
    found = []
    for two, arm in zip(some, arms, strict=True):
        if before.run is None or arm.run is None or arm.idle():
            continue
        candidate = two.candidate
        objective = search.objective(before.run, arm.interventions, candidate.cause)
        if objective.signal:
            found.append(
                (two, Way(candidate, candidate.interventions, objective, pair_arms(before, arm, objective)))
            )
    return found

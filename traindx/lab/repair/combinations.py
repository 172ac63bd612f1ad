"""Two changes at once, where neither alone gains: one fault hides what mending the other would do.

The run under the first change is looked at anew: what is behind it now tells the second. Else two that were tried go
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from traindx import pipeline
from traindx.config import Config
from traindx.lab.judge.significance import Judged
from traindx.lab.plan import Candidate, merged
from traindx.lab.repair.bench import Bench
from traindx.lab.repair.pairs import paired
from traindx.lab.repair.source import MARK
from traindx.lab.repair.variants import Way
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.run import Run
from traindx.vocabulary.trial import Objective, Verdict

FIRSTS, SECONDS, MOST = (
    2,
    2,
    4,
)  # changes that a second is sought for, seconds of each, and pairs that are tried
AND = " + "  # between the slugs of two fixes that were tried at once
WELL = 0.5  # belief that nothing is wrong, after all that was tried, above which two at once are not worth their time


class Applied(NamedTuple):
    """A fix that was confirmed, with the interventions that it put in place."""

    fix: str
    interventions: tuple[str, ...]


class Searching(Protocol):
    """What is asked of the search."""

    bench: Bench
    config: Config
    base: tuple[str, ...]
    seeds: tuple[int, ...]
    hypotheses: tuple[Hypothesis, ...]
    vain: list[tuple[Way, Verdict]]

    def plan(self, hypotheses: Sequence[Hypothesis]) -> tuple[Candidate, ...]: ...
    def clash(self, candidate: Candidate) -> str: ...
    def affordable(self, arms: int) -> bool: ...
    def objective(self, run: Run, interventions: Sequence[str], cause: str) -> Objective: ...
    def prove(self, way: Way, beside: int) -> Judged: ...


class Two(NamedTuple):
    """Two changes: the fixes with their interventions, and both together."""

    first: Applied
    second: Applied
    cause: str

    @property
    def apart(self) -> bool:
        """Whether they change different things: else one would take the place of the other."""
        first, second = ({what(spec) for spec in one.interventions} for one in (self.first, self.second))
        return not first & second

    @property
    def candidate(self) -> Candidate:
        """As one change."""
        both = merged(self.first.interventions, self.second.interventions)
        return Candidate(f"{self.first.fix}{AND}{self.second.fix}", self.cause, both, 0.0)


def what(spec: str) -> str:
    """What an intervention changes: its name; of those in the source each is its own."""
    return spec if spec.startswith(MARK) else spec.partition("=")[0]


def together(search: Searching) -> list[Applied]:
    """The two that are confirmed at once, or nothing."""
    well = sum(one.probability for one in search.hypotheses if one.cause == "healthy")
    firsts = hopeful(search)
    if not firsts or well > WELL:
        return []
    found: dict[frozenset[str], Two] = {}
    for two in seconds(search, firsts):
        if two.apart and not search.clash(two.candidate):
            found.setdefault(frozenset(two.candidate.interventions), two)
    some = list(found.values())[:MOST]
    if not some or not search.affordable(len(some)):
        return []
    ways = sorted(first_pairs(search, some), key=lambda one: -one[1].pair.gain)
    for two, way in ways[:2]:
        if search.prove(way._replace(doses=len(ways)), beside=len(search.vain) or 1).verdict == "confirmed":
            return [two.first, two.second]
    return []


def hopeful(search: Searching) -> list[Way]:
    """What was tried on what is in place now, did something, and did not harm; the best first."""
    here = [
        way
        for way, verdict in search.vain
        if way.pair.before.interventions == search.base and verdict != "harmful"
    ]
    return sorted((w for w in here if w.pair.after.run is not None), key=lambda w: -w.pair.gain)


def seconds(search: Searching, firsts: Sequence[Way]) -> Iterator[Two]:
    """Pairs of changes, the most promising first."""
    for way in firsts[:FIRSTS]:
        assert way.pair.after.run is not None
        shown = pipeline.diagnose(way.pair.after.run, search.config).first.hypotheses
        one = Applied(way.candidate.fix, way.interventions)
        for other in search.plan(shown)[:SECONDS]:
            doses = other.doses[0] if other.doses else (other.interventions,)
            for dose in (each for each in doses if not failed(search, each)):
                yield Two(one, Applied(other.fix, dose), both_of(way.candidate.cause, other.cause))
    for i, way in enumerate(firsts):
        for two in firsts[i + 1 :]:
            if two.candidate.fix != way.candidate.fix:
                first, second = (Applied(w.candidate.fix, w.interventions) for w in (way, two))
                yield Two(first, second, both_of(way.candidate.cause, two.candidate.cause))


def failed(search: Searching, interventions: tuple[str, ...]) -> bool:
    """Whether a change was tried by itself, and the script did not come to its end: it hung, or had no memory."""
    arm = search.bench.known.get(((merged(search.base, interventions), search.seeds[0]), search.bench.steps))
    return arm is not None and (arm.run is None or not arm.ok)


def both_of(one: str, other: str) -> str:
    """The causes that two changes are for."""
    return one if one == other else f"{one}{AND}{other}"


def first_pairs(search: Searching, some: Sequence[Two]) -> list[tuple[Two, Way]]:
    """Each with its first pair, where it can be compared."""
    seed = search.seeds[0]
    mine = [merged(search.base, two.candidate.interventions) for two in some]
    before, *arms = search.bench.arms([(search.base, seed), *((way, seed) for way in mine)])
    found = []
    for two, arm in zip(some, arms, strict=True):
        if before.run is None or arm.run is None or arm.idle():
            continue
        candidate = two.candidate
        objective = search.objective(before.run, arm.interventions, candidate.cause)
        if objective.signal:
            found.append(
                (two, Way(candidate, candidate.interventions, objective, paired(before, arm, objective)))
            )
    return found

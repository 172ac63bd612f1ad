"""What a rule is: a pure function over a run, with its facts declared next to it.

    @rule(code="LOS004", needs=("objective",), min_points=20, severity="medium",
          message="...")
    def loss_plateaus(run, features, *, window: float = threshold(0.3, "of the run", "convention", "...")):
        \"\"\"What it sees ... \"\"\"
        yield Evidence(...)

`@rule` builds a frozen `Rule` and registers nothing: the package `traindx.rules` is walked, third
parties are found by the entry point group `traindx.rules`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from traindx.vocabulary.diagnosis import EvidencePoint, Severity

Basis = Literal["measured", "theory", "paper", "convention"]
# How long a finding must last before it is reported of a run that still trains; `traindx.live.persistence` has the
# numbers. "at-once": one value proves it. "brief": an outlier is over by then. "turning": what rises may come back,
# the more so where the rise is small. "slow": something that has not happened yet, which is true of every run at its
# start, or that grows and shrinks as a run goes on. "steady": a level that is kept, as many runs do for a while when
# they begin.
PersistenceKind = Literal["at-once", "brief", "turning", "steady", "slow"]


class Threshold(float):
    """A number with its unit, basis and source; used as a keyword default in a rule's signature."""

    unit: str
    basis: Basis
    source: str

    def __new__(cls, value: float, unit: str, basis: Basis, source: str) -> Threshold:
        self = super().__new__(cls, value)
        self.unit, self.basis, self.source = unit, basis, source
        return self

    def __reduce__(self) -> tuple[type[Threshold], tuple[float, str, Basis, str]]:
        # float's own calls __new__ with the number alone, so evidence that shows a threshold could not be copied
        return Threshold, (float(self), self.unit, self.basis, self.source)


def threshold(value: float, unit: str, basis: Basis, source: str) -> Any:
    """Declare a threshold. `unit` says what the number counts ("x robust noise", "of the run"),
    `basis` how it was found, `source` where that can be checked."""
    return Threshold(value, unit, basis, source)


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule saw, once. `strength` in 0..1 says how clearly (1 = beyond doubt).

    `aspects` are finer marks for the ranking ("early", "norm-grew-before"), `severity`
    overrides the rule's own, `values` fill the message's fields, `points` are the numbers.
    """

    onset: float | None = None
    last: float | None = None
    where: str | None = None
    strength: float = 1.0
    aspects: tuple[str, ...] = ()
    severity: Severity | None = None
    message: str | None = None
    values: Mapping[str, object] = {}
    points: tuple[EvidencePoint, ...] = ()


class CannotJudge(Exception):
    """Raised by a rule that finds, after looking, that the signal cannot be judged; says why."""


class Deferred(msgspec.Struct, frozen=True):
    """Replaces the function of a rule whose module, `home`, has not been imported."""

    home: str

    @property
    def rule(self) -> Rule:
        """The rule that the module defines, under the module's own name."""
        made: Rule = getattr(importlib.import_module(self.home), self.home.rpartition(".")[2])
        return made

    def __call__(self, *args: Any, **thresholds: float) -> Iterator[Evidence]:
        return self.rule.check(*args, **thresholds)


class Rule(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A rule's facts and its function.

    `needs`: signals that must all be there; an entry may list alternatives, "val/loss|val/error".
    `min_points`: finite points that the first needed signal must have.
    `follows`: slugs of rules that, fired no later, make a finding of this one a consequence.
    `persistence`: how long a finding must last before it is reported while a run trains.
    """

    code: str
    slug: str
    needs: tuple[str, ...]
    min_points: int
    severity: Severity
    message: str
    follows: tuple[str, ...]
    persistence: PersistenceKind
    check: Callable[..., Iterator[Evidence]]

    @property
    def family(self) -> str:
        return self.code[:3]

    @property
    def loaded(self) -> Rule:
        """The rule itself, of one that is known from an index only."""
        return self.check.rule if isinstance(self.check, Deferred) else self

    @property
    def page(self) -> str:
        """What is to be read of the rule: its function's docstring."""
        return inspect.getdoc(self.loaded.check) or ""

    @property
    def thresholds(self) -> dict[str, Threshold]:
        parameters = inspect.signature(self.loaded.check).parameters.values()
        return {p.name: p.default for p in parameters if isinstance(p.default, Threshold)}


def rule(
    *,
    code: str,
    needs: tuple[str, ...],
    min_points: int,
    severity: Severity,
    message: str,
    follows: tuple[str, ...] = (),
    persistence: PersistenceKind | None = None,
) -> Callable[[Callable[..., Iterator[Evidence]]], Rule]:
    """Turn a function into a Rule; the slug is the function's name in kebab case. Without a `persistence`, a critical
    finding is reported at once and any other after a brief while."""

    def build(check: Callable[..., Iterator[Evidence]]) -> Rule:
        return Rule(
            code=code,
            slug=check.__name__.replace("_", "-"),
            needs=needs,
            min_points=min_points,
            severity=severity,
            message=message,
            follows=follows,
            persistence=persistence or ("at-once" if severity == "critical" else "brief"),
            check=check,
        )

    return build


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one rule on one run: fired, clear, or not evaluated for a reason."""

    rule: Rule
    status: Literal["fired", "clear", "not-evaluated"]
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""

    @property
    def strength(self) -> float:
        return max((e.strength for e in self.evidence), default=0.0)

    @property
    def onset(self) -> float | None:
        """First step of the evidence that has one."""
        return min((e.onset for e in self.evidence if e.onset is not None), default=None)

    @property
    def last(self) -> float | None:
        """Last step of the evidence that has one."""
        return max((e.last for e in self.evidence if e.last is not None), default=None)

    def follows_from(self, other: Outcome) -> bool:
        """Whether this finding may be a consequence of `other`: its rule says so, and the other began
        before it, shortly after it (an exploding norm occurs just before the loss breaks), or while it
        lasted."""
        if other.rule.slug not in self.rule.follows or other.status != "fired" or self.status != "fired":
            return False
        began, own, until = other.onset, self.onset, self.last
        if began is None or own is None:
            return True
        return began - LEAD * abs(began) <= own or (until is not None and began <= until)


LEAD = 0.1  # of the steps before a fault's onset: what happens in them belongs to it

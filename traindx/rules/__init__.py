"""Rules, one file each, and the engine that asks every one of them.

The package is walked (nothing registers itself); other packages add rules through the entry point
group `traindx.rules`. `listed` knows the same rules from an index and imports those that can be asked.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from traindx.errors import ConfigError
from traindx.features.adversarial import player_of
from traindx.features.shared import Features
from traindx.installed import extensions, modules_of
from traindx.vocabulary.rule import CannotJudge, Deferred, Outcome, Rule
from traindx.vocabulary.run import Run

NOT_FINITE = "loss-not-finite"  # is a fault whatever the loss means


GROUP = "traindx.rules"


@cache
def catalogue() -> tuple[Rule, ...]:
    """All rules, ours and other packages', ordered by code; every module is imported."""
    found: list[Rule] = []
    for info in pkgutil.walk_packages(__path__, prefix=__name__ + "."):
        module = importlib.import_module(info.name)
        found += [
            v for v in vars(module).values() if isinstance(v, Rule) and v.check.__module__ == info.name
        ]
    return ordered([*found, *others()])


@cache
def listed() -> tuple[Rule, ...]:
    """The rules of `catalogue`, ours as the index tells them: the check of each is imported when it is asked.
    Where the index does not name the files that are there, all are imported."""
    known = indexed()
    there = modules_of(__name__, __path__, families=True)
    if there != {home for home, *_ in known}:
        return catalogue()
    ours = (
        Rule(code=code, slug=slug_of(home), needs=needs, min_points=points, severity=severity, message=message,
             follows=follows, check=Deferred(home))
        for home, code, needs, points, severity, message, follows in known
    )  # fmt: skip
    return ordered([*ours, *others()])


def slug_of(home: str) -> str:
    """The slug of the rule that a module defines."""
    return home.rpartition(".")[2].replace("_", "-")


def others() -> list[Rule]:
    """The rules of other packages."""
    return [
        rule for made in extensions(GROUP) for rule in ([made] if isinstance(made, Rule) else list(made))
    ]


def ordered(found: list[Rule]) -> tuple[Rule, ...]:
    codes = [r.code for r in found]
    twice = {c for c in codes if codes.count(c) > 1}
    if twice:
        raise ConfigError(f"two rules share a code: {', '.join(sorted(twice))}")
    return tuple(sorted(found, key=lambda r: r.code))


def judge(
    run: Run,
    features: Features,
    rules: Iterable[Rule] | None = None,
    overrides: Mapping[str, Mapping[str, float]] | None = None,
) -> tuple[Outcome, ...]:
    """Ask every rule; `overrides` maps a rule's slug to thresholds that replace its own."""
    chosen = listed() if rules is None else tuple(rules)
    return tuple(judge_one(rule, run, features, (overrides or {}).get(rule.slug, {})) for rule in chosen)


def judge_one(rule: Rule, run: Run, features: Features, override: Mapping[str, float]) -> Outcome:
    """One rule's outcome: fired, clear, or not evaluated with the reason. A crash is loud."""
    reason = missing(rule, features)
    if reason:
        return Outcome(rule=rule, status="not-evaluated", reason=reason)
    rule = rule.loaded
    try:
        evidence = tuple(rule.check(run, features, **override))
    except CannotJudge as why:
        return Outcome(rule=rule, status="not-evaluated", reason=str(why))
    return Outcome(rule=rule, status="fired" if evidence else "clear", evidence=evidence)


def missing(rule: Rule, features: Features) -> str:
    """Why a rule cannot be evaluated ("" when it can): a signal that is not there, or too short."""
    for position, need in enumerate(rule.needs):
        alternatives = need.split("|")
        present = [a for a in alternatives if available(a, features)]
        if not present:
            return f"needs {' or '.join(alternatives)}, which was not recorded"
        if position == 0:
            main = features.objective_name if present[0] == "objective" else present[0]
            if (
                rule.family == "LOS"
                and rule.slug != NOT_FINITE
                and (why := says_little(main or "", features))
            ):
                return why
            curve = features.curve(present[0])
            have = curve.n if curve is not None else features.run.points
            # A rule about values that are not finite asks for a single point, finite or not.
            if have < rule.min_points > 1:
                return f"needs {rule.min_points} finite points of {present[0]}, there are {have}"
    return ""


def says_little(name: str, features: Features) -> str:
    """Why a loss is no measure of progress in this run ("" where it is one)."""
    if features.is_game:
        return "several nets are trained, each with a loss of its own: none of them tells of progress"
    if features.is_duel and player_of(name):
        return "two nets play against each other: the loss of neither tells of progress"
    if features.is_reinforcement and name == "train/loss":
        return "an agent learns from rewards: the loss of a policy or a critic tells little of progress"
    return ""


def available(name: str, features: Features) -> bool:
    """Whether a needed signal is there. "run" always is, "x/*" is any signal below x/ or the
    panel x, "event:kind" an event, "setup:field" a known fact."""
    run = features.run
    if name == "run":
        return True
    if name.startswith("event:"):
        return any(e.kind == name[6:] for e in run.events)
    if name.startswith("setup:"):
        return getattr(run.setup, name[6:], None) is not None or name[6:] in run.setup.facts
    if name.endswith("/*"):
        below = any(n.startswith(name[:-1]) for n in (*run.series, *run.panels))
        return below or name[:-2] in run.panels
    return features.curve(name) is not None


def indexed() -> tuple[tuple[Any, ...], ...]:
    """What `docs.generate` wrote down of every module; nothing where it did not."""
    try:
        from traindx.rules.index import RULES
    except ModuleNotFoundError:
        return ()
    return RULES

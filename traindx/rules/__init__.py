"""Rules, one file each, and the engine that evaluates them.

The package is walked, so nothing registers itself. Other packages add rules through the entry point group
`traindx.rules`. `list_entries` knows the same rules from a generated index, and imports only those that can be
evaluated.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from traindx.errors import ConfigError
from traindx.features.adversarial import player_of
from traindx.features.shared import Features
from traindx.installed import defined_in, extensions, index_rows, modules_of
from traindx.vocabulary import CannotJudge, Deferred, Evidence, EvidencePoint, Outcome, Rule, Run, threshold

NOT_FINITE = "loss-not-finite"  # a fault, whatever the loss measures
GROUP = "traindx.rules"
# What somebody who asks about a run says of it, by the rule that would see it in more rows.
SAID = {
    "loss-not-finite": "by the question, the loss becomes NaN or infinite",
    "loss-diverges": "by the question, the loss rises or the score falls",
    "loss-at-chance": "by the question, the model does not get better than guessing",
    "predictions-collapse": "by the question, the model gives one answer to every input",
    "loss-flat-from-start": "by the question, the run does not learn",
    "validation-gap-grows": "by the question, validation is worse than training",
    "metric-constant-or-impossible": "by the question, a score does not change",
    "loss-plateaus": "by the question, progress has stopped",
    "loss-jumps-on-resume": "by the question, the loss jumps when the run is resumed",
    "gradient-not-finite": "by the question, the gradient norm is NaN or infinite",
    "gradient-norm-explodes": "by the question, the gradients explode",
    "gradient-norm-vanishes": "by the question, the gradients vanish",
    "step-waits-for-data": "by the question, loading data takes the time",
    "memory-grows": "by the question, the memory in use grows",
    "step-time-creeps": "by the question, steps or epochs take longer and longer",
    "loss-oscillates": "by the question, the loss oscillates",
    "loss-falls-slowly": "by the question, the loss falls slowly",
    "discriminator-wins": "by the question, the discriminator wins",
    "posterior-collapses": "by the question, the divergence from the prior is almost 0: the latent variables are not used",
    "loss-has-no-floor": "by the question, the loss is below 0, as a negated score or the log-likelihood of continuous "
    "values may be, but not cross-entropy or a squared error",
    "validation-beats-training": "by the question, validation is better than training, which is normal with dropout, "
    "augmentation or a training loss averaged over the epoch",
}
GRAVE = frozenset({"loss-at-chance", "loss-not-finite"})
# Said less clearly than `loss-at-chance` where that is said, too.
VAGUE = frozenset({"loss-flat-from-start", "metric-constant-or-impossible"})


@cache
def catalogue() -> tuple[Rule, ...]:
    """All rules, ours and other packages', ordered by code; every module is imported."""
    return sort_rules([*defined_in(__name__, Rule), *rules_of_other_packages()])


@cache
def list_entries() -> tuple[Rule, ...]:
    """The rules of `catalogue`, with ours from the index: the module of a rule is imported when it is
    evaluated.

    If the index does not name exactly the files of the package, all are imported.
    """
    known = index_rows(__name__)
    if modules_of(__name__, __path__, families=True) != {home for home, *_ in known}:
        return catalogue()
    ours = (
        Rule(code=code, slug=module_slug(home), needs=needs, min_points=points, severity=severity,
             message=message, follows=follows, persistence=persistence, check=Deferred(home))
        for home, code, needs, points, severity, message, follows, persistence in known
    )  # fmt: skip
    return sort_rules([*ours, *rules_of_other_packages()])


def module_slug(home: str) -> str:
    """The slug of the rule that a module defines."""
    return home.rpartition(".")[2].replace("_", "-")


def rules_of_other_packages() -> list[Rule]:
    """The rules of other packages."""
    return [
        rule for made in extensions(GROUP) for rule in ([made] if isinstance(made, Rule) else list(made))
    ]


def sort_rules(found: list[Rule]) -> tuple[Rule, ...]:
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
    """Evaluate every rule. `overrides` maps the slug of a rule to thresholds that replace its own."""
    chosen = list_entries() if rules is None else tuple(rules)
    outcomes = (judge_one(rule, run, features, (overrides or {}).get(rule.slug, {})) for rule in chosen)
    return tuple(outcome_from_description(outcome, run, features) for outcome in outcomes)


def outcome_from_description(
    outcome: Outcome,
    run: Run,
    features: Features,
    *,
    few: float = threshold(10, "points", "convention", "more show by themselves what somebody says of them"),
    two: float = threshold(2, "points", "convention", "rows from before the loss became NaN"),
) -> Outcome:
    """The outcome of a rule that cannot judge so few points, where a question says what it would see."""
    slug, curve = outcome.rule.slug, features.objective
    words = {name: run.setup.word(name).split(",") for name in ("symptoms", "described", "noticed")}
    said = slug in SAID and any(slug in slugs for slugs in words.values())
    if slug in VAGUE and not run.series and "loss-at-chance" in words["symptoms"]:
        return outcome
    if not said or outcome.status == "fired" or (curve is not None and len(curve.raw) >= few):
        return outcome
    if outcome.status == "clear" and (slug != NOT_FINITE or features.run.points > two):
        return outcome
    evidence = Evidence(
        severity="high" if slug in GRAVE else "info" if slug in words["noticed"] else "medium",
        strength=0.5,
        aspects=("said",),
        message=SAID[slug],
        points=(EvidencePoint("setup:symptoms", None, 1, 0, "symptoms"),),
    )
    return Outcome(rule=outcome.rule.loaded, status="fired", evidence=(evidence,))


def judge_one(rule: Rule, run: Run, features: Features, override: Mapping[str, float]) -> Outcome:
    """The outcome of one rule: fired, clear, or not evaluated with the reason. An exception is not
    caught."""
    reason = why_not_evaluated(rule, features)
    if reason:
        return Outcome(rule=rule, status="not-evaluated", reason=reason)
    rule = rule.loaded
    try:
        evidence = tuple(rule.check(run, features, **override))
    except CannotJudge as why:
        return Outcome(rule=rule, status="not-evaluated", reason=str(why))
    return Outcome(rule=rule, status="fired" if evidence else "clear", evidence=evidence)


def why_not_evaluated(rule: Rule, features: Features) -> str:
    """Why a rule cannot be evaluated ("" if it can): a signal is missing or too short."""
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
                and not need.endswith("/*")  # a rule about such trainings knows what it reads
                and (why := why_uninformative(main or "", features))
            ):
                return why
            curve = features.curve(present[0])
            have = curve.n if curve is not None else features.run.points
            # A rule about NaN needs a single point, finite or not.
            if have < rule.min_points > 1:
                return f"needs {rule.min_points} finite points of {present[0]}, there are {have}"
    return ""


def why_uninformative(name: str, features: Features) -> str:
    """Why a loss does not measure progress in this run ("" if it does)."""
    if features.is_game:
        return "several networks are trained with separate losses, and none of them shows progress"
    if features.is_duel and player_of(name):
        return "two networks play against each other, and neither loss shows progress"
    if features.is_reinforcement and name == "train/loss":
        return "an agent learns from rewards, and the loss of its policy or critic does not show progress"
    return ""


def available(name: str, features: Features) -> bool:
    """Whether a needed signal was recorded. "run" always is. "x/*" is any signal below x/ or the panel x,
    "event:kind" an event, "setup:field" a known fact."""
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

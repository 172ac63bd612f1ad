"""What to measure next: the measurements that are expected to narrow the causes most, in bits per minute.

A measurement is one or several yes/no questions. The weights of each cause give the probability of a yes
under it: p = logistic(logit(base rate) + fired - clear). The gain of a measurement is the mutual information
between the answers and the cause, under the present probabilities. Its cost is in `costs`."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from traindx.causes.catalogue import catalogue
from traindx.causes.experiments import TRIED, command
from traindx.causes.experiments.weights import EXPERIMENT_WEIGHTS
from traindx.causes.facts import QUESTIONS, facts_of
from traindx.causes.measures.costs import Clock, clock_of, cost_of
from traindx.causes.ranking.signs import GROUP_OF
from traindx.features.shared import Features
from traindx.vocabulary import (
    SIGNALS,
    Cause,
    Floats,
    Hypothesis,
    NextMeasure,
    Outcome,
    Run,
    lower_first,
    threshold,
)

SHOWN = 3
WORTH = 0.05  # bits; a measurement with a smaller gain is not shown
PLAUSIBLE = 0.05  # causes with a smaller probability are not worth an experiment
CAPTURED = "traindx"  # the format of runs that were recorded
AT_ONCE = 4  # questions of one measurement that are evaluated together (2^4 answers)
# Set by hand: how often a rule fires, or a fact holds, without evidence for it, and how often an
# experiment that is to confirm a cause is right.
RULE_RATE, FACT_RATE, EXPERIMENT_RIGHT = 0.05, 0.2, 0.9


class Question(msgspec.Struct, frozen=True):
    """A yes/no question: `likelihood[c]` is the probability of a yes under each hypothesis."""

    key: str
    likelihood: Floats


class Candidate(msgspec.Struct, frozen=True):
    measure: str
    how: str
    questions: tuple[Question, ...]


def next_measures(
    hypotheses: Sequence[Hypothesis],
    outcomes: Sequence[Outcome],
    run: Run,
    features: Features | None = None,
    shown: int = SHOWN,
) -> tuple[NextMeasure, ...]:
    """The best few measurements, most bits per minute first; none when one cause is almost certain."""
    known = {c.slug: c for c in catalogue()}
    possible = [h for h in hypotheses if h.cause in known]
    if len(possible) < 2:
        return ()
    belief = np.array([h.probability for h in possible])
    belief = belief / belief.sum()
    causes = [known[h.cause] for h in possible]
    features = features or Features(run)
    clock = clock_of(run, features)
    found = [
        *signals_missing(outcomes, run, causes, features),
        *facts_missing(facts_of(run, features), causes),
        *checks_missing(outcomes, causes),
        *experiments(possible, outcomes, run, causes, clock),
    ]
    if run.boosted:  # boosted trees have no layers or gradients to record
        found = [c for c in found if c.measure == how_to_log("val/loss")[0]]
    if run.framework == "sklearn":  # its networks take no change from outside
        found = [c for c in found if not c.how.startswith("traindx")]
    return choose_measures([describe_measure(c, causes, belief, clock) for c in found], shown)


def choose_measures(measures: Iterable[NextMeasure], shown: int = SHOWN) -> tuple[NextMeasure, ...]:
    """The `shown` measurements with the most bits per minute, best first, without those that gain almost
    nothing. The last place goes to the one with the most bits of all, if it is not among them, so that
    cheap questions do not displace it."""
    best: dict[str, NextMeasure] = {}
    for measure in sorted(measures, key=lambda m: (-m.bits_per_minute, -m.gain_bits, m.measure)):
        if measure.gain_bits >= WORTH:
            best.setdefault(measure.how, measure)
    first = list(best.values())[:shown]
    most = max(best.values(), key=lambda m: m.gain_bits, default=None)
    if most is not None and most not in first:
        first[-1] = most
    return tuple(first)


def signals_missing(
    outcomes: Iterable[Outcome], run: Run, causes: Sequence[Cause], features: Features
) -> list[Candidate]:
    """One candidate per signal that rules lack, with the questions of all rules that it would enable. Only a run
    with rewards has a reference that its model can leave."""
    captured = run.format == CAPTURED
    lacking: dict[str, list[Question]] = {}
    for outcome in outcomes:
        if outcome.status != "not-evaluated":
            continue
        for need in outcome.rule.needs:
            names = need.split("|")
            if not any(present(n, run) for n in names):
                asked = question(outcome.rule.slug, causes, RULE_RATE)
                if asked is not None:
                    lacking.setdefault(names[0], []).append(asked)
                break
    found = []
    for name, questions in lacking.items():
        words, how = how_to_log(name)
        # A recording has all that this framework shows of this model, but for what the script does not evaluate.
        shown = captured and how != WITH_A_TRACE and not name.startswith(("objective", "train", "val"))
        if (
            name.startswith(("event:", "setup:"))
            or shown
            or (name == "train/kl" and not features.is_reinforcement)
        ):
            continue
        found.append(Candidate(words, in_framework(how, run.framework), most_informative(questions)))
    return found


def in_framework(how: str, framework: str | None) -> str:
    """How to log a signal, without PyTorch's names in a run of another framework."""
    if framework not in FOREIGN or not any(word in how for word in ("torch.", "param_groups")):
        return how
    return how.partition(" or: ")[2] or how.partition(" (")[0]


def present(name: str, run: Run) -> bool:
    """Whether the run has a signal that a rule needs (names as in the rule engine)."""
    if name in ("run", "objective") or name.startswith(("event:", "setup:")):
        return name == "run" or bool(run.series)
    if name.endswith("/*"):
        return any(n.startswith(name[:-1]) for n in (*run.series, *run.panels))
    return name in run.series or name in run.panels


def facts_missing(known: Mapping[str, bool], causes: Sequence[Cause]) -> list[Candidate]:
    """One candidate per question that the user can answer and the log does not."""
    asked: dict[tuple[str, str], list[Question]] = {}
    for name, words in QUESTIONS.items():
        made = question(f"fact:{name}", causes, FACT_RATE)
        if name not in known and made is not None:
            asked.setdefault(words, []).append(made)
    return [
        Candidate(measure, how, most_informative(questions)) for (measure, how), questions in asked.items()
    ]


def checks_missing(outcomes: Iterable[Outcome], causes: Sequence[Cause]) -> list[Candidate]:
    """The sanity experiments of `traindx check`, whose results no log shows."""
    unknown = {o.rule.slug for o in outcomes if o.status == "not-evaluated"}
    keys = {
        key for table in EXPERIMENT_WEIGHTS.values() for key in table if key.partition(":")[0] in unknown
    }
    best: dict[str, Question] = {}  # the most informative aspect of each rule
    for key in sorted(keys):
        asked = question(key, causes, RULE_RATE)
        slug = key.partition(":")[0]
        if asked is not None and (
            slug not in best or np.ptp(asked.likelihood) > np.ptp(best[slug].likelihood)
        ):
            best[slug] = asked
    return [Candidate(*CHECKED, most_informative(list(best.values())))] if best else []


def experiments(
    hypotheses: Sequence[Hypothesis],
    outcomes: Iterable[Outcome],
    run: Run,
    causes: Sequence[Cause],
    clock: Clock,
) -> list[Candidate]:
    """The decisive measurements that causes with evidence name, and the runs with one change that would
    cure them. Each is as long as it takes to see whether the finding recurs."""
    made = []
    onsets = {o.rule.slug: o.onset for o in outcomes if o.status == "fired"}
    for index, (hypothesis, cause) in enumerate(zip(hypotheses, causes, strict=True)):
        if cause.slug == "healthy" or not hypothesis.for_ or hypothesis.probability < PLAUSIBLE:
            continue
        likelihood = np.full(len(causes), 1 - EXPERIMENT_RIGHT)
        likelihood[index] = EXPERIMENT_RIGHT
        asked = (Question(cause.slug, likelihood),)
        steps = clock.reach(onset_of(hypothesis, onsets))
        made += [
            Candidate(m, command((), steps) if h == WITH_CAPTURE else h, asked)
            for m, h in checks_for(cause, run)
        ]
        if cause.slug in TRIED:
            measure, interventions = TRIED[cause.slug]
            made.append(Candidate(measure, command(interventions, steps), asked))
    return made


def checks_for(cause: Cause, run: Run) -> list[tuple[str, str]]:
    """What would show the cause, without what is logged already and what only a user can answer."""
    found = []
    for measure, how in cause.settles[:2]:
        logged = not set(re.split(r"[ ,;()]+", how)).isdisjoint(run.series)
        recorded = how == WITH_CAPTURE and run.format == CAPTURED
        if not (how.startswith("--fact") or logged or recorded):
            found.append((measure, how))
    return found


def onset_of(hypothesis: Hypothesis, onsets: Mapping[str, float | None]) -> float | None:
    """The step at which the strongest finding for the cause began; None if it has none."""
    fired = [t for t in hypothesis.for_ if t.finding.partition(":")[0] in onsets]
    main = max(fired, key=lambda t: t.log_odds, default=None)
    return None if main is None else onsets[main.finding.partition(":")[0]]


def question(key: str, causes: Sequence[Cause], rate: float) -> Question | None:
    """The probability of a yes under each cause; None when no cause here has a weight for it."""
    weights = [c.weights.get(key) for c in causes]
    if all(w is None for w in weights):
        return None
    shift = np.array([0.0 if w is None else w.fired - w.clear for w in weights])
    return Question(key, 1 / (1 + np.exp(-(math.log(rate / (1 - rate)) + shift))))


def most_informative(questions: Sequence[Question]) -> tuple[Question, ...]:
    """The most informative question of each evidence group, at most `AT_ONCE`: questions of one group
    have the same answer and must not be counted twice."""
    ordered = sorted(questions, key=lambda q: (-float(np.ptp(q.likelihood)), q.key))
    groups: dict[str, Question] = {}
    for asked in ordered:
        groups.setdefault(GROUP_OF.get(asked.key, asked.key), asked)
    return tuple(groups.values())[:AT_ONCE]


def gain(questions: Sequence[Question], belief: Floats) -> float:
    """Mutual information in bits between the answers to the questions and the cause."""
    joint = joint_answers(questions, belief)
    chance = joint.sum(1)
    after = entropy(joint / np.where(chance > 0, chance, 1.0)[:, None])
    return max(float(entropy(belief) - chance @ after), 0.0)


def joint_answers(questions: Sequence[Question], belief: Floats) -> Floats:
    """`[answers, causes]`: the joint probability of each cause and each combination of answers, yes
    before no."""
    joint = belief[None, :]
    for asked in questions:
        yes = asked.likelihood
        joint = (joint[:, None, :] * np.stack((yes, 1 - yes))).reshape(-1, len(belief))
    return joint


def decides(
    questions: Sequence[Question],
    belief: Floats,
    *,
    likely: float = threshold(
        0.1, "P(answers)", basis="convention", source="answers that are not improbable"
    ),
) -> bool:
    """Whether answers that would put another cause first have a probability of `likely` or more together."""
    joint = joint_answers(questions, belief)
    return bool(joint[joint.argmax(1) != belief.argmax()].sum() >= likely)


def entropy(p: Floats) -> Floats:
    """Entropy in bits of the probabilities `p[..., n]`, one for each row."""
    return np.asarray(-(p * np.log2(np.where(p > 0, p, 1.0))).sum(-1))


def describe_measure(
    candidate: Candidate, causes: Sequence[Cause], belief: Floats, clock: Clock
) -> NextMeasure:
    """The candidate with its gain, its cost and the causes that it separates best."""
    return NextMeasure(
        candidate.measure,
        explain_support(candidate, causes, belief),
        candidate.how,
        round(gain(candidate.questions, belief), 3),
        float(f"{cost_of(candidate.how, clock):.3g}"),
        decides(candidate.questions, belief),
    )


def explain_support(candidate: Candidate, causes: Sequence[Cause], belief: Floats) -> str:
    """Which of the likely causes a yes supports, and which it makes less likely."""
    chosen = candidate.questions[0].likelihood
    centred = (chosen - float(belief @ chosen)) * belief
    yes, no = int(np.argmax(centred)), int(np.argmin(centred))
    if yes == no:
        return f"confirms or rules out: {lower_first(causes[yes].title)}"
    return f"separates '{lower_first(causes[yes].title)}' from '{lower_first(causes[no].title)}'"


WITH_CAPTURE = "traindx run -- python train.py"
WITH_A_TRACE = "traindx profile -- python train.py"
# What `traindx check` measures by starting the script in several ways (docs/check.md).
CHECKED = (
    "whether the model can learn one batch, and uses its inputs and labels",
    "traindx check -- python train.py",
)

FOREIGN = frozenset({"keras", "jax", "sklearn"})
HOW_TO_LOG: Mapping[str, tuple[str, str]] = {
    "objective": ("a training loss", "log the loss with its step"),
    "train/loss": ("the training loss", "log the loss with its step"),
    "val": ("the validation loss", "evaluate every few hundred steps and log val/loss"),
    "train": ("a training loss", "log the loss with its step"),
    "val/loss": ("the validation loss", "evaluate every few hundred steps and log val/loss"),
    "val/accuracy": ("a validation metric", "log an accuracy or error next to the loss"),
    "train/accuracy": ("a training metric", "log an accuracy or error next to the loss"),
    "train/kl": ("the divergence from the reference", "log kl, the mean over the tokens of a batch"),
    "lr": ("the learning rate of every step", "log lr (optimizer.param_groups[0]['lr'])"),
    "grad_norm": (
        "the global gradient norm",
        f"log what torch.nn.utils.clip_grad_norm_ returns, or: {WITH_CAPTURE}",
    ),
    "grad_norm/": ("the gradient norm of every layer", WITH_CAPTURE),
    "clip_ratio": ("the gradient norm before and after clipping", WITH_CAPTURE),
    "loss_scale": ("the loss scale", "log scaler.get_scale()"),
    "skipped_steps": ("the number of skipped steps", "log it from the gradient scaler"),
    "time/step": ("the time of each step", "log seconds per step"),
    "time/data": ("the time spent waiting for data", f"log it, or: {WITH_CAPTURE}"),
    "time/idle": ("the time of a step in which nothing is computed", WITH_A_TRACE),
    "calls/synchronize": ("how often the host waits for the accelerator", WITH_A_TRACE),
    "operator_time/": ("the time of a step in each operator", WITH_A_TRACE),
    "operator_calls/": ("the calls of each operator in a step", WITH_A_TRACE),
    "throughput": ("samples per second", "log samples per second"),
    "mem/host": ("the memory of the process", f"log it, or: {WITH_CAPTURE}"),
    "mem/device": ("the memory of the device", f"log torch.cuda.memory_allocated(), or: {WITH_CAPTURE}"),
    "util/device": (
        "the utilization of the accelerator",
        "log it (nvidia-smi, or the system metrics of your logger)",
    ),
    "epoch": ("the epoch of each row", "log the (fractional) epoch"),
    "rank": ("the time of a step of every rank", "log rank/<i>/time/step"),
}


def how_to_log(name: str) -> tuple[str, str]:
    """The name in words of a signal that a rule needs ("act_mean/*": of every module), and how to log it."""
    base, panel = name.removesuffix("/*"), name.endswith("/*")
    known = HOW_TO_LOG.get(f"{base}/" if panel else base) or HOW_TO_LOG.get(base)
    if known is not None:
        return known
    meant = {kind.name: kind.meaning for kind in SIGNALS}.get(f"{base}/<module>" if panel else base)
    each = str(meant).removesuffix(" of one module") + " of every module"
    words = f"the {each}" if meant and panel else meant or name
    return words, WITH_CAPTURE

"""Experiments until one cause is settled: each is the change that would cure one, tried on two seeds.

Next is the one with the largest expected information gain about the cause. The second seed is not started where
the first one shows that the change does nothing, or makes it worse.

A run that looks healthy may have a fault that its metrics do not show, or not yet. Its suspects are tried, too."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from traindx import pipeline
from traindx.causes.experiments import HELPED, TRIED
from traindx.causes.experiments.belief import chance, outcome_of, update_belief
from traindx.causes.measures.next_measures import Question, gain
from traindx.config import Config
from traindx.lab.judge import objectives
from traindx.lab.judge.significance import HOPELESS, MIN_EFFECT, Judged, least_gain, percent
from traindx.lab.repair.bench import Arm, Bench
from traindx.lab.repair.conditions import PLAUSIBLE, refusal, why_idle, without_idle
from traindx.lab.repair.pairs import Pair, known_gains, pair_arms, trial
from traindx.lab.repair.source import Source
from traindx.reports.labels import percent as sure
from traindx.vocabulary import Hypothesis, Run, RunDiagnosis
from traindx.vocabulary.trial import Trial, Verdict

SETTLED = 0.9
WORTH = 0.05  # bits; an experiment with a smaller expected information gain is not made
SEEDS = 2
SPARED = "without changes that would find nothing to do"
LARGE = 0.69  # a gain of 50 % with every seed: hardly any change but the cure has it


class Experiment(NamedTuple):
    """A change that would cure `causes`, the most likely first; `bits`: its expected information gain."""

    causes: tuple[str, ...]
    what: str
    interventions: tuple[str, ...]
    bits: float


class Investigation(NamedTuple):
    """The result: the diagnosis with the final belief, and the run of the unchanged script."""

    diagnosis: RunDiagnosis
    run: Run
    why: str


def investigate(
    bench: Bench,
    config: Config,
    *,
    steps: int | None = None,
    show: Callable[[Sequence[Hypothesis], Sequence[Experiment], float], None] = lambda *_: None,
    notify: Callable[[str], None] = lambda _: None,
    believed: Callable[[Sequence[Hypothesis]], None] = lambda _: None,
) -> Investigation:
    """Run the unchanged script, then experiments. Raises ExperimentFailed where the script left no
    record."""
    first = bench.first(steps)
    assert first.run is not None
    bench.steps = steps
    bench.source = Source(bench.command, Path.cwd(), first.run.setup)
    diagnosis = pipeline.diagnose(first.run, config).first
    return settle_causes(bench, first, diagnosis, show=show, notify=notify, believed=believed)


def settle_causes(
    bench: Bench,
    first: Arm,
    diagnosis: RunDiagnosis,
    *,
    show: Callable[[Sequence[Hypothesis], Sequence[Experiment], float], None] = lambda *_: None,
    notify: Callable[[str], None] = lambda _: None,
    believed: Callable[[Sequence[Hypothesis]], None] = lambda _: None,
) -> Investigation:
    """Experiments on a script that has run unchanged (`first`), starting from the belief of its
    `diagnosis`."""
    assert first.run is not None
    belief = without_idle(diagnosis.hypotheses, first.run.setup, bench.source)
    suspects = frozenset(h.cause for h in belief if h.probability >= PLAUSIBLE)
    trail = [("as it is", cause_probabilities(diagnosis.hypotheses))]
    trail += [(SPARED, cause_probabilities(belief))] if belief != diagnosis.hypotheses else []
    trials: list[Trial] = []
    tried = set[tuple[str, ...]]()
    show(belief, experiments(belief, tried, first.run, bench.source), first.seconds)
    believed(belief)
    while True:
        plan = experiments(belief, tried, first.run, bench.source)
        if why := why_over(belief, plan, suspects, bench, first, begun=bool(tried)):
            break
        one = plan[0]
        made = bench.run_within_budget(partial(try_experiment, bench, first, one), None, one.what)
        if made is None:
            why = bench.budget_message()
            break
        tried.add(one.interventions)
        trials.append(made)
        if made.gains or made.verdict == "refuted":
            belief = after_trial(belief, one, made)
            trail.append((f"{' '.join(one.interventions)}: {made.verdict}", cause_probabilities(belief)))
            believed(belief)
        notify(f"{one.what} ({' '.join(one.interventions)}): {made.verdict}: {made.why}; {belief[0].title} "
             f"{sure(belief[0].probability)}")  # fmt: skip
    left = tuple(m for m in diagnosis.next if not any(all(spec in m.how for spec in way) for way in tried))
    concluded = msgspec.structs.replace(
        diagnosis, next=left, hypotheses=belief, trials=msgspec.to_builtins(tuple(trials)), belief=tuple(trail)
    )  # fmt: skip
    return Investigation(concluded, first.run, why)


def after_trial(belief: Sequence[Hypothesis], one: Experiment, made: Trial) -> tuple[Hypothesis, ...]:
    """The probabilities of the causes after the experiment `one` came out as `made`."""
    helped = HELPED.get(one.interventions, ())
    outcome = outcome_of(made.verdict, one.interventions, idle=not made.gains)
    if outcome == "confirmed" and min(made.gains) >= LARGE:
        outcome = "decisive"
    return update_belief(belief, one.causes, outcome, one.interventions[0], helped, keep_health=True)


def cause_probabilities(belief: Sequence[Hypothesis]) -> dict[str, float]:
    return {h.cause: round(h.probability, 4) for h in belief}


def why_over(
    belief: Sequence[Hypothesis],
    plan: Sequence[Experiment],
    suspects: Collection[str],
    bench: Bench,
    first: Arm,
    *,
    begun: bool,
) -> str:
    """Why no more experiments are made, or "". A run that looks healthy is settled when the `suspects` of its
    first diagnosis have been tried."""
    open_suspect = belief[0].cause == "healthy" and any(any(c in suspects for c in e.causes) for e in plan)
    if belief[0].probability >= SETTLED and not open_suspect:
        return f"settled: {belief[0].title} ({sure(belief[0].probability)})"
    if not plan:
        return "no experiment is left that would narrow the causes down further"
    starts = 1 if begun else 2
    return bench.budget_message() if bench.left() < starts * first.seconds / max(bench.jobs, 1) else ""


def experiments(
    belief: Sequence[Hypothesis],
    tried: set[tuple[str, ...]],
    run: Run | None = None,
    source: Source | None = None,
) -> list[Experiment]:
    """What can be tried on the script of a run, the most informative first."""
    chances = np.array([h.probability for h in belief])
    chances = chances / chances.sum()
    ways: dict[tuple[str, ...], list[Hypothesis]] = {}
    for one in belief:
        way = TRIED.get(one.cause, ("", ()))[1]
        vain = run is not None and all(why_idle(spec, run.setup, (), source) for spec in way)
        fresh = way and way not in tried and not vain
        if fresh and one.probability >= PLAUSIBLE and not refusal(*way, run=run):
            ways.setdefault(way, []).append(one)
    found = []
    for way, cured in ways.items():
        causes = tuple(h.cause for h in cured)
        helped = HELPED.get(way, ())
        better = outcome_of("confirmed", way)
        likelihood = np.array([chance(h.cause, causes, helped, better) for h in belief])
        bits = gain((Question(causes[0], likelihood),), chances)
        if bits >= WORTH:
            found.append(Experiment(causes, TRIED[causes[0]][0], way, bits))
    return sorted(found, key=lambda e: (-e.bits, e.interventions))


def try_experiment(bench: Bench, first: Arm, one: Experiment) -> Trial:
    """Run a pair, and another one where the first did not show that the change is useless, and judge them."""
    assert first.run is not None
    own = first.run.setup.number("seed")
    start = int(own) if own is not None else 0
    if own is not None:
        bench.known.setdefault((((), start), bench.steps), first._replace(seed=start))
    objective = objectives.choose(first.run, one.interventions, one.causes[0])
    pairs: list[Pair] = []
    for seed in range(start, start + SEEDS):
        before, after = bench.arms([((), seed), (one.interventions, seed)])
        idle = after.idle()
        if after.run is None or idle or not objective.signal:
            why = idle or after.why or objective.why
            found = Judged(0.0, None, None, "refuted" if idle else "inconclusive", why)
            pairs = []
            break
        pairs.append(pair_arms(before, after, objective))
        found = Judged(*judge_two(known_gains(pairs)))
        if found.verdict in ("refuted", "harmful"):
            break
    return trial(
        pairs, found, interventions=one.interventions, on_top_of=(), cause=one.causes[0], experiment=one.what,
        objective=objective,
    )  # fmt: skip


def judge_two(gains: Sequence[float]) -> tuple[float, None, None, Verdict, str]:
    """The outcome of an experiment over its pairs, which must agree."""
    margin = least_gain(MIN_EFFECT)
    mean = sum(gains) / len(gains) if gains else 0.0
    measured = f"{percent(mean)} over {len(gains)} seed{'s' if len(gains) > 1 else ''}"
    if not gains:
        return 0.0, None, None, "inconclusive", "nothing could be compared"
    if min(gains) >= margin:
        return mean, None, None, "confirmed", measured
    if max(gains) <= -margin:
        return mean, None, None, "harmful", measured
    if max(gains) < HOPELESS * margin:
        return mean, None, None, "refuted", measured
    return mean, None, None, "inconclusive", measured

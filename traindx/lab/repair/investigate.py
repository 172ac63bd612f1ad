"""Experiments until one cause is settled: each is the change that would cure one, tried on two seeds.

Next is the one with the largest expected information gain about the cause. They all cost two starts."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np

from traindx import pipeline
from traindx.causes.experiments import HELPED, TRIED
from traindx.causes.experiments.belief import chance, updated
from traindx.causes.measures.next_measures import Question, gain
from traindx.config import Config
from traindx.lab.judge import objectives
from traindx.lab.judge.significance import HOPELESS, MIN_EFFECT, Judged, least_gain, percent
from traindx.lab.repair.bench import Arm, Bench
from traindx.lab.repair.conditions import refusal
from traindx.lab.repair.pairs import known_gains, paired, trial
from traindx.reports.labels import percent as sure
from traindx.vocabulary import Hypothesis, Run, RunDiagnosis
from traindx.vocabulary.trial import Trial, Verdict

SETTLED = 0.9
WORTH = 0.05  # bits; an experiment with a smaller expected information gain is not made
PLAUSIBLE = 0.03
SEEDS = 2


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
    diagnosis = pipeline.diagnose(first.run, config).first
    return settled(bench, first, diagnosis, show=show, notify=notify, believed=believed)


def settled(
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
    belief = diagnosis.hypotheses
    trail = [("as it is", shares(belief))]
    trials: list[Trial] = []
    tried = set[tuple[str, ...]]()
    show(belief, experiments(belief, tried, first.run), first.seconds)
    believed(belief)
    while not (why := why_over(belief, tried, bench, first)):
        one = experiments(belief, tried, first.run)[0]
        made = bench.in_time(partial(try_experiment, bench, first, one), None, one.what)
        if made is None:
            why = bench.used_up()
            break
        tried.add(one.interventions)
        trials.append(made)
        if made.gains or made.verdict == "refuted":
            helped = HELPED.get(one.interventions, ())
            belief = updated(belief, one.causes, made.verdict, one.interventions[0], helped)
            trail.append((f"{' '.join(one.interventions)}: {made.verdict}", shares(belief)))
            believed(belief)
        notify(f"{one.what} ({' '.join(one.interventions)}): {made.verdict}: {made.why}; {belief[0].title} "
             f"{sure(belief[0].probability)}")  # fmt: skip
    left = tuple(m for m in diagnosis.next if not any(all(spec in m.how for spec in way) for way in tried))
    concluded = msgspec.structs.replace(
        diagnosis,
        next=left,
        hypotheses=belief,
        trials=tuple(msgspec.to_builtins(t) for t in trials),
        belief=tuple(trail),
    )
    return Investigation(concluded, first.run, why)


def shares(belief: Sequence[Hypothesis]) -> dict[str, float]:
    return {h.cause: round(h.probability, 4) for h in belief}


def why_over(belief: Sequence[Hypothesis], tried: set[tuple[str, ...]], bench: Bench, first: Arm) -> str:
    """Why no more experiments are made, or ""."""
    if belief[0].probability >= SETTLED:
        return f"settled: {belief[0].title} ({sure(belief[0].probability)})"
    if not experiments(belief, tried, first.run):
        return "no experiment is left that would narrow the causes down further"
    starts = SEEDS * (1 if tried else 2)
    if bench.left() < starts * first.seconds / max(bench.jobs, 1):
        return bench.used_up()
    return ""


def experiments(
    belief: Sequence[Hypothesis], tried: set[tuple[str, ...]], run: Run | None = None
) -> list[Experiment]:
    """What can be tried on the script of a run, the most informative first."""
    chances = np.array([h.probability for h in belief])
    chances = chances / chances.sum()
    ways: dict[tuple[str, ...], list[Hypothesis]] = {}
    for one in belief:
        way = TRIED.get(one.cause, ("", ()))[1]
        if way and way not in tried and one.probability >= PLAUSIBLE and not refusal(*way, run=run):
            ways.setdefault(way, []).append(one)
    found = []
    for way, cured in ways.items():
        causes = tuple(h.cause for h in cured)
        helped = HELPED.get(way, ())
        likelihood = np.array([chance(h.cause, causes, helped, "confirmed") for h in belief])
        bits = gain((Question(causes[0], likelihood),), chances)
        if bits >= WORTH:
            found.append(Experiment(causes, TRIED[causes[0]][0], way, bits))
    return sorted(found, key=lambda e: (-e.bits, e.interventions))


def try_experiment(bench: Bench, first: Arm, one: Experiment) -> Trial:
    """Run two pairs, and judge them."""
    assert first.run is not None
    own = first.run.setup.number("seed")
    start = int(own) if own is not None else 0
    if own is not None:
        bench.known.setdefault((((), start), bench.steps), first._replace(seed=start))
    wanted = [(w, s) for s in range(start, start + SEEDS) for w in ((), one.interventions)]
    arms = bench.arms(wanted)
    objective = objectives.choose(first.run, one.interventions, one.causes[0])
    idle = arms[1].idle()
    if arms[1].run is None or idle or not objective.signal:
        why = idle or arms[1].why or objective.why
        found = Judged(0.0, None, None, "refuted" if idle else "inconclusive", why)
        pairs = []
    else:
        pairs = [paired(a, b, objective) for a, b in zip(arms[::2], arms[1::2], strict=True)]
        found = Judged(*judge_two(known_gains(pairs)))
    return trial(
        pairs, found, interventions=one.interventions, on_top_of=(), cause=one.causes[0], experiment=one.what,
        objective=objective,
    )  # fmt: skip


def judge_two(gains: Sequence[float]) -> tuple[float, None, None, Verdict, str]:
    """The outcome of an experiment over two pairs, which must agree."""
    margin = least_gain(MIN_EFFECT)
    mean = sum(gains) / len(gains) if gains else 0.0
    measured = f"{percent(mean)} over {len(gains)} seeds"
    if not gains:
        return 0.0, None, None, "inconclusive", "nothing could be compared"
    if min(gains) >= margin:
        return mean, None, None, "confirmed", measured
    if max(gains) <= -margin:
        return mean, None, None, "harmful", measured
    if max(gains) < HOPELESS * margin:
        return mean, None, None, "refuted", measured
    return mean, None, None, "inconclusive", measured

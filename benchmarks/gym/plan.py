"""Which runs are made: a list that is the same for the same seed, however long, so that it can be extended."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle, islice

from benchmarks.gym import styles
from benchmarks.gym.benign import BENIGN
from benchmarks.gym.faults.catalogue import catalogue
from benchmarks.gym.faults.fault import Fault
from benchmarks.gym.recipe import Log, Recipe, script
from benchmarks.gym.settings import SETTINGS, variant
from benchmarks.gym.styles import STYLES, Shown

SEEDS = (0, 1)
VARIANTS = tuple(range(8))
TRIES = 60


@dataclass(frozen=True)
class Job:
    """One run. `group` is shared by the seeds of a case, `twin` is the group of its clean twins ("" for a clean
    run itself)."""

    id: str
    group: str
    twin: str
    recipe: Recipe
    fault: Fault | None
    strength: float
    variant: int
    seed: int
    style: str
    shown: Shown
    log: Log
    skeleton: str

    @property
    def source(self) -> str:
        return script(self.recipe, self.log, self.seed, self.skeleton)


def jobs(runs: int, seed: int = 0) -> list[Job]:
    """The first `runs` jobs."""
    return list(islice(endless(seed), runs))


def endless(seed: int) -> Iterator[Job]:
    """Cases one after another, each with its twins before it; a benign look-alike after every third, a pair of faults
    after every eighth."""
    rng = random.Random(seed)
    made: set[str] = set()
    benign = cycle([(r, v) for v in VARIANTS for r in BENIGN if not (v and r.whole)])
    for number, fault in enumerate(faults(rng)):
        case = faulty(fault, rng, made)
        if case is not None:
            yield from fresh(case, made)
        if number % 3 == 2:
            recipe, v = next(benign)
            yield from fresh(clean(variant(recipe, v), v), made)
        if number % 8 == 7:
            yield from fresh(faulty(pair(rng), rng, made) or [], made)


def fresh(case: list[Job], made: set[str]) -> list[Job]:
    """The jobs of a case that were not made before; remembers them."""
    new = [job for job in case if job.id not in made]
    made.update(job.id for job in new)
    return new


def faults(rng: random.Random) -> Iterator[Fault]:
    """Cause after cause, in an order that changes every round; the faults of a cause take turns."""
    by_cause: dict[str, list[Fault]] = {}
    for fault in catalogue():
        by_cause.setdefault(fault.cause, []).append(fault)
    turns = {cause: cycle(several) for cause, several in by_cause.items()}
    while True:
        order = sorted(by_cause)
        rng.shuffle(order)
        for cause in order:
            yield next(turns[cause])


def pair(rng: random.Random) -> Fault:
    """Two faults at once, of different causes, each of which harms the model by itself."""
    harmful = [f for f in catalogue() if f.harm == "model" and not f.settings]
    first, second = rng.sample(harmful, 2)
    while second.cause in (first.cause, *first.also) or first.cause in second.also:
        second = rng.choice(harmful)
    strengths = rng.choice(first.strengths), rng.choice(second.strengths)

    def both(recipe: Recipe, _: float) -> Recipe | None:
        once = first.change(recipe, strengths[0])
        twice = second.change(once, strengths[1]) if once is not None else None
        return None if twice == once else twice

    sees = tuple(sorted({*first.sees, *second.sees}))
    name = f"{first.name}.{strengths[0]:g}+{second.name}"
    return Fault(
        name, first.cause, both, strengths[1:], first.also, sees=sees, second=(second.cause, *second.also)
    )


def faulty(fault: Fault, rng: random.Random, made: set[str]) -> list[Job] | None:
    """A new case of a fault on a setting where it is possible: twins, then the faulty runs."""
    for _ in range(TRIES):
        base, v, strength = (
            rng.choice(fault.settings or SETTINGS),
            rng.choice(VARIANTS),
            rng.choice(fault.strengths),
        )
        recipe = variant(base, v)
        spoilt = fault.change(recipe, strength)
        group = f"{recipe.setting}.v{v}.{fault.name}.{strength:g}"
        if spoilt is not None and f"{group}.s0" not in made:
            twins = clean(recipe, v)
            return twins + [job(group, twins[0].group, spoilt, fault, strength, v, seed) for seed in SEEDS]
    return None


def clean(recipe: Recipe, v: int) -> list[Job]:
    group = f"{recipe.setting}.v{v}.clean"
    return [job(group, "", recipe, None, 0.0, v, seed) for seed in SEEDS]


def job(
    group: str, twin: str, recipe: Recipe, fault: Fault | None, strength: float, v: int, seed: int
) -> Job:
    rng = random.Random(f"{group} {seed}")
    style, shown = draw_style(rng, fault)
    if recipe.whole:
        style, log = "own", Log()
    else:
        log = replace(STYLES[style](shown, recipe), lines=shown.lines)
    skeleton = rng.choice(("flat", "functions"))
    return Job(
        f"{group}.s{seed}", group, twin, recipe, fault, strength, v, seed, style, shown, log, skeleton
    )


def draw_style(rng: random.Random, fault: Fault | None) -> tuple[str, Shown]:
    """A style that can show the fault, and what it shows."""
    sees = fault.sees if fault else ()
    names = set(STYLES) - styles.UNVALIDATED if "val" in sees else set(STYLES)
    names = {n for n in names if STYLES[n](Shown(), SETTINGS[0]).file is None} if "end" in sees else names
    name = rng.choice(sorted(names & styles.TELL_CLOCK if "clock" in sees else names))
    val = name in styles.VALIDATED or (
        name not in styles.UNVALIDATED and ("val" in sees or rng.random() < 0.75)
    )
    return name, Shown(
        val=val,
        rate=name in styles.TELL_RATE and rng.random() < 0.5,
        norm=name in styles.TELL_NORM and rng.random() < 0.4,
        clock=name in styles.TELL_CLOCK and ("clock" in sees or rng.random() < 0.3),
        lines=rng.choice((40, 80, 150, 300)),
        digits=rng.choice((2, 3, 4, 4, 4, 6)),
    )

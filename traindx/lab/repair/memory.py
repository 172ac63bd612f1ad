"""What earlier proofs say about fixes, and what this one adds."""

import math
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from traindx.errors import ConfigError, MissingExtra
from traindx.lab.knowledge.counts import Outcome, counts, factor
from traindx.lab.knowledge.store import Store, address
from traindx.lab.repair.document import Proof
from traindx.version import VERSION
from traindx.vocabulary import EvidenceTerm, Hypothesis

FACTS = (
    "optimizer",
    "lr",
    "batch_size",
    "loss",
    "classes",
    "parameters",
    "model",
    "precision",
    "dataset_size",
)


class Memory:
    """Earlier outcomes: `record` is asked for each fix of a plan. Empty, with the reason in `why`, where it
    is switched off or cannot be opened. A proof does not fail because of that."""

    def __init__(self, use: bool = True) -> None:
        self.store: Store | None = None
        self.outcomes: list[Outcome] = []
        self.found: dict[str, tuple[float, float]] = {}
        self.moved: dict[str, float] = {}  # causes, and what their probability was multiplied by
        self.why = ""
        url = address() if use else ""
        if not url:
            return
        try:
            self.store = Store(url)
            self.outcomes = [one for _, one in self.store.all()]
        except (MissingExtra, ConfigError) as error:
            self.why = f"the knowledge database is not used: {error}"
        else:
            self.why = "; ".join(self.store.state())

    def record(self, fix: str, cause: str) -> tuple[float, float]:
        """How often a fix was confirmed for a cause, and how often not."""
        found = counts(self.outcomes, fix, cause, time.time())
        if any(found):
            self.found[f"{fix} for {cause}"] = found
        return found

    def weigh(self, hypotheses: Sequence[Hypothesis]) -> tuple[Hypothesis, ...]:
        """The belief updated by earlier trials of its causes, each with the term that moved it. The
        diagnosis itself stays as it is."""
        found = []
        for one in hypotheses:
            yes, no = counts(self.outcomes, None, one.cause, time.time())
            times = factor(yes, no)
            if yes + no > 0:
                self.moved[one.cause] = times
                term = EvidenceTerm("earlier-trials", round(math.log(times), 3))
                sides = {"for_": (*one.for_, term)} if times > 1 else {"against": (*one.against, term)}
                one = msgspec.structs.replace(
                    one, probability=one.probability * times, interval=None, **sides
                )
            found.append(one)
        total = sum(one.probability for one in found)
        scaled = (msgspec.structs.replace(one, probability=one.probability / total) for one in found)
        return (
            tuple(sorted(scaled, key=lambda h: (-h.probability, h.cause)))
            if self.moved
            else tuple(hypotheses)
        )

    def notes(self) -> list[str]:
        """How it changed the order of fixes and the belief."""
        counted = [
            f"{what} helped in {yes:.2g} of {yes + no:.2g}" for what, (yes, no) in sorted(self.found.items())
        ]
        found = (
            [f"the order of fixes follows earlier trials, recent ones more ({'; '.join(counted)})"]
            if counted
            else []
        )
        if self.moved:
            moved = ", ".join(f"{cause} x {times:.2g}" for cause, times in sorted(self.moved.items()))
            found.append(f"earlier trials changed the probability of causes ({moved})")
        return [self.why, *found] if self.why else found

    def add(self, proof: Proof) -> str:
        """Store the trials of a proof that compared runs: a change that was there already, or that found
        nothing to change, says nothing about its fix. Returns why that failed, or "": a proof does not fail
        because of it."""
        if self.store is None:
            return ""
        setup = proof.before[0].setup
        known = {name: getattr(setup, name) for name in FACTS if getattr(setup, name) is not None}
        evidence = tuple(f.slug for f in proof.report.diagnosis.findings)
        outcomes = [
            Outcome(
                at=round(time.time(), 3),
                project=Path.cwd().name,
                fix=trial.fix or "",
                cause=trial.cause,
                interventions=trial.interventions,
                verdict=trial.verdict,
                effect=trial.effect,
                interval=trial.interval,
                setup=known,
                evidence=evidence,
                version=VERSION,
            )
            for trial in proof.report.trials
            if trial.seeds
        ]
        try:
            self.store.add(outcomes)
        except ConfigError as error:
            return f"the trials are not stored in the knowledge database: {error}"
        return ""

    def close(self) -> None:
        if self.store is not None:
            self.store.close()

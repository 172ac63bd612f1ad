"""Is each threshold that decides a verdict at the right value: `python -m benchmarks.threshold_answers READINGS`.

`benchmarks.thresholds` finds the thresholds that change a verdict at half or at double their value. Here every
labelled log of READINGS is diagnosed again with each of them, one at a time, and scored as `benchmarks.readings`
does: verdicts that a practitioner accepts, symptoms demanded and said, false statements. The part of the logs that is
only counted (`last`) is left out, so that no threshold can be chosen on it. `threshold_answers.json` keeps the scores
and `docs/thresholds.md` shows them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.readings import HALVES, half_of, read_runs, score
from benchmarks.thresholds import changed, judgement, saved
from traindx import pipeline
from traindx.config import Config
from traindx.errors import ReadError
from traindx.features.shared import Features
from traindx.rules import catalogue, judge_one
from traindx.vocabulary.diagnosis import RunDiagnosis
from traindx.vocabulary.rule import Rule
from traindx.vocabulary.run import Run

RESULTS = Path(__file__).with_suffix(".json")


class Score(msgspec.Struct):
    """Counts over all logs: acceptable verdicts, demanded symptoms that were said, false statements."""

    verdicts: int = 0
    said: int = 0
    false: int = 0

    def add(self, counts: Mapping[str, Any]) -> None:
        self.verdicts += int(counts.get("verdict", 0))
        self.said += int(counts.get("must said", 0))
        self.false += int(counts.get("false", 0))


class Answers(msgspec.Struct):
    """The scores of `logs` labelled logs: as the thresholds are, and with one of them at half and at double."""

    logs: int
    now: Score
    half: dict[str, Score]
    double: dict[str, Score]


def deciding() -> list[str]:
    """`rule.threshold` of those that change the verdict of a run."""
    return [key for key, e in saved().effects.items() if e.half.verdicts or e.double.verdicts]


def diagnose_with(runs: Sequence[Run], rules: tuple[Rule, ...], config: Config) -> list[RunDiagnosis]:
    return [pipeline.diagnose_one(run, rules, config) for run in runs]


class Judged:
    """The runs of one log, and what each rule says of them with its own thresholds."""

    def __init__(self, runs: Sequence[Run], rules: Sequence[Rule]) -> None:
        self.features = [Features(run) for run in runs]
        self.before = {
            rule.slug: [judgement(judge_one(rule, each.run, each, {})) for each in self.features]
            for rule in rules
        }

    def changes(self, rule: Rule, name: str, factor: float) -> bool:
        """Whether the rule answers differently about any of the runs. If not, the diagnosis is the same."""
        pairs = zip(self.features, self.before[rule.slug], strict=True)
        return any(changed(rule, name, factor, each, before) for each, before in pairs)


def measure(readings: Path) -> Answers:
    """Score every labelled log with each deciding threshold at half and at double its value."""
    rules = catalogue()
    by_slug = {rule.slug: rule for rule in rules}
    says = {k: v for k, v in json.loads((readings / "says.json").read_text()).items() if k != "_"}
    labels = [e for e in json.loads((readings / "labels.json").read_text()) if half_of(e) != HALVES[-1]]
    keys = deciding()
    answers = Answers(0, Score(), {k: Score() for k in keys}, {k: Score() for k in keys})
    for label in labels:
        try:
            runs = [pipeline.prepare_run(run, Config()) for run in read_runs(readings, label)]
        except ReadError:  # no threshold changes what cannot be read
            continue
        answers.logs += 1
        judged = Judged(runs, [by_slug[key.rpartition(".")[0]] for key in keys])
        now = score(label, diagnose_with(runs, rules, Config()), says)["counts"]
        answers.now.add(now)
        for key in keys:
            slug, _, name = key.rpartition(".")
            for factor, scores in ((0.5, answers.half), (2.0, answers.double)):
                counts = now
                if judged.changes(by_slug[slug], name, factor):
                    config = Config(
                        thresholds={slug: {name: factor * float(by_slug[slug].thresholds[name])}}
                    )
                    counts = score(label, diagnose_with(runs, rules, config), says)["counts"]
                scores[key].add(counts)
    return answers


def saved_answers() -> Answers:
    """The results of the last measurement."""
    return msgspec.json.decode(RESULTS.read_bytes(), type=Answers)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("readings", type=Path)
    answers = measure(parser.parse_args().readings)
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(answers), indent=1) + b"\n")
    print(f"{answers.logs} labelled logs, {len(answers.half)} thresholds: {RESULTS}")


if __name__ == "__main__":
    main()

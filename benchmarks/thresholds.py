"""What each threshold of a rule decides: `python -m benchmarks.thresholds READINGS`.

Every log of `tests/logs` and of READINGS (a folder with `labels.json`, `logs/` and `threads/`) is judged again with
each threshold at half and at double its value, one at a time. `thresholds.json` next to this file keeps the
counts, and `docs/thresholds.md` shows them.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.captured import NAMES, captured
from traindx import pipeline
from traindx.config import Config
from traindx.errors import ReadError
from traindx.features.shared import Features
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.readers.raw import Source
from traindx.rules import catalogue, judge_one
from traindx.rules.findings import severity_of
from traindx.vocabulary.diagnosis import SEVERITIES
from traindx.vocabulary.rule import Outcome, Rule
from traindx.vocabulary.run import Run

RESULTS = Path(__file__).with_suffix(".json")
LOGS = Path(__file__).parents[1] / "tests" / "logs"


class Changes(msgspec.Struct, omit_defaults=True):
    """How many runs changed their outcome (or its severity) and their verdict, and how many samples their outcome."""

    outcomes: int = 0
    verdicts: int = 0
    samples: int = 0


class Effect(msgspec.Struct, omit_defaults=True):
    """What one threshold decides of the `judged` runs and the `samples` that its rule could judge."""

    judged: int = 0
    samples: int = 0
    half: Changes = msgspec.field(default_factory=Changes)
    double: Changes = msgspec.field(default_factory=Changes)

    def factors(self) -> tuple[tuple[float, Changes], ...]:
        return (0.5, self.half), (2.0, self.double)


class Results(msgspec.Struct):
    """The number of runs, and the effect of each threshold by `rule.threshold`."""

    runs: int
    effects: dict[str, Effect]


def recorded_runs(readings: Path) -> Iterator[Run]:
    """Every run of the logs that can be read."""
    yield from map(captured, NAMES)
    kinds = [folder for folder in sorted(LOGS.iterdir()) if folder.is_dir() and folder.name != "captured"]
    logs = [log for folder in kinds for log in sorted(folder.iterdir())]
    for path in [*logs, *sorted((readings / "logs").iterdir())]:
        try:
            yield from pipeline.read_all(path)
        except ReadError:  # settings and other files that lie next to a log
            continue
    for path in sorted((readings / "threads").iterdir()):
        text = json.loads(path.read_text())["text_log"].encode()
        try:
            logs_pasted = read_source(Source("-", data=text, head=text[:65536]))
            yield from (run for log in logs_pasted for run in assemble(log))
        except ReadError:  # a paste without any number
            continue


def judgement(outcome: Outcome) -> tuple[str, str]:
    """What a change of a threshold may alter: the status, and the strongest severity."""
    severities = [severity_of(outcome, evidence) for evidence in outcome.evidence]
    return outcome.status, min(severities, key=SEVERITIES.index, default="")


def changed(rule: Rule, name: str, factor: float, features: Features, before: tuple[str, str]) -> bool:
    override = {name: factor * float(rule.thresholds[name])}
    return judgement(judge_one(rule, features.run, features, override)) != before


def measure_run(run: Run, rules: tuple[Rule, ...], effects: dict[str, Effect]) -> None:
    """Add what every threshold decides of one run."""
    run = pipeline.prepare_run(run, Config())
    features, verdict = Features(run), pipeline.diagnose_one(run, rules, Config()).health
    for rule in rules:
        outcome = judge_one(rule, run, features, {})
        if outcome.status == "not-evaluated":
            continue
        before = judgement(outcome)
        for name, value in rule.thresholds.items():
            effect = effects[f"{rule.slug}.{name}"]
            effect.judged += 1
            for factor, changes in effect.factors():
                if changed(rule, name, factor, features, before):
                    changes.outcomes += 1
                    config = Config(thresholds={rule.slug: {name: factor * float(value)}})
                    changes.verdicts += pipeline.diagnose_one(run, rules, config).health != verdict


def measure_samples(rule: Rule, effects: dict[str, Effect]) -> None:
    """Add what the thresholds of a rule decide of its own samples, which are close to its limits on purpose."""
    module = importlib.import_module("tests.samples." + rule.slug.replace("-", "_"))
    for run in (*module.fires().values(), *module.stays_quiet().values()):
        features = Features(run)
        before = judgement(judge_one(rule, run, features, {}))
        for name in rule.thresholds:
            effect = effects[f"{rule.slug}.{name}"]
            effect.samples += 1
            for factor, changes in effect.factors():
                changes.samples += changed(rule, name, factor, features, before)


def measure(runs: Iterator[Run], rules: tuple[Rule, ...]) -> Results:
    """The effect of every threshold of the rules, one at a time."""
    results = Results(0, {f"{rule.slug}.{name}": Effect() for rule in rules for name in rule.thresholds})
    for run in runs:
        measure_run(run, rules, results.effects)
        results.runs += 1
    for rule in rules:
        measure_samples(rule, results.effects)
    return results


def saved() -> Results:
    """The results of the last measurement."""
    return msgspec.json.decode(RESULTS.read_bytes(), type=Results)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("readings", type=Path)
    results = measure(recorded_runs(parser.parse_args().readings), catalogue())
    lines = [f"  {json.dumps(key)}: {msgspec.json.encode(e).decode()}" for key, e in results.effects.items()]
    RESULTS.write_text(f'{{"runs": {results.runs}, "effects": {{\n' + ",\n".join(lines) + "\n}}\n")
    print(f"{results.runs} runs, {len(results.effects)} thresholds: {RESULTS}")


if __name__ == "__main__":
    main()

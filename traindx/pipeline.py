"""All of traindx in one sentence: read, judge, rank, decide, forecast, report.

The only module that joins the stages; every stage knows the vocabulary and nothing about the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from traindx import causes, fixes, readers, rules
from traindx.config import Config
from traindx.errors import ConfigError
from traindx.features.curves.forecast import forecast
from traindx.features.log_artifacts import repair_run, suspicions
from traindx.features.performance.memory import memory_of, profile_of
from traindx.features.shared import Features
from traindx.redaction import redact
from traindx.rules.findings import findings, not_evaluated
from traindx.version import VERSION
from traindx.vocabulary import (
    Check,
    CheckReport,
    CheckResult,
    Decision,
    Document,
    Experiment as CheckExperiment,
    Fact,
    Finding,
    Health,
    Hypothesis,
    Outcome,
    Rule,
    Run,
    RunDiagnosis,
    RunInfo,
    Setup,
    SignalInfo,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

read_printed = readers.read_printed


class Diagnosis:
    """The result for one or several runs: `document` is the JSON's content, `runs` the data (for figures)."""

    def __init__(self, document: Document, runs: tuple[Run, ...]) -> None:
        self.document = document
        self.runs = runs

    @cached_property
    def first(self) -> RunDiagnosis:
        """The diagnosis of the first (often the only) run."""
        return self.document.runs[0]

    def to_json(self) -> str:
        from traindx.reports import json

        return json.render(self.document)

    def to_text(self, *, width: int = 100, color: bool = False, full: bool = False) -> str:
        """One screen for each run; with `full`, everything that was found."""
        from traindx.reports.diagnosis import text

        return text.render(self.document, self.runs, width=width, color=color, full=full)

    def to_markdown(self) -> str:
        from traindx.reports.diagnosis import markdown

        return markdown.render(self.document, self.runs)

    def to_html(self) -> str:
        from traindx.reports.diagnosis import html

        return html.render(self.document, self.runs)

    def figure(self, run: int = 0) -> Figure:
        """The overview figure of one run (needs matplotlib)."""
        from traindx.reports.figures import curves as figures

        return figures.overview(self.runs[run], self.document.runs[run])


def read_all(
    paths: str | Path | Iterable[str | Path],
    *,
    mapping: Mapping[str, str] | None = None,
    progress: readers.Progress | None = None,
) -> tuple[Run, ...]:
    """All runs found in files, folders, globs or "-"; raises ReadError when there is none."""
    several = [paths] if isinstance(paths, (str, Path)) else list(paths)
    return readers.read_all(several, mapping, progress)


def read(path: str | Path, *, mapping: Mapping[str, str] | None = None) -> Run:
    """The run in `path`. If there are several, the one with the most points (see `read_all`)."""
    return max(read_all(path, mapping=mapping), key=lambda run: run.points)


def read_capture(folder: str | Path, *, mapping: Mapping[str, str] | None = None) -> tuple[Run, ...]:
    """The runs that capture recorded in `folder`, with what the script printed or logged (see `read_all`)."""
    return read_all(folder, mapping=mapping)


def diagnose(run: Run | Sequence[Run] | str | Path, config: Config | None = None) -> Diagnosis:
    """Diagnose one run or several, or those in a file or folder. Raises ConfigError for thresholds that no
    rule has, ReadError for a path without a log."""
    config = config or Config()
    found = read_all(run) if isinstance(run, (str, Path)) else run
    runs = (found,) if isinstance(found, Run) else tuple(found)
    chosen = select(rules.list_entries(), config)
    known = tuple(prepare_run(r, config) for r in runs)
    document = Document(traindx_version=VERSION, runs=tuple(diagnose_one(r, chosen, config) for r in known))
    return Diagnosis(document, known)


def prepare_run(run: Run, config: Config) -> Run:
    """The run with the user's facts, with events for what is suspect about its log, and with values
    that certainly mean something else (a filtered NaN) corrected."""
    setup = run.setup.with_facts(config.facts, "given") if config.facts else run.setup
    run = msgspec.structs.replace(run, setup=setup, events=(*run.events, *suspicions(run)))
    return repair_run(run)


def diagnose_one(run: Run, chosen: Sequence[Rule], config: Config) -> RunDiagnosis:
    """One run through every stage."""
    features = Features(run)
    outcomes = rules.judge(run, features, chosen, config.thresholds)
    memory = memory_of(run)
    if (
        memory is not None and run.setup.word("measured_for") == "memory"
    ):  # a few steps: what it learns is not asked
        outcomes = tuple(o for o in outcomes if o.rule.slug in causes.ABOUT_MEMORY)
        found = findings(outcomes, run)
        return run_diagnosis(run, outcomes, found, causes.decide_memory(found, memory), memory=memory)
    found = findings(outcomes, run)
    ranked = with_fixes(causes.rank(outcomes, run, features), run, found)
    profile = profile_of(run)
    if profile is not None:  # what it learns cannot be judged, only what its time goes to
        return run_diagnosis(
            run, outcomes, found, causes.decide_profile(found, profile),
            hypotheses=ranked, recommendations=causes.profile_advice(found), profile=profile,
        )  # fmt: skip
    ranked = causes.without_harm(found, ranked, outcomes, run, features)
    return run_diagnosis(
        run,
        outcomes,
        found,
        causes.decide(found, ranked, outcomes, run, features),
        harm=causes.harm_of(found, ranked, outcomes, run, features),
        hypotheses=ranked,
        next=causes.next_measures(ranked, outcomes, run, features),
        forecast=forecast(run, features),
        recommendations=causes.recommend(found, ranked, outcomes, run, features),
        memory=memory,
    )


def run_diagnosis(
    run: Run,
    outcomes: Sequence[Outcome],
    found: tuple[Finding, ...],
    verdict: tuple[Health, Decision],
    **parts: Any,
) -> RunDiagnosis:
    """The fields that every diagnosis has, and its further `parts`."""
    health, decision = verdict
    return RunDiagnosis(
        run=describe(run),
        health=health,
        decision=decision,
        findings=causes.without_alarm(found, health),
        not_evaluated=not_evaluated(outcomes),
        **parts,
    )


class CheckPages:
    """The pages of a check: `report` is the JSON document's content."""

    report: CheckReport

    def to_text(self, *, width: int = 100, color: bool = False) -> str:
        from traindx.reports.documents import check as page

        return page.render(self.report, width=width, color=color)

    def to_markdown(self) -> str:
        from traindx.reports.documents import check as page

        return page.markdown(self.report)

    def to_html(self) -> str:
        from traindx.reports.documents import check as page

        return page.html(self.report)

    def to_json(self) -> str:
        from traindx.reports.documents import check as page

        return page.to_json(self.report)


class Checked(CheckPages):
    """The result of checks: `report` is the JSON document's content, `diagnosis` that of the first steps."""

    def __init__(self, report: CheckReport, diagnosis: Diagnosis) -> None:
        self.report, self.diagnosis = report, diagnosis

    @property
    def failed(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(check for check in self.report.checks if check.status == "failed")


def with_facts(run: Run, facts: Mapping[str, Fact]) -> Run:
    """The run, with what checks found out about it."""
    return msgspec.structs.replace(run, setup=run.setup.with_facts(facts, "check"))


def judge_checks(
    run: Run,
    checks: Sequence[Check],
    config: Config | None = None,
    *,
    command: Sequence[str] = (),
    seconds: float = 0.0,
    reasons: Mapping[str, str] | None = None,
    experiments: Sequence[CheckExperiment] = (),
) -> Checked:
    """Judge a run that has the facts of its experiments: the ordinary diagnosis, and checks as views on it."""
    from traindx.checks.judge import results

    config = config or Config()
    diagnosis = diagnose(run, config)
    asked = {rule.slug for rule in select(rules.list_entries(), config)}
    setup, first = diagnosis.runs[0].setup, diagnosis.first
    report = CheckReport(
        traindx_version=VERSION,
        command=tuple(redact(command)),
        seconds=round(seconds, 1),
        checks=results(checks, first, setup, reasons or {}, asked=asked, severity=config.severity),
        experiments=tuple(experiments),
        diagnosis=first,
    )
    return Checked(report, diagnosis)


def check(
    model: Any,
    loss: Callable[[Any, Any], Any],
    loader: Any,
    *,
    optimizer: Callable[[Any], Any] | None = None,
    steps: int = 300,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    config: Config | None = None,
) -> Checked:
    """Check a PyTorch model before training: `traindx.check(model, loss, loader)`.

    `loss(model(inputs), targets)` is minimized over the batches of `loader`, pairs of inputs and targets, for
    `steps` steps at a time, on copies of the model: as it is, again, on one batch, on one blank batch, with permuted
    labels. `optimizer(parameters)` makes the optimizer (default: Adam with a rate of 0.001). `only` and `skip` name
    checks or groups. The model and the random state of PyTorch stay as they are; a loader may draw its own numbers."""
    import time

    from traindx.capture.torch.checks.rehearsal import Rehearsal
    from traindx.checks.catalogue import OF_SCRIPTS
    from traindx.checks.facts import combine_starts
    from traindx.checks.judge import select_checks
    from traindx.checks.plan import plan_starts
    from traindx.temporary import CHECK, temporary_folder

    checks, begun = select_checks(only, (*skip, *OF_SCRIPTS)), time.monotonic()
    rehearsal = Rehearsal(model, loss, loader, optimizer)
    runs: dict[str, Run] = {}
    with temporary_folder(CHECK) as folder:
        for plan in plan_starts(checks):
            out = folder / plan.name.replace(" ", "-")
            rehearsal.run(out, min(plan.steps, steps), plan.name, probes=plan.probes)
            runs[plan.name] = max(read_all(out), key=lambda run: run.points)
    first = next(iter(runs.values()))
    return judge_checks(
        with_facts(first, combine_starts(runs, {})), checks, config, seconds=time.monotonic() - begun
    )


def judge(run: Run, config: Config | None = None) -> tuple[Outcome, ...]:
    """The outcome of every rule on a run, without the later stages."""
    config = config or Config()
    run = prepare_run(run, config)
    return rules.judge(run, Features(run), select(rules.list_entries(), config), config.thresholds)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext traindx` in a notebook: see `traindx.capture.launch.notebook`."""
    from traindx.capture.launch import notebook

    notebook.load(shell, lambda folder: diagnose(read(folder)))


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext traindx`: close the record and remove all hooks."""
    from traindx.capture.launch import notebook

    notebook.unload(shell)


def select(catalogue: Sequence[Rule], config: Config) -> tuple[Rule, ...]:
    """The rules that the configuration asks for, by code prefix or slug; ignoring wins."""
    known = {r.slug: r for r in catalogue}
    for slug, values in config.thresholds.items():
        if slug not in known:
            raise ConfigError(f"thresholds.{slug}: there is no such rule")
        unknown = set(values) - set(known[slug].thresholds)
        if unknown:
            raise ConfigError(
                f"thresholds.{slug}: no threshold {sorted(unknown)[0]!r}; it has {sorted(known[slug].thresholds)}"
            )

    def named(rule: Rule, words: Sequence[str]) -> bool:
        return any(rule.slug == w or rule.code.startswith(w.upper()) for w in words)

    for word in (*config.select, *config.ignore):
        if not any(named(r, (word,)) for r in catalogue):
            raise ConfigError(f"{word!r} is no rule's slug, code or beginning of a code")
    return tuple(
        r
        for r in catalogue
        if (not config.select or named(r, config.select)) and not named(r, config.ignore)
    )


WORTH_A_FIX = 0.02  # probability of a cause below which nobody would act on it: no fixes are offered for it


def with_fixes(
    ranked: Sequence[Hypothesis], run: Run, found: Sequence[Finding] = ()
) -> tuple[Hypothesis, ...]:
    """The causes with their fixes, whose wording may depend on what was found as much as on the setup."""
    seen = {
        *(f.slug for f in found),
        *(term.finding.removeprefix("fact:") for h in ranked for term in h.for_),
    }
    setup = with_highest_rate(run).with_facts({"findings": " ".join(sorted(seen))}, "diagnosis")
    framework = run.framework if run.framework in ("keras", "jax", "sklearn") else "torch"  # or built on it
    return tuple(
        msgspec.structs.replace(h, fixes=fixes.offers(h.cause, setup, run.boosted, framework))
        if h.probability >= WORTH_A_FIX
        else h
        for h in ranked
    )


def with_highest_rate(run: Run) -> Setup:
    """The setup of a run, with the highest rate that it used: a rate that was raised on the way is the one to change."""
    rates, known = run.series.get("lr"), run.setup.lr
    if rates is None or known is None:
        return run.setup
    used = rates.values[np.isfinite(rates.values)]
    return msgspec.structs.replace(run.setup, lr=max(known, float(used.max(initial=0.0))))


def describe(run: Run) -> RunInfo:
    """The run's identity as the document shows it."""
    events: list[dict[str, Any]] = [
        {
            "kind": e.kind,
            "step": e.step,
            "place": e.place,
            "message": e.message,
            **({"code": e.code} if e.code else {}),
        }
        for e in run.events
    ]
    return RunInfo(
        id=run.id,
        source=run.source,
        format=run.format,
        framework=run.framework,
        steps=run.points,
        first_step=run.first_step,
        last_step=run.last_step,
        complete=run.complete,
        axis=run.axis,
        signals=tuple(SignalInfo(n, run.originals.get(n, n), len(s)) for n, s in run.series.items()),
        setup=msgspec.to_builtins(run.setup),
        events=tuple(events),
    )

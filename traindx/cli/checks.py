"""Carries out the experiments of `traindx check`: starts the script in scratch copies, and gathers what
the records say into one run. `traindx check --data` judges files and folders of data, before anything is trained
on them."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from traindx import pipeline
from traindx.atomic_write import make_folder
from traindx.capture.framework import frameworks
from traindx.capture.launch.command import Ended, Request, environment
from traindx.capture.launch.folder import start_folder
from traindx.capture.launch.stages import has_records, note_end, why_nothing
from traindx.checks import facts as check_facts
from traindx.checks.catalogue import BLANK, FIRST, ONE_BATCH
from traindx.checks.plan import Planned, limit, steps_for
from traindx.cli.api import (
    Config,
    ConfigError,
    Output,
    ReadError,
    click,
    emit,
    note,
    progress,
    stdout_width,
    with_resolved_options,
    write_file,
)
from traindx.lab.conduct import environment as surroundings
from traindx.lab.conduct.attempts import conduct
from traindx.lab.conduct.experiment import Conducted, Reach
from traindx.reports.forms import write_form
from traindx.temporary import CHECK, make_temporary_folder, remove_temporary_folder
from traindx.vocabulary import Check, CheckReport, Experiment, Fact, Run


class Gathered(NamedTuple):
    """What the experiments came to: the run with all facts (None: nothing was recorded), why some did
    not come about, and how each went."""

    run: Run | None
    reasons: dict[str, str]
    experiments: tuple[Experiment, ...]


NAMED = 5  # files in a note
Report = Callable[[int, str], None]


class Bench:
    """Where experiments are carried out, within a budget of seconds."""

    def __init__(
        self,
        command: Sequence[str],
        config: Config,
        budget: float,
        records: Path | None = None,
        reach: Reach | None = None,
    ) -> None:
        self.command, self.config, self.budget = command, config, budget
        self.reach: Reach = reach or {}
        self.temporary = None if records else make_temporary_folder(CHECK)
        self.records = records or self.temporary or Path(".")
        self.folder = Path.cwd()
        self.begun = time.monotonic()
        self.runs: dict[str, Run] = {}
        self.took: dict[str, float] = {}
        self.reasons: dict[str, str] = {}
        self.done: list[Experiment] = []
        self.linked: tuple[str, ...] = ()
        self.left_out: tuple[str, ...] = ()
        self.changed: set[str] = set()
        self.fenced = True
        self.wish = ""

    def left(self) -> float:
        return self.budget - (time.monotonic() - self.begun)

    def start(self, planned: Planned, waiting: int) -> None:
        """One start of the script: its run, or the reason why there is none."""
        first = self.runs.get(FIRST)
        if planned.name != FIRST and first is None:
            self.reasons[planned.name] = self.reasons.get(FIRST, "nothing was recorded")
            return
        if planned.name == BLANK and ONE_BATCH in self.reasons:
            self.reasons[BLANK] = self.reasons[ONE_BATCH]
            return
        seconds = limit(planned, waiting, self.left(), self.budget, self.took.get(FIRST))
        if not seconds:
            self.reasons[planned.name] = f"the time of {self.budget:.0f} s was used up (--budget)"
            return
        whole = first is not None and not any(e.code == "steps-limit" for e in first.events)
        steps = steps_for(planned, int(first.last_step or 0) if first is not None else 0, whole)
        conducted = self.conducted(planned, steps, seconds)
        self.took[planned.name] = conducted.seconds
        self.linked, self.left_out = conducted.linked, conducted.left_out
        self.changed |= set(conducted.changed)
        self.fenced = conducted.fenced
        self.wish = self.wish or conducted.wish()
        self.done.append(
            Experiment(
                name=planned.name,
                interventions=planned.interventions,
                steps=self.read(planned, conducted),
                seconds=round(conducted.seconds, 2),
                ended=conducted.describe_end(),
            )
        )

    def conducted(self, planned: Planned, steps: int, seconds: float) -> Conducted:
        def record(
            out: Path, interventions: Sequence[str], steps: int | None, base: Mapping[str, str], folder: str
        ) -> dict[str, str]:
            start_folder(out)
            patient = planned.name == FIRST
            request = Request(
                out,
                steps,
                interventions=tuple(interventions),
                patient=patient,
                probes=planned.probes,
                asked=True,
            )
            return environment(request, base, folder)

        return conduct(
            self.command,
            planned.interventions,
            record=record,
            out=self.records / planned.name.replace(" ", "-"),
            steps=steps,
            seconds=seconds,
            folder=self.folder,
            **self.reach,
        )

    def read(self, planned: Planned, conducted: Conducted) -> int:
        """Take over the record of a start; the number of its steps."""
        ended = Ended(conducted.status, conducted.signal, conducted.seconds)
        if not has_records(conducted.out):
            failed = conducted.ended != "finished" or bool(ended.shell_status)
            why = (
                conducted.describe_end()
                if failed
                else why_nothing(conducted.out, self.command, ended, frameworks("experiment"))
            )
            self.reasons[planned.name] = f"the script {why}" if failed else why
            return 0
        if conducted.ended == "finished":
            note_end(conducted.out, ended)
        try:
            runs = pipeline.read_capture(conducted.out, mapping=self.config.aliases)
        except ReadError as error:
            self.reasons[planned.name] = error.why
            return 0
        run = max(runs, key=lambda r: r.points)
        unused = [e.message for e in run.events if e.code in ("intervention-unused", "intervention-failed")]
        if unused:
            self.reasons[planned.name] = unused[0]
        else:
            self.runs[planned.name] = run
        return run.points

    def notes(self) -> list[str]:
        """What the user should know of the folder: files that changed meanwhile, that could not be kept from being
        written to, and that the copy lacks."""
        out = [self.wish] if self.wish else []
        if self.changed:
            names = ", ".join(sorted(self.changed)[:NAMED])
            out.append(f"files of your project changed while the checks ran: {names}")
        if self.linked and not self.fenced:
            names = ", ".join(self.linked[:NAMED])
            out.append(f"linked instead of copied, and this system cannot forbid writing to them: {names}")
        if self.left_out:
            names = ", ".join(self.left_out[:NAMED])
            out.append(f"not in the copy that the checks ran in (no plain files, or not readable): {names}")
        return out

    def facts(self) -> dict[str, Fact]:
        """What all starts together say."""
        first = self.runs[FIRST]
        known = surroundings.facts(self.command, self.folder)
        known |= surroundings.pins(self.command, self.folder, versions(first))
        return check_facts.combine_starts(self.runs, known)


def versions(run: Run) -> dict[str, str]:
    """Versions of packages that were loaded in the script's process."""
    versions = {n.partition("/")[2]: str(v) for n, v in run.setup.facts.items() if n.startswith("versions/")}
    return {n: v for n, v in versions.items() if n not in ("python", "traindx")}


def gather(
    bench: Bench, experiments: Sequence[Planned], report: Report = lambda _done, _label: None
) -> Gathered:
    """Carry out the experiments one after the other. Raises ConfigError where there is no such program."""
    make_folder(bench.records)
    try:
        for number, experiment in enumerate(experiments):
            report(number, experiment.name)
            bench.start(experiment, len(experiments) - number)
    finally:
        if bench.temporary is not None:
            remove_temporary_folder(bench.temporary)
    first = bench.runs.get(FIRST)
    run = None if first is None else pipeline.with_facts(first, bench.facts())
    return Gathered(run, bench.reasons, tuple(bench.done))


ROWS_LISTED = 100_000  # of a rule, in the file of --rows
PARTS = 1000  # of the progress bar


class DataRequest(NamedTuple):
    """What the options on data ask for; `path` is None where the script is to be checked."""

    path: str | None = None
    target: str | None = None
    validation: str | None = None
    sensitive: str | None = None
    task: str | None = None
    rows: str | None = None


DATA_OPTIONS = (
    click.option(
        "--data", "path", metavar="PATH",
        help="Check data instead of a script: CSV, Parquet, .npz, .npy, or a folder of images or sounds.",
    ),
    click.option("--target", metavar="COLUMN", help="With --data: the column (or array) to predict."),
    click.option("--validation", metavar="PATH", help="With --data: the validation data, in the same form."),
    click.option("--sensitive", metavar="COLUMN", help="With --data: compare labels and errors between its values."),
    click.option(
        "--task", type=click.Choice(("classes", "numbers")),
        help="With --data: the kind of target, if it is not obvious from the values.",
    ),
    click.option("--rows", metavar="FILE", help="With --data: write the rows of each finding to FILE, as CSV."),
)  # fmt: skip


def resolve_data_request(
    path: str | None,
    target: str | None,
    validation: str | None,
    sensitive: str | None,
    task: str | None,
    rows: str | None,
) -> DataRequest:
    """What is asked of data. Raises ConfigError for one of these options without --data."""
    request = DataRequest(path, target, validation, sensitive, task, rows)
    given = [f"--{name}" for name, value in request._asdict().items() if value is not None]
    if path is None and given:
        raise ConfigError(f"{given[0]} needs --data")
    return request


data_options = with_resolved_options("request", resolve_data_request, DATA_OPTIONS)


def check_data(
    request: DataRequest,
    config: Config,
    out: Output,
    only: Sequence[str],
    skip: Sequence[str],
    listed: bool = False,
) -> int:
    """Check the data that were asked for and print the page; the exit status."""
    from traindx.checks.catalogue import DATA_CHECKS
    from traindx.checks.judge import select_checks
    from traindx.survey import inspection

    checks = select_checks(only, skip, DATA_CHECKS)
    if listed:
        emit(list_checks(checks), out.path)
        return 0
    with progress("reading", PARTS, show=not out.quiet) as at:
        found = inspection.check_data(
            request.path,
            request.target,
            validation=request.validation,
            sensitive=request.sensitive,
            task=request.task,  # type: ignore[arg-type]
            config=config,
            checks=checks,
            progress=lambda done, total: at(PARTS * done // total if total else 0, f"{done:,} rows"),
        )
    emit(render_checks(found.report, out), out.path)
    if request.rows is not None:
        write_rows(found.rows, Path(request.rows))
        note(f"The rows of the findings: {request.rows}", out.quiet)
    return int(found.failed)


def write_rows(rows: Mapping[str, Any], path: Path) -> None:
    """One line a row: the rule's slug, its place among the rule's rows (1 is worst), the row's number from 0."""
    lines = ["rule,place,row"]
    for slug, numbers in sorted(rows.items()):
        lines += [f"{slug},{place},{row}" for place, row in enumerate(numbers[:ROWS_LISTED].tolist(), 1)]
    write_file(path, "\n".join(lines) + "\n", "--rows")


def list_checks(checks: Sequence[Check]) -> str:
    """Slug, group and title of each check."""
    return "".join(f"{c.slug:<22} {c.group:<14} {c.title}\n" for c in checks)


def render_checks(report: CheckReport, out: Output) -> str:
    """The page in the form asked for."""
    from traindx.reports.documents import check as page

    return write_form(
        out.format,
        {
            "text": lambda: page.render(report, width=stdout_width(), color=out.color),
            "json": lambda: page.to_json(report),
            "markdown": lambda: page.markdown(report),
            "html": lambda: page.html(report),
        },
    )

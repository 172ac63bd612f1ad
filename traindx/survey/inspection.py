"""Check data before training: survey, judge, and report on one page."""

import time

import msgspec

from traindx import pipeline, rules, survey
from traindx.checks.catalogue import DATA_CHECKS, OF_FOLDERS
from traindx.checks.judge import results
from traindx.config import Config
from traindx.redaction import redact_text
from traindx.survey.api import Any, ConfigError, Mapping, NDArray, Progress, Sequence, Task, np
from traindx.version import VERSION
from traindx.vocabulary import Check, CheckReport, Event, Run, Setup


class DataCheck(pipeline.CheckPages):
    """The result for a data set: `report` is the document, `rows` the row numbers (from 0, worst first)
    behind each rule that reports rows, by its slug; `failed` says whether any check failed."""

    def __init__(self, report: CheckReport, rows: Mapping[str, NDArray[np.int64]]) -> None:
        self.report, self.rows = report, rows

    @property
    def failed(self) -> bool:
        return self.report.count("failed") > 0


def check_data(
    data: Any,
    target: Any = None,
    *,
    validation: Any = None,
    sensitive: Any = None,
    task: Task | None = None,
    config: Config | None = None,
    checks: Sequence[Check] = DATA_CHECKS,
    progress: Progress | None = None,
) -> DataCheck:
    """Check data before training: `traindx.check_data(x, y, validation=(x_val, y_val))`.

    `data`: an array or tensor `[n, ...]`; columns by name or a data frame; a data set or loader of
    (input, target); a path to CSV, Parquet, .npz or .npy, or to a folder of images or sounds. `target`:
    an array `[n]`, or the name of a column. `validation`: the same kind as `data`, or a pair (data,
    target). `sensitive`: an array `[n]` or a column's name; errors and labels are compared between its
    values. `task`: "classes" or "numbers", if the kind of the target is detected wrongly. Raises ConfigError
    for columns that are not there, ReadError for files that cannot be read."""
    begun = time.monotonic()
    config = config or Config()
    slugs = {check.slug for check in checks}
    surveyed = survey.examine(
        data,
        target,
        validation=validation,
        sensitive=sensitive,
        task=task,
        fitted="label-noise" in slugs or (sensitive is not None and "slices" in slugs),
        progress=progress,
    )
    return judge_survey(surveyed, config, checks, begun)


def judge_survey(
    surveyed: survey.Survey, config: Config, checks: Sequence[Check], begun: float
) -> DataCheck:
    """The ordinary diagnosis of the facts, and the checks as views on it."""
    asked = {rule.slug for rule in pipeline.select(rules.catalogue(), config) if rule.family == "DAT"}
    if not asked:
        raise ConfigError("none of the rules that are selected judges data (they begin with DAT)")
    only = msgspec.structs.replace(config, select=tuple(sorted(asked)), ignore=())
    diagnosis = pipeline.diagnose(run_of(surveyed), only)
    report = CheckReport(
        traindx_version=VERSION,
        command=("--data", redact_text(surveyed.name)),
        seconds=round(time.monotonic() - begun, 1),
        checks=results(
            fitting_checks(checks, surveyed),
            diagnosis.first,
            diagnosis.runs[0].setup,
            surveyed.measured.reasons,
            asked=asked,
            severity=config.severity,
        ),
        experiments=(),
        diagnosis=diagnosis.first,
    )
    return DataCheck(report, surveyed.measured.rows)


def fitting_checks(checks: Sequence[Check], surveyed: survey.Survey) -> list[Check]:
    """The checks that suit this kind of data. The first says what was left out or sampled."""
    folder = surveyed.format == "folder"
    kept = [check for check in checks if (check.slug in OF_FOLDERS if folder else check.slug != "files")]
    said = "; ".join(surveyed.notes)
    return [msgspec.structs.replace(c, passed=said) if said and c.slug == "read" else c for c in kept]


def run_of(surveyed: survey.Survey) -> Run:
    """The measurements as a run without steps, whose facts the rules read."""
    return Run(
        id=surveyed.name,
        source=surveyed.name,
        format=surveyed.format,
        axis="sample",
        setup=Setup().with_facts(surveyed.measured.facts, "survey"),
        events=tuple(Event("note", note) for note in surveyed.notes),
    )

"""The shapes of a pre-flight check: what was looked at before the long run, and what came of it.

Field names are those of the JSON document `traindx.check/1`.
"""

from typing import Literal

import msgspec

from traindx.vocabulary.diagnosis import EvidencePoint, RunDiagnosis, Severity

CHECK_SCHEMA = "traindx.check/1"

Group = Literal["environment", "data", "architecture", "loop", "experiments"]
Status = Literal["passed", "failed", "not-run"]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check: a view on the rules named in `rules`. It fails when one of them fires at or above
    the severity asked for, and is not run when none of them could be evaluated. `passed` says what
    is so when nothing was found; `facts` are setup facts that are shown with it; `source` names the
    experiment or probe that it hangs on, whose failure is then the reason for not being run. One without
    rules only reports its facts. `absent` is the sentence where the script has nothing of the kind.
    `certain`: what the rules see is a fault even where the first steps are fine, so that one severity
    less fails it."""

    slug: str
    group: Group
    title: str
    passed: str
    rules: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    source: str = ""
    absent: str = ""
    certain: bool = False


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a check. `message` says what was seen, or why it was not run; `severity` is that of the
    worst finding, also of one that is below what fails a check; `remark` holds further findings, `rules` the
    rules behind them."""

    slug: str
    group: Group
    title: str
    status: Status
    message: str
    severity: Severity | None = None
    remark: str = ""
    rules: tuple[str, ...] = ()
    evidence: tuple[EvidencePoint, ...] = ()
    facts: dict[str, str | float | int | bool] = {}


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """One start of the script: under which interventions (`"data=repeat-batch"`), for how many
    steps, how it went."""

    name: str
    interventions: tuple[str, ...]
    steps: int
    seconds: float
    ended: str


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What `traindx check --format json` prints. `diagnosis` is that of the script's first steps
    with all that the checks found out, None where nothing was recorded."""

    schema: str = CHECK_SCHEMA
    traindx_version: str
    command: tuple[str, ...]
    seconds: float
    checks: tuple[CheckResult, ...]
    experiments: tuple[Experiment, ...]
    diagnosis: RunDiagnosis | None = None

    def count(self, status: Status) -> int:
        return sum(check.status == status for check in self.checks)

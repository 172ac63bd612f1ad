"""From a diagnosis to the page of checks (pure)."""

import difflib
from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from traindx.checks.catalogue import CHECKS, FIRST
from traindx.errors import ConfigError
from traindx.vocabulary import SEVERITIES, Check, CheckResult, RunDiagnosis, Setup, Severity

PROBED = ("accelerator", "structure", "leak", "growth", "modes", "memory", "latency")


def select_checks(
    only: Sequence[str], skip: Sequence[str], checks: Sequence[Check] = CHECKS
) -> tuple[Check, ...]:
    """The checks that were asked for, by slug or group; skipping wins. Raises ConfigError for an unknown
    word."""
    known = [*dict.fromkeys(c.group for c in checks), *(c.slug for c in checks)]
    for word in (*only, *skip):
        if word not in known:
            near = difflib.get_close_matches(word, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "traindx check --list names them"
            raise ConfigError(f"there is no check {word!r}; {hint}")

    def named(check: Check, words: Sequence[str]) -> bool:
        return check.slug in words or check.group in words

    return tuple(c for c in checks if (not only or named(c, only)) and not named(c, skip))


def results(
    checks: Sequence[Check],
    diagnosis: RunDiagnosis | None,
    setup: Setup,
    reasons: Mapping[str, str],
    *,
    asked: Collection[str],
    severity: Severity = "medium",
) -> tuple[CheckResult, ...]:
    """One result for each check. `reasons` says why experiments and probes did not run; `asked` are the
    slugs of the selected rules, `severity` the lowest that fails a check."""
    probed = {p: str(why) for p in PROBED if (why := setup.known(f"{p}_not_checked")) is not None}
    return tuple(result(check, diagnosis, setup, {**reasons, **probed}, asked, severity) for check in checks)


def result(
    check: Check,
    diagnosis: RunDiagnosis | None,
    setup: Setup,
    reasons: Mapping[str, str],
    asked: Collection[str],
    severity: Severity,
) -> CheckResult:
    """The result of one check."""
    known = {name: setup.known(name) for name in check.facts}
    facts = {name: value for name, value in known.items() if isinstance(value, str | float | int | bool)}
    passed = CheckResult(
        slug=check.slug,
        group=check.group,
        title=check.title,
        status="passed",
        message=check.passed,
        facts=facts,
    )
    found = [f for f in diagnosis.findings if f.slug in check.rules] if diagnosis is not None else []
    if not found:
        why_not = why_not_run(check, diagnosis, reasons, asked, bool(facts))
        return replace(passed, status="not-run", message=why_not) if why_not else passed
    found.sort(key=lambda f: SEVERITIES.index(f.severity))
    least = SEVERITIES.index(severity) + check.certain
    worst = found[0]
    return replace(
        passed,
        status="failed" if SEVERITIES.index(worst.severity) <= least else "passed",
        message=worst.message,
        severity=worst.severity,
        remark="; ".join(f.message for f in found[1:]),
        rules=tuple(dict.fromkeys(f.slug for f in found)),
        evidence=worst.evidence,
    )


def why_not_run(
    check: Check,
    diagnosis: RunDiagnosis | None,
    reasons: Mapping[str, str],
    asked: Collection[str],
    has_facts: bool,
) -> str:
    """Why none of a check's rules could be evaluated, "" where one could."""
    if diagnosis is None:
        return reasons.get(FIRST, "nothing was recorded")
    if not check.rules:
        return "" if has_facts else reasons.get(check.source, "it was not measured")
    there = [slug for slug in check.rules if slug in asked]
    if not there:
        return "excluded by --select or --ignore"
    unasked = {n.slug: n.reason for n in diagnosis.not_evaluated}
    if any(slug not in unasked for slug in there):
        return ""
    if check.source != FIRST and check.source in reasons:
        return reasons[check.source]
    if check.absent and all(unasked[slug].startswith("needs ") for slug in there):
        return check.absent
    return without_fact_names(unasked[there[0]])


def without_fact_names(reason: str) -> str:
    """A rule's reason without the names of facts."""
    if "setup:" not in reason:
        return reason
    names = reason.removeprefix("needs ").removesuffix(", which was not recorded").replace("setup:", "")
    return f"not recorded in this script: {names.replace('_', ' ')}"

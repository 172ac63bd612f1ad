"""From a diagnosis to the page of checks (pure)."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence

from traindx.checks.catalogue import CHECKS, FIRST
from traindx.errors import ConfigError
from traindx.vocabulary.check import Check, CheckResult, Status
from traindx.vocabulary.diagnosis import SEVERITIES, Finding, RunDiagnosis, Severity
from traindx.vocabulary.setup import Setup

PROBED = ("accelerator", "structure", "leak", "growth", "modes", "memory", "latency")


def chosen(only: Sequence[str], skip: Sequence[str], checks: Sequence[Check] = CHECKS) -> tuple[Check, ...]:
    """The checks that were asked for, by slug or group; leaving out wins. Raises KeyError for a word that
    is neither."""
    for word in (*only, *skip):
        if not any(word in (check.slug, check.group) for check in checks):
            raise KeyError(word)

    def named(check: Check, words: Sequence[str]) -> bool:
        return check.slug in words or check.group in words

    return tuple(c for c in checks if (not only or named(c, only)) and not named(c, skip))


def picked(only: Sequence[str], skip: Sequence[str], checks: Sequence[Check] = CHECKS) -> tuple[Check, ...]:
    """The checks that were asked for. Raises ConfigError for a word that names none."""
    try:
        return chosen(only, skip, checks)
    except KeyError as error:
        word = str(error.args[0])
        known = [*dict.fromkeys(c.group for c in checks), *(c.slug for c in checks)]
        near = difflib.get_close_matches(word, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "traindx check --list names them"
        raise ConfigError(f"there is no check {word!r}; {hint}") from error


def results(
    checks: Sequence[Check],
    diagnosis: RunDiagnosis | None,
    setup: Setup,
    reasons: Mapping[str, str],
    *,
    asked: Collection[str],
    severity: Severity = "medium",
) -> tuple[CheckResult, ...]:
    """One result for each check. `reasons` says of experiments and probes that did not come about why;
    `asked` are the slugs of the rules that were asked, `severity` the least that fails a check."""
    told = {
        **reasons,
        **{p: str(why) for p in PROBED if (why := setup.known(f"{p}_not_checked")) is not None},
    }
    return tuple(one(check, diagnosis, setup, told, asked, severity) for check in checks)


def one(
    check: Check,
    diagnosis: RunDiagnosis | None,
    setup: Setup,
    reasons: Mapping[str, str],
    asked: Collection[str],
    severity: Severity,
) -> CheckResult:
    """What became of one check."""
    facts = {name: value for name in check.facts if (value := fact(setup, name)) is not None}
    whole = CheckResult(
        slug=check.slug,
        group=check.group,
        title=check.title,
        status="passed",
        message=check.passed,
        facts=facts,
    )
    why_not = not_run(check, diagnosis, reasons, asked, bool(facts))
    found = [f for f in diagnosis.findings if f.slug in check.rules] if diagnosis is not None else []
    found.sort(key=lambda f: SEVERITIES.index(f.severity))
    if not found:
        return replaced(whole, status="not-run", message=why_not) if why_not else whole
    worst = found[0]
    remark = "; ".join(f.message for f in found[1:])
    least = SEVERITIES.index(severity) + check.certain
    status: Status = "failed" if SEVERITIES.index(worst.severity) <= least else "passed"
    return replaced(
        whole,
        status=status,
        message=worst.message,
        severity=worst.severity,
        remark=remark,
        rules=slugs(found),
        evidence=worst.evidence,
    )


def replaced(result: CheckResult, **fields: object) -> CheckResult:
    import msgspec

    return msgspec.structs.replace(result, **fields)


def slugs(found: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f.slug for f in found))


def fact(setup: Setup, name: str) -> str | float | int | bool | None:
    value = setup.known(name)
    return value if isinstance(value, str | float | int | bool) else None


def not_run(
    check: Check,
    diagnosis: RunDiagnosis | None,
    reasons: Mapping[str, str],
    asked: Collection[str],
    has_facts: bool,
) -> str:
    """Why none of a check's rules could be evaluated ("" when one could)."""
    if diagnosis is None:
        return reasons.get(FIRST, "nothing was recorded")
    if not check.rules:
        return "" if has_facts else reasons.get(check.source, "it was not measured")
    there = [slug for slug in check.rules if slug in asked]
    if not there:
        return "left out by --select or --ignore"
    unasked = {n.slug: n.reason for n in diagnosis.not_evaluated}
    if any(slug not in unasked for slug in there):
        return ""
    if check.source != FIRST and check.source in reasons:
        return reasons[check.source]
    if check.absent and all(unasked[slug].startswith("needs ") for slug in there):
        return check.absent
    return plain(unasked[there[0]])


def plain(reason: str) -> str:
    """A rule's reason without the names of facts."""
    if "setup:" not in reason:
        return reason
    names = reason.removeprefix("needs ").removesuffix(", which was not recorded").replace("setup:", "")
    return f"not seen in this script: {names.replace('_', ' ')}"

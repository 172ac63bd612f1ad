"""The indexes by which rules, fixes and formats are known before their modules are imported."""

from __future__ import annotations

from collections.abc import Iterable
from pprint import pformat
from typing import Any

from traindx import fixes, readers, rules
from traindx.vocabulary.rule import Rule

HEAD = """\"\"\"{title}. Made by `python -m docs.generate`.\"\"\"

from __future__ import annotations

from typing import Any

"""


def rules_index() -> str:
    """`traindx/rules/index.py`: module, code, needs, least points, severity, message, premises and persistence."""
    own = [r for r in rules.catalogue() if r.check.__module__.startswith("traindx.rules.")]
    return HEAD.format(title="What is to be known of every rule before it is asked") + table(map(facts, own))


def facts(rule: Rule) -> tuple[Any, ...]:
    home = rule.check.__module__
    return (
        home,
        rule.code,
        rule.needs,
        rule.min_points,
        rule.severity,
        rule.message,
        rule.follows,
        rule.persistence,
    )


def fixes_index() -> str:
    """`traindx/fixes/index.py`: module, applicability and cured causes of every fix."""
    rows = ((fix.home, fix.applicability, fix.causes) for fix in fixes.catalogue())
    return HEAD.format(title="What is to be known of every fix before it is offered") + table(rows)


def formats_index() -> str:
    """`traindx/readers/index.py`: module, name, most claimed, zero bytes, sniffs files and folders, names of files."""
    rows = (tuple(readers.facts_of(module)) for module in readers.catalogue())
    return HEAD.format(title="What is to be known of every format before it is asked") + table(rows)


def table(rows: Iterable[tuple[Any, ...]]) -> str:
    """A tuple of tuples, one to a line."""
    body = "".join(f"    {pformat(row, width=10**6)},\n" for row in rows)
    return f"ROWS: tuple[tuple[Any, ...], ...] = (\n{body})\n"

"""The pages of `traindx check` as text."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.cli.options import Output
from traindx.cli.streams import stdout_width
from traindx.vocabulary.check import Check, CheckReport


def listing(checks: Sequence[Check]) -> str:
    """Slug, group and title of each check."""
    return "".join(f"{c.slug:<22} {c.group:<14} {c.title}\n" for c in checks)


def rendered(report: CheckReport, out: Output) -> str:
    """The page in the form asked for."""
    from traindx.reports import check as page

    if out.format == "json":
        return page.to_json(report)
    if out.format == "markdown":
        return page.markdown(report)
    if out.format == "html":
        return page.html(report)
    return page.render(report, width=stdout_width(), color=out.color)

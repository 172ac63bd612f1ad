"""The pages of `traindx check` as text."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.cli.options import Output
from traindx.cli.streams import stdout_width
from traindx.reports.forms import written
from traindx.vocabulary.check import Check, CheckReport


def listing(checks: Sequence[Check]) -> str:
    """Slug, group and title of each check."""
    return "".join(f"{c.slug:<22} {c.group:<14} {c.title}\n" for c in checks)


def rendered(report: CheckReport, out: Output) -> str:
    """The page in the form asked for."""
    from traindx.reports.documents import check as page

    return written(
        out.format,
        {
            "text": lambda: page.render(report, width=stdout_width(), color=out.color),
            "json": lambda: page.to_json(report),
            "markdown": lambda: page.markdown(report),
            "html": lambda: page.html(report),
        },
    )

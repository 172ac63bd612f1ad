"""One self-contained HTML page: templates, style, scripts and data in a single file, no network.

Every value that a template prints is cleaned (control, bidi and invisible characters are spelled
out, long texts cut) and escaped. The page's content policy allows exactly the scripts and styles
that were put in, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.reports import labels
from traindx.reports.plots.curves import Chart, Line
from traindx.vocabulary import Floats

if TYPE_CHECKING:
    from jinja2 import Environment

ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def build(
    template: str, charts: dict[str, list[Chart]], pictures: dict[str, Any] | None = None, **content: object
) -> str:
    """A page from `template`; `charts` and `pictures` are grouped by the key under which the template shows them."""
    from markupsafe import Markup

    scripts = [asset("vendor/uPlot.iife.min.js"), asset("templates/charts.js"), asset("templates/heat.js")]
    styles = [asset("vendor/uPlot.min.css"), asset("templates/style.css")]
    data: dict[str, Any] = {key: [chart_data(c) for c in group] for key, group in charts.items()}
    painted = Markup(embed_json(pictures or {}))
    page = environment().get_template(template)
    return page.render(
        policy=policy(scripts, styles),
        scripts=[Markup(s) for s in scripts],
        styles=[Markup(s) for s in styles],
        data=Markup(embed_json(data)),
        painted=painted,
        charts=charts,
        **content,
    )


@cache
def environment() -> Environment:
    """Templates with autoescape, in which undefined names are errors and every output is cleaned."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def finalize(value: object) -> object:
        return value if isinstance(value, Markup) else labels.clean(value)

    made = Environment(
        loader=PackageLoader("traindx.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for function in (
        labels.sentence,
        labels.estimate,
        labels.price_and_worth,
        labels.number,
        labels.step,
        labels.probability_range,
        labels.percent,
        labels.name,
        labels.plural,
        labels.likelihood,
        labels.lower_first,
        labels.short_path,
    ):
        made.filters[function.__name__] = function
    return made


@cache
def asset(path: str) -> str:
    """Text of a file that is shipped in this package."""
    return resources.files("traindx.reports").joinpath(path).read_text(encoding="utf-8").strip()


def policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """Content-Security-Policy under which nothing but these scripts and styles runs or loads."""

    def hashes(texts: Iterable[str]) -> str:
        digests = (base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in texts)
        return " ".join(f"'sha256-{d}'" for d in digests)

    return (
        f"default-src 'none'; script-src {hashes(scripts)}; style-src {hashes(styles)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def embed_json(data: object) -> str:
    """`data` as JSON for a script element: without any character that could end it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return "".join(ESCAPED.get(c, c) for c in text) if any(c in text for c in ESCAPED) else text


def chart_data(chart: Chart) -> dict[str, Any]:
    """What the page's script needs to draw one chart; NaN becomes null."""
    gap = chart.gap
    return {
        "slug": chart.slug,
        "title": labels.name(chart.title),
        "x": labels.name(chart.x_label, 24),
        "y": labels.name(chart.y_label, 24),
        "right": chart.right_label,
        "log": chart.log,
        "positive": chart.positive,
        "lines": [line_data(line) for line in chart.lines],
        "marks": [[m.step, m.number, labels.name(m.slug, 60), m.severity] for m in chart.marks],
        "bad": json_steps(chart.nonfinite),
        "gap": None if gap is None else [json_steps(gap.x), values(gap.lower), values(gap.upper)],
    }


def line_data(line: Line) -> dict[str, Any]:
    return {
        "label": labels.name(line.label, 36),
        "role": line.role,
        "right": line.right,
        "order": line.order,
        "x": json_steps(line.x),
        "y": values(line.y),
    }


def json_steps(x: Floats) -> list[float | int]:
    """Steps as JSON numbers, whole ones without a decimal point."""
    whole = bool(np.all(x == np.round(x))) and (len(x) == 0 or float(np.abs(x).max()) < 2**53)
    return x.astype(np.int64).tolist() if whole else [float(f"{v:.10g}") for v in x.tolist()]


def values(y: Floats) -> list[float | None]:
    """Values with six digits, None for what is not finite."""
    return [
        float(f"{v:.6g}") if ok else None for v, ok in zip(y.tolist(), np.isfinite(y).tolist(), strict=True)
    ]

"""The HTML report: structure, safety, and how a real browser shows it."""

from __future__ import annotations

import html.parser
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reports import made
from tests.reports.browser import CHROMIUM, DRAWN, Browser, browser
from traindx.features.comparisons.runs import compare
from traindx.reports.diagnosis import html as report
from traindx.reports.documents.comparison import render_compare


class Outline(html.parser.HTMLParser):
    """Elements, ids, outer references and the embedded data of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.data = ""
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = "data" if dict(attrs).get("id") == "chart-data" else tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "data":
            self.data += data
        elif self.inside not in ("script", "style"):
            self.text.append(data)

    def count(self, tag: str) -> int:
        return sum(t == tag for t, _ in self.tags)


def charts(text: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(Outline(text).data)
    return found


@pytest.fixture(scope="module")
def page() -> str:
    return report.render(*made.document(made.sick(), made.healthy()))


def test_all_contents_are_there(page: str) -> None:
    words = " ".join(" ".join(Outline(page).text).split())
    for said in ("FAILED", "gradient-norm-explodes", "loss-diverges", "since step 23,620", "learning rate too high",
                 "71 %", "Lower the learning rate from 0.1 to 0.03.", "val/loss", "11 rules could not be checked",
                 "eval_loss", "learning-rate range test", "about 12 min, likely to settle it",
                 "No fault was found.", "power-law-tail", "line 1502"):  # fmt: skip
        assert said in words


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    for tag, attributes in Outline(page).tags:
        assert tag not in ("iframe", "object", "embed", "base", "form", "img")
        for name in ("src", "href", "action", "srcset", "style"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:,")), (tag, name, value)
    outside_scripts = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert "http://" not in outside_scripts
    assert "https://" not in outside_scripts


def test_charts_hold_the_run(page: str) -> None:
    drawn = {c["slug"]: c for c in charts(page)["run0"]}
    assert {"loss", "train_val", "lr_loss", "gradient_norm", "time", "memory"} <= set(drawn)
    loss = drawn["loss"]["lines"][0]
    raw = made.sick_run().series["train/loss"]
    assert loss["x"] == raw.steps.tolist()
    assert [v is None for v in loss["y"]] == np.isnan(raw.values).tolist()
    assert drawn["loss"]["bad"][0] == 24800
    assert [m[:2] for m in drawn["loss"]["marks"]] == [[23620.0, 1], [0.0, 2]]
    x, lower, upper = drawn["train_val"]["gap"]
    assert len(x) == len(lower) == len(upper) > 20


def test_a_page_without_curves_has_no_charts() -> None:
    document, _ = made.document(made.sick())
    text = report.render(document)
    assert charts(text) == {"run0": []}
    assert Outline(text).count("figure") == 0


def test_no_runs() -> None:
    assert "No runs were found." in report.render(*made.document())


@pytest.mark.parametrize("text", made.HOSTILE, ids=range(len(made.HOSTILE)))
def test_hostile_text_changes_no_structure(text: str) -> None:
    document, runs = made.hostile(text)
    harmless = report.render(*made.hostile("harmless"))
    hostile = report.render(document, runs)
    # A fact that repeats the reason is left out, and whether it does depends on the text: its elements do not count.
    facts = ("section", "h3", "p", "ul", "li", "br", "span", "strong")
    skeleton = [tag for tag, _ in Outline(hostile).tags if tag not in facts]
    assert skeleton == [tag for tag, _ in Outline(harmless).tags if tag not in facts]
    charts(hostile)
    assert len(hostile) < len(harmless) + 60_000
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile)
    hostile.encode()


def test_the_policy_names_the_scripts_by_hash(page: str) -> None:
    policy = next(
        a["content"] for t, a in Outline(page).tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert policy.count("'sha256-") == 5
    assert "unsafe" not in policy


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium here")
    with browser() as opened:
        yield opened


def pages(folder: Path) -> list[Path]:
    """A sick and a healthy run, a comparison, and a page full of hostile text."""
    long = "a-very-long-name-of-a-run-with-many-hyperparameters_lr0.1_bs32_wd0.01"
    both = made.document(made.sick(), made.healthy(long))
    document, runs = both
    written = {
        "diagnosis": report.render(*both),
        "compare": render_compare(compare(runs), document, runs, "html"),
        "hostile": report.render(
            *made.hostile("</script><script>document.title='owned'</script>" + "W" * 500)
        ),
    }
    for name, text in written.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return [folder / f"{name}.html" for name in written]


INK = """Array.from(document.querySelectorAll('.plot canvas')).map(c => {
  const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })"""


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (375, False), (375, True)])
def test_in_a_browser(chromium: Browser, tmp_path: Path, width: int, dark: bool) -> None:
    for path in pages(tmp_path):
        chromium.problems.clear()
        chromium.open(path, width=width, height=700, dark=dark)
        assert chromium.problems == []
        assert chromium.run("document.title").startswith("traindx")
        assert chromium.run("document.documentElement.scrollWidth") <= width
        ink = chromium.run(INK)
        assert len(ink) == chromium.run("document.querySelectorAll('figure.chart').length") > 0
        assert min(ink) > 500
        ground = chromium.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 150) == dark


def test_buttons_zoom_and_switch_scales(chromium: Browser, tmp_path: Path) -> None:
    chromium.problems.clear()
    chromium.open(pages(tmp_path)[0])
    picture = (
        f"{DRAWN}.then(() => Array.from(document.querySelectorAll('canvas')).map(c => c.toDataURL()).join())"
    )
    before = chromium.run(picture)
    chromium.run("document.querySelector('[data-range=onset]').click()")
    zoomed = chromium.run(picture)
    assert zoomed != before
    assert (
        chromium.run("document.querySelector('[data-range=onset]').getAttribute('aria-pressed')") == "true"
    )
    chromium.run("document.querySelector('button.log').click()")
    switched = chromium.run(picture)
    assert switched != zoomed
    assert chromium.problems == []

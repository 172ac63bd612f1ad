"""The search for a learning rate as text, Markdown, JSON and a picture."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import numpy as np
import pytest

from traindx.reports import labels
from traindx.reports.documents import rates
from traindx.reports.figures import rates as figures_rates
from traindx.vocabulary.rates import RateSearch, SweepTrace, TriedRate

HOSTILE = "a|b`\x1b[31m\u202e<script>$x$" + "y" * 300


def trace(seed: int, n: int = 199) -> SweepTrace:
    swept = np.logspace(-7, 1, n)
    losses = 2 - 1.5 / (1 + (0.01 / swept) ** 2) + 20 * np.minimum(swept / 10, 1) ** 2
    noisy = losses + 0.02 * np.random.default_rng(seed).standard_normal(n)
    parts = [tuple(part.tolist()) for part in (swept, noisy, losses)]
    return SweepTrace(
        seed=seed, rates=parts[0], losses=parts[1], smoothed=parts[2], diverged=True, seconds=2.0
    )


def found(**changes: object) -> RateSearch:
    tried = tuple(
        TriedRate(rate=r, seed=s, loss=v + s / 100, steps=200)
        for r, v in ((0.001, 1.5), (0.01, 0.5), (0.1, 0.52), (1.0, float("nan")))
        for s in (0, 1)
    )
    made = RateSearch(
        traindx_version="0", command=("/usr/bin/python3", "train.py", "--lr", "1"), optimizer="adam", suggested=0.02,
        low=0.015, high=0.03, steepest=0.02, safe=0.08, steps=200, seeds=(0, 1), sweeps=(trace(0), trace(1)),
        tried=tried, good=(0.01, 0.1), seconds=12.3,
    )  # fmt: skip
    return msgspec.structs.replace(made, **changes)


NOTHING = {
    "suggested": None,
    "low": None,
    "high": None,
    "steepest": None,
    "safe": None,
    "tried": (),
    "good": None,
}
SEARCHES = {
    "whole": found(),
    "without trials": found(tried=(), good=None),
    "nothing": found(**NOTHING, reason="at no learning rate does the loss fall by more than its noise"),
    "open end": found(open_end=True),
    "hostile": found(command=("python", HOSTILE), optimizer=HOSTILE, notes=(HOSTILE,)),
    "empty": found(**NOTHING, reason="none", sweeps=(trace(0, 0),)),
    "one point": found(**NOTHING, reason="none", sweeps=(trace(0, 1),)),
    "lengths differ": found(sweeps=(trace(0, 120), trace(1, 199))),
    "no rate is good": found(good=None),
}


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("name", SEARCHES)
def test_text_fits_the_page(name: str, width: int) -> None:
    text = rates.render(SEARCHES[name], width=width)
    assert max(labels.cells(line) for line in text.splitlines()) <= width
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_text_says_what_was_found() -> None:
    text = rates.render(found())
    assert text.startswith("Learning rate of python3 train.py --lr 1 (adam)")
    assert "suggested     0.02   between 0.015 and 0.03, reading 2 seeds" in text
    assert "largest safe  0.08" in text
    assert "  1e-7 " in text
    assert "diverged" in text
    assert "about as good as the best: 0.01 to 0.1" in text
    assert "\x1b[32m" in rates.render(found(), color=True)


def test_marks_are_at_their_rates() -> None:
    lines = rates.render(found()).splitlines()
    (axis,) = (line for line in lines if "└" in line)
    start = axis.index("└") + 1
    share = (axis.index("1") - start) / (len(axis) - start - 1)
    assert share == pytest.approx((np.log10(0.02) + 7) / 8, abs=0.02)
    below = lines[lines.index(axis) + 1]
    power = (below.index("0.001") - start) / (len(axis) - start - 1)
    assert power == pytest.approx(4 / 8, abs=0.02)


def test_why_there_is_none() -> None:
    for form in ("text", "markdown"):
        text = rates.render(SEARCHES["nothing"], form)
        assert "No suggestion" in text
        assert "by more than its noise" in text
        assert "largest safe " not in text


@pytest.mark.parametrize("name", SEARCHES)
def test_json_is_strict_and_whole(name: str) -> None:
    search = SEARCHES[name]
    document = json.loads(rates.render(search, "json"), parse_constant=pytest.fail)
    jsonschema.validate(
        document, {"required": ["schema", "suggested", "low", "high", "steepest", "safe", "sweeps"]}
    )
    assert document["schema"] == "traindx.find-lr/1"
    assert document["suggested"] == search.suggested
    assert len(document["sweeps"][0]["losses"]) == len(search.sweeps[0].losses)
    if search.tried:
        assert document["tried"][-1]["loss"] == "NaN"


def test_markdown_escapes_what_is_foreign() -> None:
    text = rates.render(SEARCHES["hostile"], "markdown")
    assert "\x1b" not in text
    assert "<script>" not in text
    assert "| suggested | 0.02 |" in text
    assert "| 1 | diverged | diverged |" in text


@pytest.mark.parametrize("name", SEARCHES)
def test_the_picture(name: str, tmp_path: Path) -> None:
    path = figures_rates.save(SEARCHES[name], tmp_path)
    assert path.name == "learning_rate.png"
    assert path.read_bytes().startswith(b"\x89PNG")
    figure = figures_rates.figure(SEARCHES[name])
    assert len(figure.axes) == (2 if SEARCHES[name].tried else 1)
    assert figure.axes[0].get_xscale() == "log"

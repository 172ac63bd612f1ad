"""Comparisons in the four formats."""

from __future__ import annotations

import json
from typing import get_args

import msgspec
import numpy as np
import pytest

from tests.make import healthy_loss, run
from tests.reports import made
from tests.reports.diagnosis.test_html import Outline
from tests.reports.diagnosis.test_markdown import cells as table_cells
from traindx.errors import ConfigError
from traindx.features.comparisons.runs import compare
from traindx.reports.documents.comparison import Format, render_compare
from traindx.reports.forms import write_form
from traindx.reports.labels import cells
from traindx.vocabulary.diagnosis import Document
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

FORMATS: tuple[Format, ...] = get_args(Format)


def document(runs: tuple[Run, ...]) -> Document:
    base = made.healthy()[0]
    diagnoses = tuple(msgspec.structs.replace(base, run=made.info(r)) for r in runs)
    return Document(traindx_version="0.1.0", runs=diagnoses)


def trained(name: str, floor: float, seed: int, n: int = 600, lr: float = 0.1) -> Run:
    return run(
        {"train/loss": healthy_loss(n, floor=floor, seed=seed)}, name=name, setup=Setup(lr=lr, seed=seed)
    )


def shown(runs: tuple[Run, ...], format: Format = "text", width: int = 100) -> str:
    return render_compare(compare(runs), document(runs), runs, format, width=width)


def test_a_clear_winner() -> None:
    text = shown((trained("small", 0.4, 1), trained("big", 0.3, 2, lr=0.3)))
    assert "big is best on train/loss, by more than the noise." in text
    assert "one run of each" in text
    assert "lr: 0.1 in small; 0.3 in big" in text
    rows = [line.split() for line in text.splitlines() if "±" in line]
    assert [(r[0], r[-1]) for r in rows] == [("big", "best"), ("small", "worse")]


def test_a_tie_is_called_a_tie() -> None:
    text = shown((trained("one", 0.3, 1), trained("two", 0.3, 2)))
    assert "within noise" in text
    assert "is within the noise" in text


def test_a_longer_run_is_not_just_better() -> None:
    text = " ".join(shown((trained("short", 0.3, 1), trained("long", 0.2, 2, n=3000))).split())
    assert "differ in length" in text
    assert "at step 599, the last that long and short share: short" in text


def test_seeds_are_compared_as_groups() -> None:
    runs = tuple(trained(f"adam_seed{i}", 0.3, i) for i in range(3)) + tuple(
        trained(f"sgd_seed{i}", 0.4, i + 9, lr=0.5) for i in range(3)
    )
    text = shown(runs)
    assert "adam is best on train/loss, by more than the noise." in text
    assert "(mean of 3)" in text
    assert "lr: 0.1 in adam; 0.5 in sgd" in text
    assert "one run of each" not in text
    assert "seed:" not in text


def test_runs_that_failed_or_share_nothing() -> None:
    bad = (made.sick_run("a"), made.sick_run("b"))
    assert "not finite at its end" in shown(bad)
    apart = (run({"train/loss": np.arange(9.0)}, name="a"), run({"val/accuracy": np.arange(9.0)}, name="b"))
    assert "The runs share no signal" in shown(apart)


def test_json_is_strict_and_complete() -> None:
    runs = (made.sick_run("a"), made.healthy("b")[1])
    parsed = json.loads(shown(runs, "json"), parse_constant=pytest.fail)
    assert parsed["schema"] == "traindx.comparison/1"
    assert [r["run"] for r in parsed["runs"]] == ["a", "b"]
    contest = parsed["contests"][0]
    assert contest["signal"] == "train/loss"
    assert contest["best"] == "b"
    assert contest["levels"][0]["end"] == "NaN"
    assert contest["differences"][0]["verdict"] == "better"


def test_html_and_markdown_hold_the_same_tables() -> None:
    runs = (trained("small", 0.4, 1), trained("big", 0.3, 2))
    assert table_cells(shown(runs, "markdown")) == [4, 4, 4, 5, 5, 5]
    page = Outline(shown(runs, "html"))
    assert (page.count("table"), page.count("tr"), page.count("figure")) == (2, 6, 1)
    assert [line["label"] for line in json.loads(page.data)["overlay"][0]["lines"]] == ["small", "big"]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_it_fits(width: int) -> None:
    runs = (trained("a" * 90, 0.4, 1), trained("b" * 90, 0.3, 2, n=1000), trained("c", 0.3, 3, lr=0.2))
    assert max(cells(line) for line in shown(runs, width=width).splitlines()) <= width


@pytest.mark.parametrize("hostile", made.HOSTILE, ids=range(len(made.HOSTILE)))
def test_hostile_names_do_nothing(hostile: str) -> None:
    signals = {"train/loss": healthy_loss(80), "val/" + hostile + " loss": healthy_loss(80)}
    setup = Setup(model=hostile, facts={hostile: 1})
    runs = (run(signals, name=hostile, setup=setup), run(signals, name="other"))
    for format in FORMATS:
        text = shown(runs, format)
        body = text.partition("<main>")[2].partition("</main>")[0] if format == "html" else text
        assert body.replace("\n", "").isprintable()
        text.encode()
        assert format == "json" or len(text) < 200_000
    calm = (run(signals, name="calm", setup=Setup(model="m", facts={"f": 1})), run(signals, name="other"))
    tags = [[t for t, _ in Outline(shown(r, "html")).tags] for r in (runs, calm)]
    assert tags[0] == tags[1]


def test_a_form_that_nothing_makes_is_refused() -> None:
    with pytest.raises(
        ConfigError, match="--format latex: this document has no such form; it has text, json"
    ):
        write_form("latex", {"text": str, "json": str})

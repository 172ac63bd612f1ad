"""The report of a proof in all its forms, of a search that was really made (gradient descent on a parabola)."""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path

import jsonschema
import msgspec
import numpy as np
import pytest

from tests.lab.repair.descent import Descent
from tests.lab.repair.test_search import searched
from traindx.lab.repair.document import Proof
from traindx.reports.documents import fix as report
from traindx.reports.figures import fix as figures_fix
from traindx.reports.json import dumps
from traindx.vocabulary import trial as words

HOSTILE = "<script>alert(1)</script> | `x` [a](http://b) \x1b[31m"


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Proof:
    return searched(tmp_path_factory.mktemp("proof"), Descent(rate=0.3))


def test_the_document_holds_to_its_schema_and_the_schema_to_the_contract(
    fixed: Proof, tmp_path: Path
) -> None:
    for proof in (fixed, searched(tmp_path, Descent(rate=0.02))):
        document = json.loads(report.to_json(proof.report))
        jsonschema.Draft202012Validator(report.schema()).validate(document)
        assert {"schema", "traindx_version", "verdict", "applied", "interventions", "command", "patch", "objective",
                "before", "after", "trials", "ablation", "recommendations", "diagnosis"} <= set(document)  # fmt: skip
        assert document["schema"] == "traindx.fix/1"


def test_the_shipped_schema_is_current() -> None:
    shipped = (
        importlib.resources.files("traindx.reports").joinpath("fix.schema.json").read_text(encoding="utf-8")
    )
    assert shipped == dumps(report.schema()), (
        "python -m traindx.reports.documents.fix > traindx/reports/fix.schema.json"
    )


def test_every_form_gives_the_verdict_the_fix_and_how_to_run_it(fixed: Proof) -> None:
    for form in ("text", "markdown", "html"):
        page = report.rendered(fixed.report, form)
        assert "lower-learning-rate" in page
        assert "confirmed" in page
        assert "traindx run --with" in page
    assert report.rendered(fixed.report, "text").splitlines()[-1] == fixed.report.command


def test_foreign_words_stay_words(fixed: Proof) -> None:
    hostile = msgspec.structs.replace(fixed.report, reason=HOSTILE, notes=(HOSTILE,))
    assert "<script>" not in report.html(hostile)
    assert "\x1b" not in report.text(hostile)
    assert "](http" not in report.markdown(hostile).replace("\\", "!")


def test_the_picture_has_four_panels_and_both_arms(fixed: Proof, tmp_path: Path) -> None:
    figure = figures_fix.figure(fixed.report, fixed.before, fixed.after)
    assert len(figure.axes) == 4
    assert [line.get_label() for line in figure.axes[0].get_lines()] == ["before", "after"]
    assert figures_fix.save(fixed.report, fixed.before, fixed.after, tmp_path).stat().st_size > 10_000


def test_curves_keep_their_level_to_both_ends() -> None:
    from traindx.reports.figures.fix import POINTS, along
    from traindx.vocabulary.run import Run, series

    steps = np.arange(5 * POINTS, dtype=np.float64)
    values = np.full(len(steps), 0.003)
    values[7] = np.nan
    run = Run(id="r", source="", format="traindx", series={"lr": series(steps, values)})
    assert along(run, "lr", np.linspace(0, steps[-1], POINTS)) == pytest.approx(np.full(POINTS, 0.003))


def test_a_run_that_broke_down_has_no_curve_behind_that() -> None:
    from traindx.reports.figures.fix import along
    from traindx.vocabulary.run import Run, series

    values = np.concatenate([np.full(20, 2.0), np.full(180, np.nan)])
    run = Run(id="r", source="", format="traindx", series={"train/loss": series(np.arange(200.0), values)})
    found = along(run, "train/loss", np.arange(200.0))
    assert found[:20] == pytest.approx(np.full(20, 2.0))
    assert np.isnan(found[20:]).all()


def test_what_is_handed_back_is_named_in_every_form(fixed: Proof) -> None:
    side = words.Side(mean=0.9, n=3, interval=(0.85, 0.95))
    made = msgspec.structs.replace(
        fixed.report,
        objective=words.Objective(
            signal="val/accuracy", direction="lower", scale="steps", unit=0.95, rises=True
        ),
        test=(words.Tested(signal="test/accuracy", direction="higher", before=side, after=side),),
        checkpoint=words.Checkpoint(path="out/model.safetensors", sha256="ab" * 32, bytes=1200, tensors=4),
        answering=words.Answering(
            p50=0.002, p95=0.003, batch=8, batch_p50=0.004, batch_p95=0.005, throughput=2000.0
        ),
        slices=(
            words.Slice(column="region", group="south", samples=50, measure="accuracy", verdict="harmful"),
        ),
    )
    for form in ("text", "markdown", "html"):
        page = report.rendered(made, form, width=200).replace("\\", "")
        for part in (
            "test/accuracy",
            "out/model.safetensors",
            "2 ms (p50)",
            "a batch of 8: 4 ms (p50)",
            "2,000 samples",
        ):
            assert part in page, (form, part)
        assert "steps until val/accuracy reaches 0.95" in page
        assert ("harmful" in page) == (form != "text")
    jsonschema.Draft202012Validator(report.schema()).validate(json.loads(report.to_json(made)))

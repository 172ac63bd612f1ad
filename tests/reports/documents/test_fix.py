"""The report of a proof in all its forms, of a search that was really made (gradient descent on a parabola)."""

from __future__ import annotations

import html
import importlib.resources
import json
from pathlib import Path

import jsonschema
import msgspec
import numpy as np
import pytest

from tests.lab.repair.descent import Descent
from tests.lab.repair.test_search import searched
from tests.reports.browser import CHROMIUM, browser
from traindx.lab.repair.document import Proof
from traindx.reports.documents import fix as report
from traindx.reports.figures import fix as figures_fix
from traindx.reports.json import dumps
from traindx.vocabulary import trial as words
from traindx.vocabulary.edit import Advice

DIFF = """--- a/train.py
+++ b/train.py
@@ -1,3 +1,3 @@
 # ``` <b>\r
-\tlr = 0.3
+\tlr = 0.03
"""
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
        page = report.render_report(fixed.report, form)
        assert "Lower the learning rate" in page
        assert "confirmed" in page
        assert "traindx run --with" in page
    assert report.render_report(fixed.report, "text").splitlines()[-1] == fixed.report.command


def edited(proof: Proof, **more: object) -> words.FixReport:
    """The report with a source edit that holds a tab, a carriage return, markup and a fence of Markdown."""
    path = "traindx-fix/my train/fix.patch"
    return msgspec.structs.replace(proof.report, patch=path, diff=DIFF, **more)


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_what_to_write_by_hand_and_why_comes_before_the_trials(fixed: Proof, form: str) -> None:
    advice = Advice(
        file="train.py", line=12, write=f"another lr {HOSTILE}", why="a function computes the rate"
    )
    shown = msgspec.structs.replace(fixed.report, by_hand=advice)
    page = html.unescape(report.render_report(shown, form, width=80))
    order = [page.index(part) for part in (
        "What was wrong", "No patch", "train.py:12", "a function computes the rate", "Before and after", "confirmed",
    )]  # fmt: skip
    assert order == sorted(order)
    assert "<script>" not in report.render_report(shown, form) or form == "text"
    assert "by_hand" in json.loads(report.to_json(shown))
    part = html.unescape(report.render_report(edited(fixed, by_hand=advice), form, width=80))
    assert "No patch" not in part
    order = [
        part.index(words)
        for words in ("Apply it", "Write the rest by hand", "train.py:12", "Before and after")
    ]
    assert order == sorted(order)


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_problem_change_and_how_to_apply_it_come_first(fixed: Proof, form: str) -> None:
    page = html.unescape(report.render_report(edited(fixed), form, width=80))
    order = [page.index(part) for part in (
        "(mean of 3 seeds)", "What was wrong", "The change", "+\tlr = 0.03".expandtabs(4),
        "Apply it", "git apply 'traindx-fix/my train/fix.patch'", "Before and after", "confirmed",
    )]  # fmt: skip
    assert order == sorted(order)
    assert "\\t" not in page
    assert "\\r" not in page


def test_a_terminal_of_80_columns_cuts_neither_sentences_nor_the_command(fixed: Proof) -> None:
    made = edited(fixed, patch_basis="Correct by the documentation of PyTorch. " * 3)
    lines = report.text(made, width=80).splitlines()
    whole = (made.command, f"  {report.apply_command(made)}")  # to be copied, so never wrapped
    assert max(len(line) for line in lines if line not in whole) <= 80
    assert set(whole) - {made.command} <= set(lines)
    assert [line for line in lines if "…" in line] == []
    assert "Apply it (not proven on this run)" in lines


def test_a_long_change_is_cut_in_a_terminal_and_nowhere_else(fixed: Proof) -> None:
    made = edited(fixed)
    made = msgspec.structs.replace(made, diff=DIFF + "".join(f" line {i}\n" for i in range(100)))
    assert "more lines in traindx-fix/my train/fix.patch" in report.text(made)
    assert "line 99" not in report.text(made)
    assert all("line 99" in form(made) for form in (report.markdown, report.html))


def test_a_fence_of_markdown_in_the_source_does_not_end_the_change(fixed: Proof) -> None:
    assert "\n````diff\n" in report.markdown(edited(fixed))


def test_a_change_in_the_source_is_not_named_by_its_slug(fixed: Proof) -> None:
    first = fixed.report.trials[0]
    trial = msgspec.structs.replace(
        first, interventions=(f"source={first.fix}", "lr=*0.1"), on_top_of=("source=normalize-targets",)
    )
    made = msgspec.structs.replace(fixed.report, trials=(trial,))
    for form in ("text", "markdown", "html"):
        page = report.render_report(made, form).replace("\\", "")
        assert "an edit of the source and lr=*0.1" in page
        assert "on top of normalize-targets in the source" in page
        assert "source=" not in page


def test_what_needs_no_change_and_what_we_compute_are_named_in_words(fixed: Proof) -> None:
    trial = msgspec.structs.replace(fixed.report.trials[0], interventions=(), on_top_of=("lr=*0.1",))
    computed = msgspec.structs.replace(fixed.report.objective, signal="outputs_balanced_accuracy")
    made = msgspec.structs.replace(fixed.report, trials=(trial,), objective=computed)
    for form in ("text", "markdown", "html"):
        page = html.unescape(report.render_report(made, form, width=120)).replace("\\", "")
        assert "no change on top of lr=*0.1" in page
        assert "balanced accuracy of the training batches" in page
        assert "outputs_" not in page


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_one_file_that_a_phone_shows_whole(fixed: Proof, tmp_path: Path, width: int) -> None:
    picture = figures_fix.save(fixed.report, fixed.before, fixed.after, tmp_path).read_bytes()
    (tmp_path / "report.html").write_text(report.html(edited(fixed), picture), encoding="utf-8")
    with browser() as opened:
        opened.open(tmp_path / "report.html", width=width)
        assert opened.problems == []
        assert opened.run("document.documentElement.scrollWidth") <= width
        wide = "Array.from(document.querySelectorAll('pre,td,img')).filter(e => e.scrollWidth > e.clientWidth + 1)"
        assert width > 700 or opened.run(f"{wide}.map(e => e.textContent)") == []
        assert opened.run("document.images[0].naturalWidth") > 100


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
    from traindx.reports.figures.fix import POINTS, signal_at
    from traindx.vocabulary.run import Run, series

    steps = np.arange(5 * POINTS, dtype=np.float64)
    values = np.full(len(steps), 0.003)
    values[7] = np.nan
    run = Run(id="r", source="", format="traindx", series={"lr": series(steps, values)})
    assert signal_at(run, "lr", np.linspace(0, steps[-1], POINTS)) == pytest.approx(np.full(POINTS, 0.003))


def test_a_run_that_broke_down_has_no_curve_behind_that() -> None:
    from traindx.reports.figures.fix import signal_at
    from traindx.vocabulary.run import Run, series

    values = np.concatenate([np.full(20, 2.0), np.full(180, np.nan)])
    run = Run(id="r", source="", format="traindx", series={"train/loss": series(np.arange(200.0), values)})
    found = signal_at(run, "train/loss", np.arange(200.0))
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
        page = report.render_report(made, form, width=200).replace("\\", "")
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

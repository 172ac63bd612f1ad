"""`traindx explain`: every page can be printed, and near misses are guessed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.logs import sick_log
from tests.cli.process import traindx
from traindx import causes, fixes, rules
from traindx.causes.catalogue import patterns  # `causes.patterns` is the module of that name
from traindx.cli.verbs.explain import find, pages, render_page, sections, wrap_page


def test_everything_has_a_page() -> None:
    slugs = {page.slug for page in pages()}
    for catalogue in (rules.catalogue(), causes.catalogue(), patterns(), fixes.catalogue()):
        assert catalogue
        assert {thing.slug for thing in catalogue} <= slugs
    for page in pages():
        assert page.title, page.slug
        assert page in find(page.slug)
        assert page.slug in render_page(page)


def test_every_link_leads_to_a_page() -> None:
    slugs = {page.slug for page in pages()}
    dangling = {
        (page.slug, to)
        for page in pages()
        for links in page.links.values()
        for to in links
        if to not in slugs
    }
    assert dangling == set()


def test_a_rule_by_code_and_by_slug(tmp_path: Path) -> None:
    by_slug = traindx("explain", "loss-plateaus", cwd=tmp_path)
    assert by_slug.status == 0
    for words in (
        "LOS004",
        "What it sees",
        "Why it matters",
        "When it is wrong",
        "What to try",
        "severity: low",
    ):
        assert words in by_slug.out
    assert traindx("explain", "los004", cwd=tmp_path) == by_slug
    assert traindx("explain", "loss_plateaus", cwd=tmp_path) == by_slug


def test_sections_begin_with_a_markdown_heading() -> None:
    page = "## What it sees\na b.\n\n## Why it matters\nc\n  d"
    assert sections(page) == [("What it sees", "a b."), ("Why it matters", "c\n  d")]
    assert sections("Only text.") == [("", "Only text.")]


def test_items_of_a_list_are_wrapped_one_by_one() -> None:
    text = "One two.\n\n- three four\n  five six\n- seven"
    assert wrap_page(text, 12) == "One two.\n\n- three four\n  five six\n- seven"
    assert wrap_page(text, 80) == "One two.\n\n- three four five six\n- seven"


def test_unknown_names(tmp_path: Path) -> None:
    for word, said in (
        ("loss-platoes", "did you mean loss-plateaus"),
        ("LOS04", "LOS004"),
        ("qqqq", "--list"),
    ):
        done = traindx("explain", word, cwd=tmp_path)
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("traindx: error: nothing is called")
        assert said in done.err


def test_the_words_of_the_field_find_their_pages(tmp_path: Path) -> None:
    wanted = {
        ("overfitting",): "insufficient-regularization (cause)",
        ("grokking",): "delayed-generalization (pattern)",
        ("double-descent",): "epoch-wise-double-descent (pattern)",
        ("vanishing", "gradients"): "GRD001 gradients-vanish-with-depth (rule)",
        ("plateau",): "LOS004 loss-plateaus (rule)",
        ("dead", "relu"): "dead-relus (cause)",
    }
    for words, heading in wanted.items():
        done = traindx("explain", *words, cwd=tmp_path)
        assert done.out.splitlines()[0] == heading
    assert "See also\n  " in traindx("explain", "plateau", cwd=tmp_path).out


def test_list_and_wrong_use(tmp_path: Path) -> None:
    listed = traindx("explain", "--list", cwd=tmp_path, env={"COLUMNS": "120"})
    assert listed.status == 0
    assert all(page.slug in listed.out for page in pages())
    assert traindx("explain", cwd=tmp_path).status == 2
    assert traindx("explain", "LOS001", "--list", cwd=tmp_path).status == 2


def test_whatever_a_diagnosis_names_can_be_explained(tmp_path: Path) -> None:
    done = traindx("diagnose", sick_log(tmp_path), "-f", "json", cwd=tmp_path)
    run = json.loads(done.out)["runs"][0]
    named = {f["slug"] for f in run["findings"]} | {f["code"] for f in run["findings"]}
    for hypothesis in run["hypotheses"]:
        named |= {hypothesis["cause"], *(fix["fix"] for fix in hypothesis["fixes"])}
    assert named
    assert all(find(name) for name in named)


def test_words_that_everybody_uses_find_their_page() -> None:
    firsts = {word: find(word)[0].slug for word in ("oom", "OOM", "nan", "saturation", "lr")}
    assert firsts["oom"] == firsts["OOM"] == "out-of-memory"
    assert firsts["nan"] == "loss-not-finite"
    assert firsts["saturation"] == "saturating-activations"
    assert firsts["lr"].startswith("learning-rate")

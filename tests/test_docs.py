"""The docs say what the code does: generated pages are up to date, code runs, links lead somewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from docs import command_line, curves, generate
from tests.cli.process import LIMIT, environment, traindx
from traindx import config, pipeline, rules
from traindx.cli.demo_network import FAULTS, train
from traindx.cli.main import VERBS

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")


def code_blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_generated_pages_are_up_to_date() -> None:
    stale = generate.stale(generate.made())
    assert not stale, f"run `python -m docs.generate`: it makes docs/{', docs/'.join(stale)}"


def test_the_check_notices_what_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "FOLDER", tmp_path)
    files = {"a.md": "one\n", "images/curves/x.svg": "<svg/>\n"}
    generate.write(files, generate.stale(files))
    assert generate.stale(files) == []
    (tmp_path / "a.md").write_text("two\n")
    (tmp_path / "images" / "curves" / "gone.svg").write_text("<svg/>\n")
    assert generate.stale(files) == ["a.md", "images/curves/gone.svg"]
    generate.write(files, generate.stale(files))
    assert generate.stale(files) == []


def test_every_pattern_has_a_figure_of_a_run_that_shows_it() -> None:
    page = (ROOT / "docs" / "loss-curves.md").read_text(encoding="utf-8")
    wanted = {rule.slug for rule in rules.catalogue() if rule.family in ("LOS", "GEN", "LRS")}
    assert wanted == set(curves.figures())
    for slug in wanted:
        assert f"(images/curves/{slug}.svg)" in page
        assert curves.seen(slug).status == "fired"


@cache  # the pages of rules and causes have hundreds of links to each other
def anchors(path: Path) -> set[str]:
    """The heading anchors of a page, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for target in targets:
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@pytest.fixture(scope="module")
def runs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the logs that the examples speak of."""
    folder = tmp_path_factory.mktemp("library")
    for name, fault in (("exp1", "learning-rate-too-high"), ("exp2", "healthy")):
        (folder / "runs" / name).mkdir(parents=True)
        train(FAULTS[fault].recipe, folder / "runs" / name / "metrics.csv", 0, lambda step: None)
    return folder


@pytest.mark.parametrize("page", ["docs/library.md", "README.md"])
def test_code_runs(page: str, runs_folder: Path) -> None:
    blocks = code_blocks((ROOT / page).read_text(encoding="utf-8"), "python")
    assert blocks
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        capture_output=True,
        text=True,
        cwd=runs_folder,
        env=environment(PYTHONWARNINGS="default"),
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr


def test_the_example_runs(runs_folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "sweep.py"), "runs"],
        capture_output=True,
        text=True,
        cwd=runs_folder,
        env=environment(),
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert "exp1" in lines[0]
    assert lines[1].startswith("healthy")


def test_settings_shown_are_valid() -> None:
    for text in (
        command_line.settings(),
        *code_blocks((ROOT / "docs" / "thresholds.md").read_text(), "toml"),
    ):
        shown = config.parse(tomllib.loads(text)["tool"]["traindx"], "the example")
        assert pipeline.select(rules.catalogue(), shown)


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    """Its numbers may differ between machines (the training diverges); findings and cause may not."""
    done = traindx("demo", "--format", "json", cwd=tmp_path)
    run = json.loads(done.out)["runs"][0]
    block = README.split("<!-- demo")[1].split("<!-- /demo -->")[0]
    assert "$ traindx demo\n" in block
    assert run["hypotheses"][0]["title"] in block
    assert (
        run["hypotheses"][0]["fixes"][0]["change"].split(" from ")[0].lower()
        in " ".join(block.split()).lower()
    )
    assert run["hypotheses"][0]["cause"] == "learning-rate-too-high"
    assert "put learning-rate-too-high first" in " ".join(block.split())
    assert (ROOT / "docs" / "images" / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_the_readme_has_two_commands_on_its_first_screen() -> None:
    first = README.split("\n## ")[0]
    plain = [block.strip() for block in code_blocks(first, "") if not block.startswith("$")]
    assert plain == [
        "pip install . && traindx demo",
        "pip install -c constraints.txt '.[test]' && python -m pytest",
    ]
    assert "docs/images/demo.png" in first
    assert (
        "grep -m1 -E '^pip install -c constraints.txt .*pytest' README.md"
        in (ROOT / ".ci" / "run").read_text()
    )


def test_every_promise_names_a_test() -> None:
    promised = re.findall(r"`(test_\w+)`", (ROOT / "docs" / "safety.md").read_text(encoding="utf-8"))
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(promised) > 20
    assert [name for name in promised if f"def {name}(" not in sources] == []


def test_every_verb_is_documented() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert all(f"## traindx {verb}\n" in page for verb in VERBS)


def test_the_constraints_cover_what_the_project_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [
        *project["dependencies"],
        *(d for extra in project["optional-dependencies"].values() for d in extra),
    ]
    pinned = {
        line.split("==")[0].lower()
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    missing = {re.split(r"[<>=!~\[;@ ]", name)[0].lower() for name in named} - pinned - {"traindx"}
    assert missing == set()

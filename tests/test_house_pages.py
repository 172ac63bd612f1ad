"""What a newcomer finds first: the index of the docs, the hosted workflow, the release number."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import traindx

ROOT = Path(__file__).parents[1]
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_index_of_the_docs_names_every_page_once_with_a_sentence() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md")
    listed = re.findall(r"^- \[[^]]+\]\(([^/)]+\.md)\): \S.*[.]$", index, re.MULTILINE)
    assert sorted(listed) == pages, (
        "docs/README.md needs one line per page: `- [Title](page.md): one sentence.`"
    )


def test_the_hosted_workflow_runs_every_stage() -> None:
    stages = re.search(r"^stages=\((.*)\)$", CI, re.MULTILINE)
    matrix = re.search(
        r"stage: \[(.*)\]", (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    )
    assert stages is not None
    assert matrix is not None
    assert matrix[1].split(", ") == stages[1].split()


def test_a_stage_that_does_not_exist_is_refused() -> None:
    done = subprocess.run([ROOT / ".ci" / "run", "test"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("no stage test; there are: tests lint torch ")


def test_the_files_that_a_stage_names_exist() -> None:
    named = re.findall(r"tests/[\w/]*(?:\{[\w,]+\}|\w+)(?:\.py)?", CI)
    assert len(named) >= 5
    for pattern in named:
        before, _, rest = pattern.partition("{")
        listed, _, after = rest.partition("}")
        for name in listed.split(","):
            assert (ROOT / f"{before}{name}{after}").exists(), pattern


def test_the_version_is_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    home = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert f'VERSION = "{traindx.__version__}"' in home.read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changes.index("\n## [Unreleased]\n") < changes.index(f"\n## [{traindx.__version__}]")

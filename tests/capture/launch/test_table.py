"""The committed table of what is recovered names every script, and nothing in it is amiss."""

from __future__ import annotations

from tests.capture.launch.launching import SCRIPTS
from tests.capture.launch.styles import STYLES
from tests.capture.launch.styles_frameworks import FRAMEWORKS
from tests.capture.launch.table import HEAD, PAGE, SCRIPTED, TAIL

WITHOUT_TRAINING = {"inference_only", "no_torch", "exits_mid_step"}
WITHOUT_TRUTH = {"autograd_grad", "pretend_accelerator", "two_shards"}  # other tests know what is in them


def test_every_script_has_a_style() -> None:
    names = {path.stem for path in SCRIPTS.glob("*.py")} | {path.name for path in SCRIPTS.glob("package_*")}
    assert names - WITHOUT_TRAINING - WITHOUT_TRUTH == set(STYLES)
    assert len(STYLES) >= 25
    assert {p.stem for p in (SCRIPTS / "frameworks").glob("*.py")} == {
        s.script or n for n, s in FRAMEWORKS.items()
    }


def test_the_table_is_complete() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(HEAD)
    assert text.endswith(TAIL)
    rows = text.removeprefix(HEAD).removesuffix(TAIL).splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [(row[0], row[1].strip("`")) for row in cells] == [
        (s.title, s.script or n) for n, s in SCRIPTED.items()
    ]
    for row in cells:
        assert row[2] == "exact", row
        assert row[3] in ("exact", "-"), row
        assert "missing" not in row[4], row
        assert "None" not in row[5], row

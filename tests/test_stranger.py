"""A stranger extends traindx: one of each kind, by the table of docs/architecture.md, in a copy of the repository.

What the table says is enough is done and no more: new files (tests/stranger/<kind>), lines in existing files
(tests/stranger/kinds.py), `python -m docs.generate`, and the named tests. They must pass, and the new thing must be
used. Then each step is left out, and a test must say in one sentence which file to write."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.stranger.kinds import KINDS, REGENERATE, Kind, Omitted

ROOT = Path(__file__).parents[1]
TEMPLATES = ROOT / "tests/stranger"
TOPS = (".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "benchmarks", "constraints.txt", "docs", "examples",
        "pyproject.toml", "tests", "traindx")  # fmt: skip
LIMIT = 240  # seconds
needs_torch = pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="needs PyTorch")
OMITTED = [(kind, step) for kind in KINDS for step in kind.omitted]


def python(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(repository),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "200",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def run_pytest(repository: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    return python(repository, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests)


def insert(repository: Path, kind: Kind) -> None:
    """Add the kind's lines to files that exist."""
    for path, anchor, text in kind.lines:
        file = repository / path
        before = file.read_text(encoding="utf-8")
        assert anchor in before, f"tests/stranger/kinds.py: {path} has no {anchor!r} any more"
        file.write_text(before.replace(anchor, text + anchor, 1), encoding="utf-8")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with one of each kind added."""
    copy = tmp_path_factory.mktemp("repository")
    for top in TOPS:
        ignored = shutil.ignore_patterns("__pycache__", ".*_cache", "stranger")
        if (ROOT / top).is_dir():
            shutil.copytree(ROOT / top, copy / top, ignore=ignored)
        elif (ROOT / top).exists():
            shutil.copy(ROOT / top, copy / top)
    for kind in KINDS:
        if (TEMPLATES / kind.name).is_dir():
            shutil.copytree(TEMPLATES / kind.name, copy, dirs_exist_ok=True)
        insert(copy, kind)
    done = python(copy, "-m", "docs.generate")
    assert done.returncode == 0, done.stdout + done.stderr
    return copy


def test_what_the_table_says_is_enough(repository: Path) -> None:
    tests = {test: None for kind in KINDS for test in kind.tests}  # each once, in order
    done = run_pytest(repository, *tests, "tests/test_docs.py::test_generated_pages_are_up_to_date")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@needs_torch
def test_what_the_table_says_is_enough_in_pytorch(repository: Path) -> None:
    done = run_pytest(repository, *(test for kind in KINDS for test in kind.torch_tests))
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


@contextmanager
def left_out(repository: Path, kind: Kind, step: Omitted) -> Iterator[None]:
    """A step is not made: a new file is missing, an existing one or an index is as it was."""
    file = repository / step.path
    with_it = file.read_bytes()
    if step.sentence == REGENERATE or any(line.path == step.path for line in kind.lines):
        shutil.copy(ROOT / step.path, file)
    else:
        file.unlink()
    try:
        yield
    finally:
        file.write_bytes(with_it)


@pytest.mark.parametrize(
    ("kind", "step"), OMITTED, ids=[f"{kind.name}-{Path(s.path).name}" for kind, s in OMITTED]
)
def test_a_step_that_is_left_out_is_named(repository: Path, kind: Kind, step: Omitted) -> None:
    if kind.name == "edit":
        pytest.importorskip("libcst")
    with left_out(repository, kind, step):
        done = run_pytest(repository, step.test)
    said = " ".join(
        line.removeprefix("E").strip() for line in done.stdout.splitlines() if line.startswith("E")
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert step.sentence in said


def test_the_rule_fires_on_a_log(repository: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("step,loss\n" + "".join(f"{i},0.25\n" for i in range(60)))
    done = python(repository, "-m", "traindx", "diagnose", str(log), "--full")
    assert "LOS099" in done.stdout
    assert "train/loss is exactly 0.25 in 100 % of the run" in done.stdout


def test_the_log_is_found_in_a_folder(repository: Path, tmp_path: Path) -> None:
    shutil.copy(repository / "tests/logs/toy/run.toylog", tmp_path)
    done = python(repository, "-m", "traindx", "diagnose", str(tmp_path), "--format", "json")
    assert '"toy-log"' in done.stdout, done.stderr


def test_the_report_format_is_written_or_refused(repository: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("step,loss\n" + "".join(f"{i},0.25\n" for i in range(60)))
    done = python(repository, "-m", "traindx", "diagnose", str(log), "--format", "csv")
    assert done.stdout.splitlines()[0] == "finding"
    assert "loss-repeats-one-value" in done.stdout.splitlines()
    other = shutil.copy(log, tmp_path / "other.csv")
    compared = python(repository, "-m", "traindx", "compare", str(log), str(other), "--format", "csv")
    assert "--format csv: this document has no such form; it has text, json" in compared.stderr


def test_the_channel_gets_the_alert(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KEEP", f"keep:{tmp_path / 'alerts.txt'}")
    log = tmp_path / "log.csv"
    log.write_text("step,loss\n" + "".join(f"{i},nan\n" for i in range(60)))
    done = python(repository, "-m", "traindx", "watch", str(log), "--once", "--notify", "$KEEP")
    assert done.returncode == 1, done.stderr
    assert "CRITICAL: train/loss is NaN" in (tmp_path / "alerts.txt").read_text()


def test_the_verb_is_listed_and_runs(repository: Path) -> None:
    assert "Say hello to whoever" in python(repository, "-m", "traindx", "--help").stdout
    assert python(repository, "-m", "traindx", "hello").stdout == "hello\n"


def test_cause_fix_and_pages(repository: Path) -> None:
    for slug in ("placeholder-loss", "write-real-losses", "loss-repeats-one-value"):
        done = python(repository, "-m", "traindx", "explain", slug)
        assert done.returncode == 0, done.stderr
    pages = {
        "signals": "weight_sparsity/<module>", "frameworks": "`output_scale/<module>`",
        "interventions": "### gradient_sign", "rules": "LOS099",
        "causes": "placeholder-loss", "fixes": "write-real-losses", "cli": "traindx hello",
    }  # fmt: skip
    for page, words in pages.items():
        assert words in (repository / f"docs/{page}.md").read_text(encoding="utf-8"), page


def test_the_framework_is_recorded(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "toylib.py").write_text("def after_round(number, loss):\n    pass\n")
    script = tmp_path / "train.py"
    script.write_text("import toylib\n\nfor i in range(40):\n    toylib.after_round(i, 2.0 / (i + 1))\n")
    record = tmp_path / "record"
    done = python(
        repository,
        "-m",
        "traindx",
        "run",
        "--in-place",
        "--out",
        str(record),
        "--",
        sys.executable,
        str(script),
    )
    assert record.is_dir(), done.stderr
    read = python(
        repository,
        "-c",
        f"import traindx; print(len(traindx.read({str(record)!r}).series['train/loss'].values))",
    )
    assert read.stdout == "40\n", read.stderr + done.stderr


@needs_torch
def test_the_signals_are_recorded(repository: Path, tmp_path: Path) -> None:
    script = f"""
import torch, traindx
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with traindx.watch(model, optimizer, out={str(tmp_path / "record")!r}, every=1) as watch:
    for _ in range(12):
        optimizer.zero_grad()
        loss = model(torch.randn(8, 4)).square().mean()
        loss.backward()
        watch.log(loss=loss)
        optimizer.step()
print(*traindx.read({str(tmp_path / "record")!r}).panels)
"""
    done = python(repository, "-c", script)
    assert {"weight_sparsity", "output_scale"} <= set(done.stdout.split()), done.stderr

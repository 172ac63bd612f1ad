"""The command itself: overview, version, wrong verbs, and what happens when traindx has a bug."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

import traindx as package
import traindx.cli.verbs as verbs
from tests.cli.logs import healthy_log
from tests.cli.process import LIMIT, environment, traindx
from traindx.cli.main import VERBS, cli


def test_version(tmp_path: Path) -> None:
    assert traindx("--version", cwd=tmp_path) == (0, f"traindx {package.__version__}\n", "")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_overview_names_every_verb(tmp_path: Path, option: str) -> None:
    done = traindx(option, cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    for verb, words in VERBS.items():
        assert f"  {verb} " in done.out
        assert words in done.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(tmp_path: Path, verb: str) -> None:
    done = traindx(verb, "--help", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert "Examples:" in done.out
    assert f"  traindx {verb}" in done.out
    assert traindx(verb, "-h", cwd=tmp_path) == done


@pytest.mark.parametrize("verb", VERBS)
def test_the_overview_says_what_the_verb_says(verb: str) -> None:
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    assert (command.help or "").split("\n\n")[0] == VERBS[verb]


def test_every_verb_is_listed() -> None:
    """`traindx --help` imports no verb, so VERBS repeats the first line of each."""
    found = set()
    for info in pkgutil.walk_packages(verbs.__path__, f"{verbs.__name__}."):
        name = info.name.rpartition(".")[2]
        command = getattr(importlib.import_module(info.name), name, None)
        if isinstance(command, click.Command) and name != "cli":
            verb = name.replace("_", "-")
            words = (command.help or "").split("\n\n")[0]
            assert verb in VERBS, f'add "{verb}": "{words}" to VERBS in traindx/cli/main.py'
            found.add(verb)
    assert found == set(VERBS)


def test_no_arguments_prints_the_overview_on_stderr(tmp_path: Path) -> None:
    done = traindx(cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "diagnose" in done.err


def test_wrong_verbs(tmp_path: Path) -> None:
    log = healthy_log(tmp_path)
    for arguments, said in (
        (["diagose"], "did you mean 'diagnose'?"),
        ([str(log)], f"traindx diagnose {log}"),
        (["zzz"], "verbs are diagnose, "),
        (["--frobnicate"], "--frobnicate"),
    ):
        done = traindx(*arguments, cwd=tmp_path)
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("traindx: error: ")
        assert said in done.err


def test_a_name_with_escapes_does_not_act_on_the_terminal(tmp_path: Path) -> None:
    done = traindx("diagnose", "\x1b[2Jabsent\x07.csv", cwd=tmp_path)
    assert done.status == 2
    assert "\x1b" not in done.err
    assert "\x07" not in done.err


RULE_WITH_A_BUG = """
from traindx.vocabulary.rule import rule

@rule(code="XXX001", needs=("objective",), min_points=1, severity="low", message="")
def always_fails(run, features):
    raise ZeroDivisionError("division by zero")
    yield
"""


def test_a_bug_is_one_line_and_its_traceback_only_on_request(tmp_path: Path) -> None:
    """A rule from another package (found by its entry point) that raises: the loudest kind of bug there is."""
    (tmp_path / "buggy.py").write_text(RULE_WITH_A_BUG)
    info = tmp_path / "buggy-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: buggy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[traindx.rules]\nbuggy = buggy:always_fails\n")
    command = [sys.executable, "-m", "traindx.cli.main", "diagnose", str(healthy_log(tmp_path))]

    def stderr(**variables: str) -> str:
        env = environment(PYTHONPATH=str(tmp_path), **variables)
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=env, timeout=LIMIT)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr

    quiet = stderr()
    assert quiet.startswith(
        "traindx: error: a bug in traindx, sorry: ZeroDivisionError: division by zero (at buggy.py:6)."
    )
    assert quiet.count("\n") == 1
    assert "Traceback" in stderr(TRAINDX_DEBUG="1")


def test_the_installed_script_is_this_command() -> None:
    root = Path(__file__).parents[2]
    scripts = tomllib.loads((root / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"traindx": "traindx.__main__:main"}

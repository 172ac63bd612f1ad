"""Settings: where they are found, what they may hold, and what is said about mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from traindx.config import Config, checked_facts, fact_types, find, load, parse
from traindx.errors import ConfigError
from traindx.vocabulary.setup import FACT_FIELDS, Setup
from traindx.vocabulary.signals import SIGNALS


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_setting_is_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "traindx.toml",
        """
        select = ["LOS", "validation-gap-grows"]
        ignore = ["LOS004"]
        severity = "high"
        thresholds.loss-plateaus.window = 0.4
        aliases = { "train/loss" = "my_loss", "val/dice" = "d" }
        facts = { optimizer = "adam", classes = 10, lr = 1e-3, team = "vision" }
        """,
    )
    assert load(path) == Config(
        select=("LOS", "validation-gap-grows"),
        ignore=("LOS004",),
        severity="high",
        thresholds={"loss-plateaus": {"window": 0.4}},
        aliases={"train/loss": "my_loss", "val/dice": "d"},
        facts={"optimizer": "adam", "classes": 10, "lr": 1e-3, "team": "vision"},
    )


def test_nearest_file_wins_and_foreign_pyproject_is_passed_over(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    outer = written(tmp_path, "pyproject.toml", "[tool.traindx]\nseverity = 'low'\n")
    written(tmp_path / "a", "pyproject.toml", "[tool.other]\nx = 1\n")
    assert find(inner) == outer
    assert load(outer).severity == "low"
    nearer = written(tmp_path / "a", "traindx.toml", "")
    assert find(inner) == nearer
    assert load(nearer) == Config()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("selct = ['LOS']", "unknown setting 'selct'; did you mean 'select'?"),
        ("select = 'LOS'", "select must be a list of strings"),
        ("severity = 'hihg'", "did you mean 'high'?"),
        ("thresholds.loss-plateaus = 3", "thresholds.loss-plateaus must be a table"),
        ("thresholds.loss-plateaus.window = 'x'", "thresholds.loss-plateaus.window must be a number"),
        ("thresholds.loss-plateaus.window = nan", "must be a number"),
        ("thresholds.loss-plateaus.window = true", "must be a number"),
        (
            "aliases = { loss = 'my_loss' }",
            "'loss' is not a signal (see docs/signals.md); did you mean 'train/loss'?",
        ),
        ("aliases = { 'train/loss' = 3 }", "must name a column or tag"),
        ("facts = { batch_sise = 3 }", "unknown fact 'batch_sise'; did you mean 'batch_size'?"),
        ("facts = { classes = 2.5 }", "classes must be a whole number"),
        ("facts = { lr = 'fast' }", "lr must be a number"),
        ("facts = { lr = true }", "lr must be a number"),
        (f"facts = {{ lr = {10**400} }}", "lr must be a number"),
        (f"thresholds.loss-plateaus.window = {10**400}", "must be a number"),
        ("facts = { team = [1] }", "must be text, a number or true/false"),
        ("select = [", "is not valid TOML"),
    ],
)
def test_mistakes_name_the_file_and_the_key(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, "traindx.toml", text)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "absent.toml")
    with pytest.raises(ConfigError, match=r"no \[tool.traindx\] table"):
        load(written(tmp_path, "pyproject.toml", "[tool]\n"))
    binary = tmp_path / "traindx.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load(binary)


def test_command_line_replaces_lists_and_adds_to_tables() -> None:
    base = parse(
        {"select": ["LOS"], "ignore": ["GEN"], "aliases": {"lr": "a"}, "facts": {"lr": 1.0}}, "here"
    )
    changed = base.override(select=["GEN"], severity="low", aliases={"val/loss": "v"}, facts={"lr": "0.1"})
    assert changed.select == ("GEN",)
    assert changed.ignore == ("GEN",)
    assert changed.severity == "low"
    assert changed.aliases == {"lr": "a", "val/loss": "v"}
    assert changed.facts == {"lr": 0.1}
    assert base.override() == base


def test_facts_take_the_type_of_their_field() -> None:
    given = {
        "learning-rate": "1e-3",
        "classes": "10",
        "dataset_size": "50_000",
        "optimizer": "sgd",
        "amp": "true",
    }
    assert checked_facts(given, "--fact") == {
        "lr": 1e-3,
        "classes": 10,
        "dataset_size": 50_000.0,
        "optimizer": "sgd",
        "amp": True,
    }
    assert set(fact_types()) == FACT_FIELDS
    assert set(fact_types().values()) <= {str, float, int}
    assert Setup().with_facts(checked_facts(given, "--fact"), "user").classes == 10


def test_every_documented_signal_can_be_an_alias() -> None:
    names = [kind.name.replace("<", "").replace(">", "") for kind in SIGNALS]
    assert parse({"aliases": dict.fromkeys(names, "x")}, "here").aliases == dict.fromkeys(names, "x")


@pytest.mark.parametrize("text", ["#" * (2 << 20), "x = " + "[" * 5000])
def test_a_huge_or_deep_settings_file_is_an_error_with_its_place(text: str, tmp_path: Path) -> None:
    (tmp_path / "traindx.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"traindx\.toml: is"):
        load(tmp_path / "traindx.toml")

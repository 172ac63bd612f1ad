"""`traindx gradients` and `traindx activations` as processes, on stores written after docs/store.md."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.captured import captured
from tests.cli.logs import healthy_log
from tests.cli.process import at_terminal, traindx
from tests.readers.writers.store import Row, write_setup, write_stream

CLOCK = 1.7e9


def stored(folder: Path, name: str, *, panels: str = "") -> Path:
    """The recorded training `name` as a store; `panels` keeps those whose names begin so."""
    run = captured(name)
    rows: list[Row] = [
        (int(step), CLOCK + step, signal, (), (float(value),))
        for signal, series in run.series.items()
        for step, value in zip(series.steps, series.values, strict=True)
    ]
    for signal, panel in run.panels.items():
        if signal.startswith(panels):
            rows += [
                (int(step), CLOCK + step, signal, panel.modules, tuple(map(float, values)))
                for step, values in zip(panel.steps, panel.values, strict=True)
            ]
    folder.mkdir(parents=True)
    write_setup(folder, framework="torch", facts={})
    write_stream(folder, [sorted(rows, key=lambda row: row[0])])
    return folder


def test_a_sick_run_ends_with_status_1(tmp_path: Path) -> None:
    stored(tmp_path / "deep", "deep_sigmoid")
    done = traindx("gradients", "deep", cwd=tmp_path)
    assert (done.status, done.err) == (1, "")
    assert done.out.startswith("Gradients by module of ")
    assert "vanishing" in done.out
    assert "gradients-vanish-with-depth" in done.out
    assert traindx("gradients", "deep", "--severity", "critical", cwd=tmp_path).status == 0


@pytest.mark.parametrize("verb", ["gradients", "activations"])
def test_a_healthy_run_ends_with_status_0(tmp_path: Path, verb: str) -> None:
    done = traindx(verb, stored(tmp_path / "fine", "healthy"), cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert "The run learns." in done.out
    assert f"nothing about {verb}" in done.out


def test_activations_of_a_net_with_dead_units(tmp_path: Path) -> None:
    done = traindx("activations", stored(tmp_path / "dead", "dead_bias"), "-f", "json", cwd=tmp_path)
    run = json.loads(done.out)["runs"][0]
    assert done.status == 1
    assert run["findings"][0]["slug"] == "relu-units-dead"
    (silent,) = (row for row in run["rows"] if row["module"] == "1")
    assert "silent" in {flag["word"] for flag in silent["flags"]}
    assert silent["silent"] >= run["limits"]["silent"]


@pytest.mark.parametrize(("suffix", "begins"), [("json", "{"), ("md", "## "), ("txt", "Gradients")])
def test_output_by_suffix(tmp_path: Path, suffix: str, begins: str) -> None:
    store = stored(tmp_path / "run", "healthy")
    done = traindx("gradients", store, "-o", f"table.{suffix}", cwd=tmp_path)
    assert (done.status, done.out, done.err) == (0, "", "")
    assert (tmp_path / f"table.{suffix}").read_text().startswith(begins)


@pytest.mark.parametrize(
    ("verb", "name"), [("gradients", "gradient_flow.png"), ("activations", "activations.png")]
)
def test_figures(tmp_path: Path, verb: str, name: str) -> None:
    store = stored(tmp_path / "run", "healthy")
    done = traindx(verb, store, "--figures", "a/b", cwd=tmp_path)
    assert done.status == 0
    assert (tmp_path / "a" / "b" / name).read_bytes().startswith(b"\x89PNG")
    assert name in done.err
    (tmp_path / "file").write_text("")
    refused = traindx(verb, store, "--figures", "file", cwd=tmp_path)
    assert refused.status == 2
    assert "--figures file" in refused.err


def test_colour_and_width_of_a_terminal(tmp_path: Path) -> None:
    store = stored(tmp_path / "run", "deep_sigmoid")
    shown = at_terminal(["gradients", store], cwd=tmp_path, env={"COLUMNS": "80"})
    assert "\x1b[33mvanishing" in shown.out
    plain = traindx("gradients", store, cwd=tmp_path, env={"COLUMNS": "80"}).out
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 80
    assert "\x1b" not in at_terminal(["gradients", store, "--no-color"], cwd=tmp_path).out


def test_a_log_without_modules_says_what_to_do(tmp_path: Path) -> None:
    log = healthy_log(tmp_path)
    for verb in ("gradients", "activations"):
        done = traindx(verb, log, cwd=tmp_path)
        assert (done.status, done.out) == (2, "")
        assert done.err.count("\n") == 1
        assert f"no {verb} by module" in done.err
        assert "traindx run -- python train.py" in done.err


def test_a_store_with_one_kind_names_the_other_verb(tmp_path: Path) -> None:
    stored(tmp_path / "run", "healthy", panels="grad")
    done = traindx("activations", "run", cwd=tmp_path)
    assert done.status == 2
    assert "traindx gradients run" in done.err


def test_bad_input(tmp_path: Path) -> None:
    assert "absent" in traindx("gradients", "absent", cwd=tmp_path).err
    store = stored(tmp_path / "run", "healthy")
    page = traindx("gradients", store, "-o", "table.html", cwd=tmp_path)
    assert (page.status, page.out) == (2, "")
    assert "no HTML form" in page.err
    assert traindx("gradients", store, "-f", "html", cwd=tmp_path).status == 2
    assert traindx("gradients", cwd=tmp_path).status == 2


def test_thresholds_of_the_settings_move_the_flags(tmp_path: Path) -> None:
    store = stored(tmp_path / "run", "healthy")
    low = float(np.max(captured("healthy").panels["update_ratio"].values))
    (tmp_path / "traindx.toml").write_text(f"thresholds.updates-too-small.ratio = {2 * low}\n")
    done = traindx("gradients", store, cwd=tmp_path)
    assert done.out.count("small steps") == 2
    assert done.status == 0  # the rule asks whether the run learns

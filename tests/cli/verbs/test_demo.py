"""`traindx demo`: the nets are really trained, and what is said at the end is true."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests import make
from tests.cli.process import at_terminal, traindx
from traindx.cli.demo_network import CLASSES, FAULTS, Recipe, forward, gradients_of, make_data, train

# Faults that a log shows plainly. The others look like several things from outside: the demo then says at
# which rank the truth was.
PLAIN = ("learning-rate-too-high", "overfitting", "corrupt-samples", "healthy")


def trained(fault: str, folder: Path) -> dict[str, list[float]]:
    log = folder / "metrics.csv"
    seen: list[int] = []
    train(FAULTS[fault].recipe, log, 0, seen.append)
    with log.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["step"]) for row in rows] == seen
    return {name: [float(row[name]) for row in rows if row[name]] for name in rows[0]}


def test_backpropagation_against_finite_differences() -> None:
    rng = make.rng(0)
    layers = [(rng.normal(0, 1, (a, b)), rng.normal(0, 1, b)) for a, b in ((16, 7), (7, 5), (5, CLASSES))]
    data = make_data(Recipe(samples=12), rng)
    _, _, gradients = gradients_of(layers, data.inputs, data.labels)
    for layer, gradient in zip(layers, gradients, strict=True):
        for parameter, slope in zip(layer, gradient, strict=True):
            place = tuple(int(rng.integers(n)) for n in parameter.shape)
            there, width = parameter[place], 1e-6
            losses = []
            for value in (there + width, there - width):
                parameter[place] = value
                losses.append(gradients_of(layers, data.inputs, data.labels)[0])
            parameter[place] = there
            assert slope[place] == pytest.approx((losses[0] - losses[1]) / (2 * width), rel=1e-5, abs=1e-8)


def test_the_healthy_net_learns(tmp_path: Path) -> None:
    log = trained("healthy", tmp_path)
    assert log["train_loss"][0] > 2.0
    assert np.mean(log["val_loss"][-5:]) < 0.4
    assert min(log["val_accuracy"][-5:]) > 0.85


def test_each_fault_does_what_it_says(tmp_path: Path) -> None:
    chance = math.log(CLASSES)
    high = trained("learning-rate-too-high", tmp_path)
    assert min(high["train_loss"]) < 0.7
    assert np.mean(high["train_loss"][-20:]) > chance - 0.1
    low = trained("learning-rate-too-low", tmp_path)
    assert np.mean(low["train_loss"][-20:]) > 2.3
    over = trained("overfitting", tmp_path)
    assert over["train_loss"][-1] < 0.01
    assert over["val_loss"][-1] > min(over["val_loss"]) * 1.2
    dead = trained("dead-relus", tmp_path)
    assert np.mean(dead["val_loss"]) == pytest.approx(chance, abs=0.02)
    corrupt = trained("corrupt-samples", tmp_path)
    assert corrupt["train_loss"][5] < 2.0
    assert math.isnan(corrupt["train_loss"][-1])
    assert trained("unshuffled-data", tmp_path)["val_accuracy"][-1] < 0.5


def test_dead_units_are_dead() -> None:
    data = make_data(Recipe(), make.rng(0))
    layers = [(make.rng(1).normal(0, 0.35, (16, 64)), np.full(64, FAULTS["dead-relus"].recipe.hidden_bias))]
    layers.append((np.zeros((64, CLASSES)), np.zeros(CLASSES)))
    assert not forward(layers, data.inputs)[1].any()


def test_demo_prints_the_report_and_the_true_cause(tmp_path: Path) -> None:
    done = traindx("demo", cwd=tmp_path)
    assert done.status == 0
    assert "learning rate is too high" in done.out
    assert "What was wrong: the learning rate rises to 3.0" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_the_closing_line_follows_the_document(tmp_path: Path, fault: str) -> None:
    done = traindx("demo", "--fault", fault, "-f", "json", cwd=tmp_path)
    ranked = [h["cause"] for h in json.loads(done.out)["runs"][0]["hypotheses"]]
    ranks = [ranked.index(cause) + 1 for cause in FAULTS[fault].causes if cause in ranked]
    assert FAULTS[fault].truth in done.err
    if not ranks:
        assert fault not in PLAIN
        assert "The diagnosis missed it." in done.err
        return
    assert f"put {ranked[0]} first (" in done.err
    assert ("at rank" in done.err) == (min(ranks) > 1)
    if fault in PLAIN:
        assert min(ranks) <= 3


def test_the_log_can_be_kept_and_diagnosed_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    first = json.loads(traindx("demo", "--out", kept, "-f", "json", cwd=tmp_path).out)["runs"][0]
    again = json.loads(traindx("diagnose", kept, "-f", "json", cwd=tmp_path).out)["runs"][0]
    assert first["findings"] == again["findings"]
    other = json.loads(traindx("demo", "--seed", "1", "-f", "json", cwd=tmp_path).out)["runs"][0]
    assert first["findings"] != other["findings"]


def test_progress_is_shown_at_a_terminal_only(tmp_path: Path) -> None:
    assert "\x1b[" in at_terminal(["demo", "--no-color"], cwd=tmp_path).out
    assert "\x1b[" not in traindx("demo", cwd=tmp_path).err
    assert traindx("demo", "--quiet", cwd=tmp_path).err == ""


def test_wrong_options(tmp_path: Path) -> None:
    assert "is not one of" in traindx("demo", "--fault", "gremlins", cwd=tmp_path).err
    (tmp_path / "file").write_text("")
    done = traindx("demo", "--out", tmp_path / "file" / "below", cwd=tmp_path)
    assert done.status == 2
    assert "cannot be made" in done.err

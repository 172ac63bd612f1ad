"""Logs with a gradient norm or a share of dead units of every layer: vanishing, imbalance and dead units are named,
and a net that learns is left alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.requirements.logs import FALLING, NOISE, STEPS, by_slug, said, said_of_table
from traindx import pipeline

FLAT = np.full(STEPS, 2.3026) + 0.002 * NOISE
WOBBLE = 1 + 0.2 * np.abs(NOISE)


def layers(name: str, levels: np.ndarray) -> dict[str, np.ndarray]:
    return {name.format(i): level * WOBBLE for i, level in enumerate(levels)}


@pytest.mark.parametrize(
    "name", ["grad_norm/layers.{}", "layer{}_grad_norm", "gradients/fc{}/norm", "grad_conv{}"]
)
def test_a_gradient_that_vanishes_with_depth_is_the_first_sentence(name: str, tmp_path: Path) -> None:
    run = said_of_table(tmp_path, loss=FLAT, **layers(name, 10.0 ** np.arange(-10, -1, 2)))
    assert "gradients-vanish-with-depth" in by_slug(run)
    assert "vanishes with depth" in run.decision.reason
    assert run.hypotheses[0].cause in ("bad-initialization", "deep-without-skips", "saturating-activations")


def test_in_a_text_log_as_well(tmp_path: Path) -> None:
    run = said(tmp_path, loss=FLAT, **layers("layer{}_grad_norm", 10.0 ** np.arange(-10, -1, 2)))
    assert "gradients-vanish-with-depth" in by_slug(run)


def test_a_net_that_learns_is_left_alone_with_the_same_gradients(tmp_path: Path) -> None:
    run = said_of_table(
        tmp_path, loss=FALLING, **layers("grad_norm/layers.{}", 10.0 ** np.arange(-10, -1, 2))
    )
    assert run.health == "healthy"
    assert "gradients-vanish-with-depth" not in by_slug(run)


def test_gradients_of_one_size_do_not_vanish(tmp_path: Path) -> None:
    run = said_of_table(
        tmp_path, loss=FLAT, **layers("grad_norm/layers.{}", np.array([0.1, 0.2, 0.3, 0.2, 0.3]))
    )
    assert "gradients-vanish-with-depth" not in by_slug(run)


def test_dead_units_by_layer_are_the_cause(tmp_path: Path) -> None:
    dead = {f"dead_relu_frac/layer{i}": np.minimum(1, 0.3 * i + np.arange(STEPS) / 100) for i in range(3)}
    run = said_of_table(tmp_path, loss=FLAT, **dead)
    assert run.hypotheses[0].cause == "dead-relus"
    assert "units" in run.decision.reason


def printed(levels: np.ndarray, heading: str) -> str:
    """What a loop over the parameters prints, once, with the biases between the weights."""
    lines = [f"fc{i}.weight: {level:.3g}\nfc{i}.bias: {level / 3:.3g}" for i, level in enumerate(levels)]
    return "\n".join([heading, *lines, ""])


SHRINKING = 10.0 ** np.arange(-10, -1, 2)


def test_a_printed_list_of_gradients_is_read(tmp_path: Path) -> None:
    text = printed(SHRINKING, "gradient norms of a net with five tanh layers")
    (tmp_path / "a.log").write_text(text + "\nloss 2.3025\n")
    run = pipeline.diagnose(pipeline.read_all(tmp_path / "a.log")).first
    assert by_slug(run)["gradients-vanish-with-depth"].severity == "medium"


@pytest.mark.parametrize(
    ("heading", "levels"),
    [("weight norms", SHRINKING), ("gradient norms", np.array([0.02, 0.1, 0.3, 0.2, 0.9]))],
)
def test_lists_of_other_numbers_and_of_healthy_gradients_are_not_reported(
    heading: str, levels: np.ndarray, tmp_path: Path
) -> None:
    (tmp_path / "a.log").write_text(printed(levels, heading) + "\nloss 2.3025\n")
    run = pipeline.diagnose(pipeline.read_all(tmp_path / "a.log")).first
    assert "gradients-vanish-with-depth" not in by_slug(run)


@pytest.mark.parametrize(
    ("name", "levels", "scale"),
    [
        ("dead_relu_pct", np.linspace(30, 97, STEPS), 1.0),
        ("sat_frac/tanh1", np.full(STEPS, 0.93), 1.0),
        ("saturated_units", np.full(STEPS, 0.9), 1.0),
    ],
)
def test_one_share_of_units_is_enough(name: str, levels: np.ndarray, scale: float, tmp_path: Path) -> None:
    run = said_of_table(tmp_path, loss=FLAT, **{name: levels * scale})
    assert {"relu-units-dead", "activations-saturate"} & by_slug(run).keys()
    assert run.hypotheses[0].cause in ("dead-relus", "saturating-activations")


@pytest.mark.parametrize("name", ["dead_relu", "saturation", "sat/acc", "dead_letters"])
def test_what_is_no_share_of_units_is_none(name: str, tmp_path: Path) -> None:
    run = said_of_table(tmp_path, loss=FLAT, **{name: np.full(STEPS, 7.0)})
    assert not {"relu-units-dead", "activations-saturate"} & by_slug(run).keys()


def test_the_share_holds_for_each_layer_that_is_named(tmp_path: Path) -> None:
    dead = {f"dead_relu_frac/conv{i}": np.full(STEPS, share) for i, share in enumerate((0.1, 0.86, 0.97))}
    message = by_slug(said_of_table(tmp_path, loss=FLAT, **dead))["relu-units-dead"].message
    assert message.startswith("86 % or more of the units of conv1, conv2")

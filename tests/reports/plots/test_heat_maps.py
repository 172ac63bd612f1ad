"""Pictures of the inside of a model: a naive reading of the panel gives the same cells."""

from __future__ import annotations

import numpy as np

from tests.captured import captured
from traindx.reports.plots.heat_maps import COLUMNS, heat, heat_data, heat_maps
from traindx.vocabulary.run import Panel, Run


def panel(values: np.ndarray) -> Panel:
    steps, modules = np.arange(len(values), dtype=float), tuple(f"m{i}" for i in range(values.shape[1]))
    return Panel(steps, modules, values)


def test_cells_are_the_medians_of_their_steps() -> None:
    values = np.exp(np.random.default_rng(0).normal(size=(3 * COLUMNS, 4)))
    drawn = heat("norm", panel(values))
    assert drawn is not None
    assert drawn.levels.shape == (4, COLUMNS)
    for k in (0, 7, COLUMNS - 1):
        assert np.allclose(drawn.levels[:, k], np.log10(np.median(values[3 * k : 3 * k + 3], axis=0)))
    assert drawn.starts[7] == 21


def test_zeros_differ_from_what_was_not_measured() -> None:
    values = np.array([[0.0, np.nan, 1.0], [0.0, np.nan, 2.0]])
    drawn = heat("norm", panel(values))
    assert drawn is not None
    levels = heat_data(drawn)["levels"]
    assert isinstance(levels, list)
    assert [row[0] for row in levels] == ["0", None, 0]


def test_nothing_to_draw() -> None:
    assert heat("norm", panel(np.zeros((5, 3)))) is None
    assert heat("norm", panel(np.ones((1, 3)))) is None
    assert heat("norm", panel(np.ones((9, 1)))) is None
    assert heat_maps(Run(id="x", source="x", format="x")) == ()


def test_many_modules_are_thinned_evenly_and_said() -> None:
    drawn = heat("norm", panel(np.ones((5, 200))))
    assert drawn is not None
    assert drawn.modules[0] == "m0"
    assert drawn.modules[-1] == "m199"
    assert len(drawn.modules) + drawn.left == 200


def test_recordings_have_both() -> None:
    assert [drawn.title for drawn in heat_maps(captured("deep_sigmoid"))] == [
        "Gradient norm by module",
        "Update / weight by module",
    ]

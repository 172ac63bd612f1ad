"""Figures: what is drawn, that they are written whole, and that foreign text is only text."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.make import run
from tests.reports import made
from traindx.reports.figures import curves as figures
from traindx.reports.plots.curves import overlay_charts

PNG = b"\x89PNG\r\n\x1a\n"


def words(figure: Figure) -> list[str]:
    """All texts of a figure that are shown."""
    from matplotlib.text import Text

    return [
        t.get_text()
        for t in figure.findobj(Text)
        if isinstance(t, Text) and t.get_visible() and t.get_text()
    ]


def test_the_overview_shows_the_run() -> None:
    diagnosis, made_run = made.sick()
    figure = figures.overview(made_run, diagnosis)
    main, *small = [a for a in figure.axes if a.get_title(loc="left")]
    assert [a.get_title(loc="left") for a in (main, *small)] == [
        "train/loss", "Training against validation loss", "Learning rate and loss", "Gradient norm",
    ]  # fmt: skip
    raw = made_run.series["train/loss"]
    drawn = main.lines[0]
    assert np.array_equal(np.asarray(drawn.get_xdata()), raw.steps)
    assert np.array_equal(np.asarray(drawn.get_ydata()), raw.values, equal_nan=True)
    said = " ".join(words(figure))
    for expected in ("1 gradient-norm-explodes", "2 memory-grows", "FAILED", "The loss is NaN"):
        assert expected in said
    onsets = [line.get_xdata() for line in main.lines if len(np.unique(np.asarray(line.get_xdata()))) == 1]
    assert [23620.0] in [list(np.unique(np.asarray(x))) for x in onsets]


def test_files_are_written(tmp_path: Path) -> None:
    diagnosis, made_run = made.sick()
    written = figures.save(made_run, diagnosis, tmp_path, prefix="exp1-")
    names = [
        "exp1-overview.png",
        "exp1-loss.png",
        "exp1-train_val.png",
        "exp1-gradient_norm.png",
        "exp1-lr_loss.png",
    ]
    assert [p.name for p in written] == names
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names)
    assert all(p.read_bytes().startswith(PNG) and p.stat().st_size > 5000 for p in written)


def test_only_what_was_recorded(tmp_path: Path) -> None:
    only = run({"train/loss": np.linspace(2, 1, 50), "lr": np.full(50, 0.1)})
    assert [p.name for p in figures.save(only, None, tmp_path)] == ["overview.png", "loss.png"]
    assert figures.save(run({}), None, tmp_path) == []
    assert "nothing finite was recorded" in words(figures.overview(run({"train/loss": np.full(9, np.nan)})))


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    figure = figures.overview(made.healthy()[1])
    with pytest.raises(FileNotFoundError):
        figures.write(figure, tmp_path / "gone" / "loss.png")
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(OSError, match=r"taken\.png"):
        figures.write(figure, tmp_path / "taken.png")
    assert [p.name for p in tmp_path.iterdir()] == ["taken.png"]


def test_a_run_keeps_its_colour_in_every_panel() -> None:
    both = (
        run({"train/loss": np.arange(9.0)}),
        run({"train/loss": np.arange(9.0), "val/loss": np.arange(9.0)}),
    )
    charts = overlay_charts(both, ("train/loss", "val/loss"), ("before", "after"))
    first, second = (figures.single_chart(chart).axes[0] for chart in charts)
    assert first.lines[1].get_color() == second.lines[0].get_color() != first.lines[0].get_color()
    assert [t.get_text() for t in second.get_legend().get_texts()] == ["after"]


MATTERS_TO_MATPLOTLIB = [made.HOSTILE[i] for i in (3, 10, 13, 14, 15)]  # escapes, surrogates, $, CJK, length


@pytest.mark.parametrize("hostile", MATTERS_TO_MATPLOTLIB, ids=range(len(MATTERS_TO_MATPLOTLIB)))
def test_hostile_text_is_only_text(hostile: str) -> None:
    document, runs = made.hostile(hostile)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figures.overview(runs[0], document.runs[0]).canvas.draw()
        for chart in overlay_charts(tuple(runs), ("train/loss",), (hostile,)):
            figures.single_chart(chart).canvas.draw()


def test_pyplot_is_never_used() -> None:
    program = (
        "import sys; from tests.reports import made; from traindx.reports.figures import curves as figures\n"
        "assert 'matplotlib' not in sys.modules\n"
        "d, r = made.sick(); figures.overview(r, d).canvas.draw()\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

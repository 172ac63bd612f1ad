"""Lines without a counter between lines with one, whole curves in one line, and sentences that tools print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import traindx
from traindx.errors import TraindxError
from traindx.vocabulary.run import Run

LOSSES = [round(0.3 + 2.0 * float(np.exp(-i / 20)), 4) for i in range(60)]


def runs_of(folder: Path, text: str) -> list[Run]:
    (folder / "train.log").write_text(text)
    return list(traindx.read_all(folder / "train.log"))


def batches(before: Callable[[int], str], after: Callable[[int], str]) -> str:
    """Six epochs of ten losses, with a line before and after each epoch."""
    rows = [[f"loss: {v}\n" for v in LOSSES[10 * e : 10 * e + 10]] for e in range(6)]
    return "".join(before(e + 1) + "".join(row) + after(e + 1) for e, row in enumerate(rows))


@pytest.mark.parametrize(
    ("before", "after", "first", "last"),
    [
        (lambda _: "", lambda e: f"epoch {e} corr {e / 9:.3f}\n", 0.1, 6.0),
        (lambda _: "", lambda e: f"Epoch {e}: test accuracy {e / 9:.4f}\n", 0.1, 6.0),
        (lambda e: f"Epoch {e} lr 0.01\n", lambda _: "", 1.0, 6.9),
    ],
)
def test_losses_between_counted_lines_belong_to_their_epoch(
    tmp_path: Path, before: Callable[[int], str], after: Callable[[int], str], first: float, last: float
) -> None:
    (run,) = runs_of(tmp_path, batches(before, after))
    loss = run.series["train/loss"]
    assert loss.values.tolist() == LOSSES
    assert loss.steps[[0, -1]].tolist() == pytest.approx([first, last])
    assert np.diff(loss.steps).tolist() == pytest.approx([0.1] * 59)


def test_each_of_several_runs_has_its_own_losses(tmp_path: Path) -> None:
    text = "".join(batches(lambda _: "", lambda e: f"epoch {e} corr {e / 9:.3f}\n") for _ in range(4))
    runs = runs_of(tmp_path, text)
    assert [r.series["train/loss"].values.tolist() for r in runs] == [LOSSES] * 4
    assert all(len(r.series["corr"]) == 6 for r in runs)


def test_losses_of_heads_below_the_loss_are_not_spread(tmp_path: Path) -> None:
    heads = "".join(f"  {h} loss: {{:.4f}}\n" for h in "ab")
    text = "".join(f"Epoch {i} train loss {v}\n" + heads.format(v, v / 2) for i, v in enumerate(LOSSES))
    (run,) = runs_of(tmp_path, text)
    assert run.series["train/loss"].values.tolist() == LOSSES
    assert all((s.steps % 1 == 0).all() for s in run.series.values())


def test_losses_before_the_first_count_only_are_not_spread(tmp_path: Path) -> None:
    text = "".join(f"loss: {v}\n" for v in LOSSES) + "".join(
        f"Epoch {e}: accuracy 0.{e}\n" for e in range(1, 9)
    )
    (run,) = runs_of(tmp_path, text)
    assert len(run.series.get("train/loss", ())) in (0, 60)
    assert "train/accuracy" in run.series


def listed(values: list[float]) -> str:
    return "[" + ", ".join(f"{v}" for v in values) + "]"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("losses:\n{}\naccs:\n{}\n", ["train/loss", "train/accuracy"]),
        ("TRN_L:{}\nTST_L:{}\n", ["train/loss", "val/loss"]),
        ("RWD: {}\n", ["train/reward"]),
        ("H1: {}\nH2:{}\n", ["H1", "H2"]),
    ],
)
def test_lists_under_a_name_are_curves(tmp_path: Path, text: str, names: list[str]) -> None:
    values = [v / 4 for v in LOSSES]
    (run,) = runs_of(tmp_path, text.format(*[listed(values)] * len(names)))
    assert sorted(run.series) == sorted(names)
    assert all(run.series[name].values.tolist() == values for name in names)


@pytest.mark.parametrize(
    "text", ["widths: [64.5, 128.5, 256.5]\n", "layers: [16, 16, 32, 32, 64, 64, 128, 128, 9, 9]\n"]
)
def test_short_lists_and_sizes_are_no_curves(tmp_path: Path, text: str) -> None:
    with pytest.raises(TraindxError):
        runs_of(tmp_path, text)


def test_a_list_of_an_unknown_name_gives_way_to_a_loss(tmp_path: Path) -> None:
    (run,) = runs_of(tmp_path, f"H1: {listed(LOSSES)}\nloss: {listed(LOSSES)}\n")
    assert sorted(run.series) == ["train/loss"]


PROB = (
    "log/compute_prob_{side}.{i}.log:LOG (nnet3-chain-compute-prob[5.5]:PrintTotalStats():x.cc:192) Overall "
    "log-probability for '{output}' is {v} per frame, over 10000 frames.\n"
)


def test_kaldi_reports_log_likelihoods_of_both_sets(tmp_path: Path) -> None:
    text = "".join(
        PROB.format(side=s, i=i, v=-v, output=o)
        for i, v in enumerate(LOSSES)
        for s in ("train", "valid")
        for o in ("output", "output-xent")
    )
    (run,) = runs_of(tmp_path, text)
    for name in ("train/likelihood", "val/likelihood"):
        assert run.series[name].values.tolist() == [-v for v in LOSSES]
        assert run.series[name].steps.tolist() == list(range(60))


def test_kaldi_counts_minibatches(tmp_path: Path) -> None:
    line = "LOG (nnet3-train:P():n.cc:3) Average objective function for 'output' for minibatches {}-{} is {} over 6.\n"
    (run,) = runs_of(tmp_path, "".join(line.format(i * 100, i * 100 + 99, -v) for i, v in enumerate(LOSSES)))
    assert run.series["train/likelihood"].steps.tolist() == [100 * i for i in range(60)]


@pytest.mark.parametrize("head", ["第{}轮: ", "第 {}/60 轮,", "第{}个epoch ", "第{}エポック: "])
def test_an_ordinal_before_the_number_counts(tmp_path: Path, head: str) -> None:
    (run,) = runs_of(tmp_path, "".join(f"{head.format(i)}损失:{v}\n" for i, v in enumerate(LOSSES, 1)))
    assert run.axis == "epoch"
    assert run.series["train/loss"].steps.tolist() == list(range(1, 61))
    assert run.series["train/loss"].values.tolist() == LOSSES


@pytest.mark.parametrize(("heads", "name"), [("P R F1 mAP@.5", "val/f1"), ("acc F1", "train/f1")])
def test_an_f1_next_to_a_map_is_held_out(tmp_path: Path, heads: str, name: str) -> None:
    row = "  ".join("{v}" for _ in heads.split())
    text = "".join(
        f"epoch  {'  '.join(heads.split())}\n{i}  {row.format(v=v)}\n" for i, v in enumerate(LOSSES[::-1])
    )
    (run,) = runs_of(tmp_path, text)
    assert name in run.series

"""Several interventions at once, and interventions on scripts that were not written for these tests."""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from tests.capture.interventions.altering import Ran, run, same  # noqa: E402
from tests.capture.interventions.small import STYLES, R, X, Y, by_hand, epochs, perceptron, squares  # noqa: E402

SCRIPTS = Path(__file__).parents[2] / "scripts"


def test_a_model_is_rebuilt_as_if_it_were_written_so() -> None:
    def written() -> nn.Module:
        made = [nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.4), nn.Linear(16, 16),
                nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2)]  # fmt: skip
        return nn.Sequential(*made)

    for style in STYLES:
        ran = run(style(perceptron(nn.Tanh, rate=0.2)), "dropout=*2", "normalize=batch", "activation=relu")
        assert [next(iter(t.values())) for t in ran.touches.values()][:2] == [2, 2]
        wanted = style(written)()
        for key in ("losses", "validation", "outputs", "random"):
            assert same(ran.value[key], wanted[key]), key


def test_dropout_is_added_behind_activations_that_were_exchanged() -> None:
    class Functional(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = perceptron(nn.Identity)()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in self.layers:
                x = (
                    torch.tanh(layer(x))
                    if isinstance(layer, nn.Linear) and layer.out_features > 2
                    else layer(x)
                )
            return x

    for style in STYLES:
        for make in (perceptron(nn.Tanh), Functional):
            ran = run(style(make), "dropout=0.3", "activation=gelu")
            assert ran.touches == {"activation=gelu": {"calls": 2}, "dropout=0.3": {"activations": 2}}
            assert ran.facts["dropout"] == 0.3
            only = run(style(make), "activation=gelu")
            assert not torch.equal(ran.value["losses"][0], only.value["losses"][0])


def test_new_parameters_are_trained_by_another_optimizer_too() -> None:
    scales: list[nn.Parameter] = []

    def make() -> nn.Module:
        scales.append(perceptron()())
        return scales[-1]

    for style in STYLES:
        run(style(make), "normalize=layer", "optimizer=adamw", "lr=0.05", "accumulate=2")
        found = scales[-1].state_dict()["0.traindx_norm.weight"]
        assert bool((found != 1).any())


def test_losses_go_through_all_that_is_asked_for() -> None:
    def loss(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(found, y)

    def written(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if not torch.is_grad_enabled():
            return F.cross_entropy(found, y)
        weights = 160 / (2 * torch.bincount(Y[:160]))
        return F.cross_entropy(found, y, weights, label_smoothing=0.2)

    specs = ("label_smoothing=0.2", "class_weights=balanced", "logits=on")
    for script, wanted in (
        (epochs(ending_in_softmax, loss), epochs(perceptron(), written)),
        (by_hand(ending_in_softmax, loss, whole=True), by_hand(perceptron(), written, whole=True)),
    ):
        ran, by_writing = run(script, *specs).value, wanted()
        for key in ("losses", "validation", "weights"):
            torch.testing.assert_close(ran[key], by_writing[key])


def ending_in_softmax() -> nn.Module:
    return nn.Sequential(perceptron()(), nn.Softmax(1))


def test_data_goes_through_all_that_is_asked_for() -> None:
    x = X.clone()
    x[5, 1] = 1e9
    specs = ("inputs=standardize", "drop=outliers", "batch=*2", "labels=permute", "workers=1")
    ran = run(epochs(perceptron(), x=x), *specs)
    assert sorted(len(batch[0]) for batch in ran.value["batches"][:3]) in ([31, 64, 64], [32, 63, 64])
    assert sum(len(batch[0]) for batch in ran.value["batches"]) == 3 * 159
    assert max(ran.value["losses"]) < 3
    alone = run(
        by_hand(perceptron(outputs=1), squares, R, x=x, whole=True), "inputs=standardize", "drop=outliers"
    )
    spread = run(by_hand(perceptron(outputs=1), squares, R, x=x, whole=True), "inputs=standardize")
    assert not same(alone.value["losses"], spread.value["losses"])
    assert alone.touches["drop=outliers"] == {"samples": 12}


def test_a_script_in_evaluation_mode_is_trained_in_training_mode() -> None:
    """`mode=train` is applied outside of the code that checks the mode."""

    def train(switch: bool) -> Callable[[], list[torch.Tensor]]:
        def script() -> list[torch.Tensor]:
            torch.manual_seed(0)
            model = perceptron(rate=0.5)()
            if not switch:
                model.eval()
            losses = []
            for _ in range(4):
                losses.append(F.cross_entropy(model(X), Y))
                losses[-1].backward()
            return losses

        return script

    ran = run(train(False), "mode=train", "inputs=shuffle", "dropout=*0.5")
    assert same(ran.value, run(train(True), "inputs=shuffle", "dropout=*0.5").value)


def unmodified(name: str, folder: Path) -> Callable[[], dict[str, bytes]]:
    """A script of tests/scripts, run in this process."""

    def train() -> dict[str, bytes]:
        before, arguments = os.getcwd(), sys.argv
        os.chdir(folder)
        sys.argv = [f"{name}.py"]
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                runpy.run_path(str(SCRIPTS / f"{name}.py"), run_name="__main__")
        finally:
            os.chdir(before)
            sys.argv = arguments
        return {file: (folder / file).read_bytes() for file in ("weights.pt", "truth.json")}

    return train


# Interventions that change nothing in these scripts, and of which script why they are refused.
IDENTITIES = ("dropout=*1", "batch=*1", "workers=0", "activation=relu", "logits=on", "label_smoothing=0",
              "data=shuffle", "drop=outliers")  # fmt: skip
NEUTRAL = {
    "plain_functions": (),
    "full_batch_tensors": ("batch=*1", "workers=0", "data=shuffle"),
    "tiny_gpt": ("batch=*1", "workers=0", "data=shuffle"),
    "cnn_batchnorm": (),
    "gan": ("batch=*1", "workers=0", "data=shuffle"),
    "lbfgs_closure": ("batch=*1", "workers=0", "data=shuffle", "label_smoothing=0", "activation=relu"),
}


@pytest.mark.parametrize("name", NEUTRAL)
def test_as_the_identity_every_bit_stays(name: str, tmp_path: Path) -> None:
    specs = [spec for spec in IDENTITIES if spec not in NEUTRAL[name]]
    ran, plain = run(unmodified(name, tmp_path), *specs), unmodified(name, tmp_path)()
    assert ran.refused == ""
    assert sorted(ran.unused) == sorted(specs)
    assert ran.value == plain


ALL = ("init=he", "activation=leaky_relu", "dropout=0.2", "normalize=layer", "logits=on", "label_smoothing=0.1",
       "class_weights=balanced", "labels=permute", "targets=standardize", "inputs=standardize", "data=shuffle",
       "data=repeat-batch", "batch=*2", "drop=outliers", "workers=1")  # fmt: skip


def outcome(ran: Ran) -> str:
    return "refused" if ran.refused else "unused" if ran.unused else "applied"


@pytest.mark.parametrize(
    ("name", "refused", "unused"),
    [
        ("scaler_amp", {"targets=standardize", "data=shuffle", "batch=*2", "workers=1"},
         {"logits=on", "drop=outliers"}),
        ("accumulation", {"targets=standardize"}, {"logits=on", "data=shuffle", "drop=outliers"}),
        ("csv_rows", {"label_smoothing=0.1", "class_weights=balanced", "labels=permute", "targets=standardize",
                      "data=shuffle", "data=repeat-batch", "batch=*2", "workers=1"}, {"logits=on", "drop=outliers"}),
        ("manual_sgd", {*ALL} - {"dropout=0.2", "logits=on", "drop=outliers"},
         {"dropout=0.2", "logits=on", "drop=outliers"}),
    ],
)  # fmt: skip
def test_each_applies_is_refused_or_says_that_it_did_nothing(
    name: str, refused: set[str], unused: set[str], tmp_path: Path
) -> None:
    plain = unmodified(name, tmp_path)()
    for spec in ALL:
        ran = run(unmodified(name, tmp_path), spec)
        wanted = "refused" if spec in refused else "unused" if spec in unused else "applied"
        assert (spec, outcome(ran)) == (spec, wanted), ran.refused
        if wanted != "refused":
            assert (ran.value == plain) == (wanted == "unused" or spec == "workers=1"), spec
            assert len(json.loads(ran.value["truth.json"])["loss"]) > 1

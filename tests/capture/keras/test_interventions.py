"""Interventions in Keras: a script under `--with` trains as the script that was changed by hand, and what cannot be
changed so ends it. Keras takes its backend when it is imported, so each one is a process; of one process are all the
trainings of a backend, each attached as `traindx run` attaches."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

from tests.capture.keras.keras_process import BACKENDS, environment

if (
    importlib.util.find_spec("keras") is None
):  # not imported here, which would take TensorFlow as its backend
    pytest.skip("Keras is not installed", allow_module_level=True)

TRAINS = """
import json
import sys

import keras
import numpy as np
from keras import layers

from tests.capture.attached import attached
from traindx.capture.keras.framework import KERAS

chance = np.random.default_rng(0)
x = (3 + 2 * chance.normal(size=(256, 6))).astype("f4")
y = ((x[:, 0] - 3) * (x[:, 1] - 3) + x[:, 2] > 5.5).astype("i4")
x[7, 2] = 4000.0
held, wanted = x[200:], y[200:]
scaled = (x[:200].astype("f8") - x[:200].astype("f8").mean(0)) / x[:200].astype("f8").std(0)
mean, std = x[:200].astype("f8").mean(0), x[:200].astype("f8").std(0)


def train(optimizer=None, batch=20, seed=0, activation="tanh", dropout=0.0, norm="", data=None, given=None, epochs=2,
          last="linear", logits=True, functional=False, frozen=False, init="glorot_uniform", callbacks=(), **fit):
    keras.utils.set_random_seed(seed)
    rows, labels = (x[:200], y[:200]) if data is None else data
    dense = layers.Dense(16, "linear" if norm else activation, kernel_initializer=init, trainable=not frozen)
    norms = {"layer": layers.LayerNormalization, "batch": layers.BatchNormalization}
    then = [norms[norm](), layers.Activation(activation)] if norm else []
    then += [layers.Dropout(dropout, seed=0x7261)] if dropout else []
    stack = [dense, *then, layers.Dense(2, last)]
    if functional:
        inputs = out = keras.Input((6,))
        for layer in stack:
            out = layer(out)
        model = keras.Model(inputs, out)
    else:
        model = keras.Sequential([keras.Input((6,)), *stack])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=logits)
    model.compile(optimizer or keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    found = model.fit(rows, labels, batch_size=batch, epochs=epochs, verbose=0, shuffle=fit.pop("shuffle", True),
                      validation_data=given or (held, wanted), callbacks=list(callbacks), **fit)
    return {"history": found.history, "weights": [w.tolist() for w in model.get_weights()],
            "evaluated": model.evaluate(*(given or (held, wanted)), verbose=0), "layers": len(model.layers)}


def experiment(number, function, *specs):
    return attached(KERAS, number, function, *specs)


def by_batch():
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((6,)), layers.Dense(2)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    for i in range(5):
        model.train_on_batch(x[20 * i : 20 * i + 20], y[20 * i : 20 * i + 20])
    return {"weights": [w.tolist() for w in model.get_weights()]}


class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, shape):
        self.shape = shape

    def __call__(self, step):
        return self.shape(keras.ops.cast(step, "float32"))


A, S, ops = keras.optimizers.Adam, keras.optimizers.SGD, keras.ops
keep = np.array([i for i in range(200) if i != 7])
counts = np.bincount(y[:200])
pairs = {
    "identity": (("lr=*1", "clip=1e9", "dropout=*1"), dict(optimizer=A(0.01)), dict(optimizer=A(0.01))),
    "lr=*0.1": (("lr=*0.1",), dict(optimizer=A(0.01)), dict(optimizer=A(0.001))),
    "lr=0.002": (("lr=0.002",), dict(optimizer=A(0.01)), dict(optimizer=A(0.002))),
    "lr=constant": (("lr=constant",), dict(optimizer=A(keras.optimizers.schedules.CosineDecay(0.01, 20))),
                    dict(optimizer=A(0.01))),
    "lr=cosine:40": (("lr=cosine:40",), dict(optimizer=S(0.05)),
                     dict(optimizer=S(keras.optimizers.schedules.CosineDecay(0.05, 40)))),
    "lr.warmup=5": (("lr.warmup=5",), dict(optimizer=S(0.05)),
                    dict(optimizer=S(Schedule(lambda s: 0.05 * ops.minimum((s + 1) / 5, 1.0))))),
    "weight_decay": (("weight_decay=0.01",), dict(optimizer=A(0.01)), dict(optimizer=A(0.01, weight_decay=0.01))),
    "momentum": (("momentum=0.9",), dict(optimizer=S(0.01)), dict(optimizer=S(0.01, momentum=0.9))),
    "betas": (("betas=0.8,0.9",), dict(optimizer=A(0.01)), dict(optimizer=A(0.01, beta_1=0.8, beta_2=0.9))),
    "eps": (("eps=0.01",), dict(optimizer=A(0.01)), dict(optimizer=A(0.01, epsilon=0.01))),
    "optimizer": (("optimizer=adamw",), dict(optimizer=S(0.01)),
                  dict(optimizer=keras.optimizers.AdamW(0.01, weight_decay=0.0))),
    "clip": (("clip=0.5",), dict(optimizer=S(0.01)), dict(optimizer=S(0.01, global_clipnorm=0.5))),
    "clip=off": (("clip=off",), dict(optimizer=S(0.01, global_clipnorm=0.1)), dict(optimizer=S(0.01))),
    "clip.value": (("clip.value=0.1",), dict(optimizer=S(0.01)), dict(optimizer=S(0.01, clipvalue=0.1))),
    "accumulate": (("accumulate=4",), dict(optimizer=A(0.01)), dict(optimizer=A(0.01, gradient_accumulation_steps=4))),
    "batch": (("batch=40",), dict(), dict(batch=40)),
    "batch=*2": (("batch=*2",), dict(), dict(batch=40)),
    "data=fixed": (("data=fixed",), dict(), dict(shuffle=False)),
    "data=repeat-batch": (("data=repeat-batch",), dict(),
                          dict(data=(np.tile(x[:20], (10, 1)), np.tile(y[:20], 10)), shuffle=False)),
    "drop": (("drop=outliers",), dict(), dict(data=(x[keep], y[keep]))),
    "inputs": (("inputs=standardize",), dict(),
               dict(data=(scaled.astype("f4"), y[:200]), given=(((held - mean) / std).astype("f4"), wanted))),
    "class_weights": (("class_weights=balanced",), dict(),
                      dict(class_weight={0: 100 / counts[0], 1: 100 / counts[1]})),
    "activation": (("activation=relu",), dict(), dict(activation="relu")),
    "activation functional": (("activation=gelu",), dict(functional=True), dict(functional=True, activation="gelu")),
    "normalize": (("normalize=layer",), dict(activation="relu"), dict(activation="relu", norm="layer")),
    "normalize functional": (("normalize=batch",), dict(functional=True), dict(functional=True, norm="batch")),
    "dropout": (("dropout=0.3",), dict(), dict(dropout=0.3)),
    "dropout=*2": (("dropout=*2",), dict(dropout=0.2), dict(dropout=0.4)),
    "unfreeze": (("unfreeze=all",), dict(frozen=True), dict()),
    "logits": (("logits=on",), dict(last="softmax"), dict()),
    "seed": (("seed=3",), dict(), dict(seed=3)),
}
refused = {
    "momentum": (("momentum=0.9",), dict(optimizer=A(0.01))),
    "zero_grad": (("zero_grad=each-step",), dict()),
    "class_weights": (("class_weights=balanced",), dict(sample_weight=np.ones(200))),
}
if keras.backend.backend() != "torch":  # where each training is compiled: one of each kind
    some = ("identity", "lr=*0.1", "lr=cosine:40", "clip", "optimizer", "normalize functional", "dropout", "inputs")
    pairs = {name: pairs[name] for name in some}
out = {"pairs": {}, "refused": {}}
for number, (name, (specs, own, edited)) in enumerate(pairs.items()):
    out["pairs"][name] = [train(**edited), experiment(number, lambda: train(**own), *specs)]
for number, (name, (specs, own)) in enumerate(refused.items()):
    out["refused"][name] = experiment(100 + number, lambda: train(**own), *specs)
out["refused"]["batches of its own"] = experiment(200, by_batch, "batch=40")
out["by batch"] = [by_batch(), experiment(201, by_batch, "lr=*1")]
out["steps"] = experiment(202, train, "steps=7")
out["unused"] = experiment(203, train, "dropout=0", "skip_nonfinite=on", "logits=on")
bad = x[:200].copy()
bad[3, 1] = np.nan
out["skipped"] = experiment(204, lambda: train(data=(bad, y[:200]), shuffle=False), "skip_nonfinite=on")
out["init"] = experiment(205, lambda: train(epochs=1, optimizer=S(1e-12)), "init=he")
print(json.dumps(out))
"""
CLOSE = {  # where the sum of squares is divided otherwise, and where means are of other types
    "clip": 1e-4, "lr.warmup=5": 1e-5, "inputs": 1e-4, "lr=0.002": 1e-5, "lr=cosine:40": 1e-5, "lr=constant": 1e-5,
    "class_weights": 1e-5, "lr=*0.1": 1e-5,
}  # fmt: skip


@pytest.fixture(scope="module", params=BACKENDS)
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TRAINS, str(tmp_path_factory.mktemp(request.param))],
        env=environment(request.param),
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "capture stopped" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def flat(value) -> list[float]:
    return [v for part in value for v in flat(part)] if isinstance(value, list) else [value]


def test_as_if_it_were_changed_by_hand(results) -> None:
    off = {}
    for name, (edited, under) in results["pairs"].items():
        assert "stopped" not in under, (name, under)
        assert edited["layers"] == under["layers"], name
        pairs = [(edited["weights"], under["weights"]), (edited["evaluated"], under["evaluated"])]
        pairs += [(edited["history"][key], under["history"][key]) for key in edited["history"]]
        limit = CLOSE.get(name, 1e-6 if name == "identity" else 1e-5)
        for a, b in pairs:
            worst = max(abs(p - q) / (1e-2 + abs(p)) for p, q in zip(flat(a), flat(b), strict=True))
            if not worst <= limit:
                off[name] = worst
    assert not off


def test_every_change_is_reported(results) -> None:
    for name, (_, under) in results["pairs"].items():
        if name not in ("identity", "batch"):
            assert "changed nothing" not in under["setup"], name


def test_what_cannot_be_changed_so_ends_the_script(results) -> None:
    assert "Adam has no momentum" in results["refused"]["momentum"]["stopped"]
    assert "zero_grad" in results["refused"]["zero_grad"]["stopped"]
    assert "the samples have weights" in results["refused"]["class_weights"]["stopped"]
    assert "makes its batches itself" in results["refused"]["batches of its own"]["stopped"]


def test_batches_one_by_one(results) -> None:
    alone, under = results["by batch"]
    assert alone["weights"] == under["weights"]


def test_a_number_of_steps(results) -> None:
    assert results["steps"]["ended"]


def test_nothing_to_change(results) -> None:
    assert results["unused"]["setup"].count("changed nothing") == 3


def test_steps_that_are_not_finite_are_left_out(results) -> None:
    weights = flat(results["skipped"]["weights"])
    assert all(w == w for w in weights)
    assert 'intervention/skip_nonfinite=on/steps": 2' in results["skipped"]["setup"].replace("\\", "")


def test_new_weights_have_the_spread_that_was_asked_for(results) -> None:
    kernel = flat(results["init"]["weights"][0])
    assert len(kernel) == 96
    deviation = (sum(w * w for w in kernel) / 96) ** 0.5
    assert abs(deviation / (2 / 6) ** 0.5 - 1) < 0.25  # about three standard errors of 96 samples
    assert set(flat(results["init"]["weights"][1])) <= {
        w for w in flat(results["init"]["weights"][1]) if abs(w) < 1e-6
    }

"""Interventions in JAX: a script under `--with` trains to the last bit as the one into which `traindx fix` writes the
same change, and what cannot be changed so ends it. In one process are all the trainings, each attached as `traindx run`
attaches."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import traindx
from traindx.capture.experiment.applies import implementations

if any(importlib.util.find_spec(name) is None for name in ("jax", "optax", "libcst")):
    pytest.skip("JAX, optax and LibCST are not all installed", allow_module_level=True)

TRAINS = """
import json

import jax
import numpy as np
import optax

from tests.capture.attached import attached
from traindx.capture.jax.framework import JAX
from traindx.lab.edits import edit

SCRIPT = '''
import jax
import jax.numpy as jnp
import numpy as np
import optax

chance = np.random.default_rng(0)
x = chance.normal(size=(200, 6)).astype("f4")
y = (x[:, 0] * x[:, 1] > 0).astype("i4")
x[BAD, 0] = np.nan
one, two = jax.random.split(jax.random.key(0))
params = {"first": jax.random.normal(one, (6, 16)), "second": jax.random.normal(two, (16, 2))}

def loss_of(params, x, y):
    scores = jax.nn.tanh(x @ params["first"]) @ params["second"]
    return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()

tx = MAKE
state = tx.init(params)

@jax.jit
def step(params, state, x, y):
    gradients = jax.grad(loss_of)(params, x, y)
    updates, state = tx.update(gradients, state, GIVEN)
    return optax.apply_updates(params, updates), state

for i in range(20):
    rows = slice(10 * i % 200, 10 * i % 200 + 10)
    params, state = step(params, state, x[rows], y[rows])
'''


def train(text):
    names = {}
    exec(compile(text, "train.py", "exec"), names)
    return {"weights": [np.asarray(w).tobytes().hex() for w in jax.tree.leaves(names["params"])],
            "finite": all(bool(np.isfinite(w).all()) for w in jax.tree.leaves(names["params"]))}


def experiment(number, text, *specs):
    return attached(JAX, number, lambda: train(text), *specs)


def script(make, given="params", bad="0:0"):
    return SCRIPT.replace("MAKE", make).replace("GIVEN", given).replace("BAD", bad)


INJECTED = "optax.inject_hyperparams(optax.adam)(learning_rate=0.01)"
COSINE = "optax.adam(optax.cosine_decay_schedule(0.01, 20))"
GROUPS = ('optax.multi_transform({"a": optax.adam(0.01), "b": optax.sgd(0.1)}, {"first": "a", "second": "b"})')
pairs = {  # with what the edit makes of the same change
    "identity": (("lr=*1", "lr=constant", "accumulate=1"), "optax.adam(0.01)"),
    "lr": (("lr=*0.1",), "optax.adam(0.01)"),
    "lr of sgd": (("lr=0.002",), "optax.sgd(learning_rate=0.01, momentum=0.9)"),
    "lr injected": (("lr=*0.1",), INJECTED),
    "lr injected number": (("lr=0.003",), INJECTED),
    "lr of a schedule": (("lr=*0.5",), COSINE),
    "lr of a chain": (("lr=*0.5",), "optax.chain(optax.scale_by_adam(), optax.scale_by_learning_rate(0.01))"),
    "lr of groups": (("lr=*0.1",), GROUPS),
    "lr.warmup": (("lr.warmup=5",), "optax.sgd(0.1)"),
    "weight_decay": (("weight_decay=0.01",), "optax.adam(0.01)"),
    "weight_decay of sgd": (("weight_decay=0.01",), "optax.sgd(0.1)"),
    "weight_decay scaled": (("weight_decay=*0.01",), "optax.adamw(0.01, weight_decay=1.0)"),
    "momentum": (("momentum=0.9",), "optax.sgd(0.1)"),
    "betas": (("betas=0.8,0.9",), "optax.adam(0.01)"),
    "eps": (("eps=0.01",), "optax.adam(0.01, eps=1e-8)"),
    "optimizer": (("optimizer=adamw",), "optax.sgd(0.01)"),
    "optimizer momentum": (("optimizer=momentum",), "optax.adam(0.01, b1=0.8)"),
    "clip": (("clip=0.5",), "optax.sgd(0.1)"),
    "clip in a chain": (("clip=0.5",), "optax.chain(optax.clip_by_global_norm(9.0), optax.sgd(0.1))"),
    "clip of groups": (("clip=0.1",), GROUPS),
    "clip scaled": (("clip=*10",), "optax.chain(optax.clip_by_global_norm(0.05), optax.sgd(0.1))"),
    "clip off": (("clip=off",), "optax.chain(optax.clip_by_global_norm(0.05), optax.sgd(0.1))"),
    "clip.value": (("clip.value=0.01",), "optax.sgd(0.1)"),
    "accumulate": (("accumulate=4",), "optax.adam(0.01)"),
    "several": (("lr=*0.1", "clip=0.5", "weight_decay=0.1"), "optax.adam(0.1)"),
}
NOT_WRITTEN = ("accumulate", "lr=constant", "lr=cosine:40")  # this edit is left to a person
by_hand = {
    "accumulate": "optax.MultiSteps(optax.adam(0.01), 4).gradient_transformation()",
}
out = {"pairs": {}, "refused": {}}
for number, (name, (specs, make)) in enumerate(pairs.items()):
    text = script(make)
    if name in by_hand:
        wanted = script(by_hand[name])
    elif name == "identity":
        wanted = text
    else:
        facts = {"lr": 0.1 if make in ("optax.sgd(0.1)", "optax.adam(0.1)") else 0.01}
        if "chain" in make or make in (GROUPS, COSINE):
            facts = {}
        patch = edit({"train.py": text}, "train.py", name, specs, facts=facts)
        again = edit(patch.after, "train.py", name, specs, facts=facts)
        wanted = patch.after["train.py"]
        assert name.endswith("scaled") or not again.after or specs[0].startswith("lr=*"), (name, again)
    out["pairs"][name] = [train(wanted), experiment(number, text, *specs)]
out["seed"] = [train(script("optax.adam(0.01)").replace("key(0)", "key(3)")),
               experiment(200, script("optax.adam(0.01)"), "seed=3")]
cosine = "optax.sgd(optax.cosine_decay_schedule(0.1, 40))"
out["close"] = [train(script(cosine)), experiment(201, script("optax.sgd(0.1)"), "lr=cosine:40")]
out["constant"] = [train(script("optax.sgd(0.1)")), experiment(202, script(cosine), "lr=constant")]
refused = {
    "momentum": ("momentum=0.9", script("optax.adam(0.01)")),
    "zero_grad": ("zero_grad=each-step", script("optax.adam(0.01)")),
    "batch": ("batch=40", script("optax.adam(0.01)")),
    "without the parameters": ("weight_decay=0.1", script("optax.adam(0.01)", given="None")),
    "injected": ("lr.warmup=5", script(INJECTED)),
    "no optimizer": ("clip=1.0", script("optax.chain(optax.scale_by_adam(), optax.scale(-0.01))")),
}
for number, (name, (spec, text)) in enumerate(refused.items()):
    out["refused"][name] = experiment(100 + number, text, spec)
out["unused"] = experiment(301, script("optax.sgd(0.01)"), "clip=1e6", "skip_nonfinite=on", "clip=off")
out["skipped"] = experiment(302, script("optax.sgd(0.01)", bad="35"), "skip_nonfinite=on")
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TRAINS, str(tmp_path_factory.mktemp("jax"))],
        env={**os.environ, "PYTHONPATH": str(Path(traindx.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "capture stopped" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_as_the_edit_of_the_source_writes_it(results) -> None:
    off = [
        name
        for name, (edited, under) in results["pairs"].items()
        if edited["weights"] != under.get("weights")
    ]
    assert not off, {name: results["pairs"][name][1].get("stopped") for name in off}


def test_every_intervention_is_tried_here() -> None:
    elsewhere = {"steps", "seed", "skip_nonfinite"}
    for name in set(implementations("traindx.capture.jax.interventions")) - elsewhere:
        assert f'"{name}": ((' in TRAINS, name


def test_every_change_is_reported(results) -> None:
    for name, (_, under) in results["pairs"].items():
        assert name == "identity" or "changed nothing" not in under["setup"], name


def test_a_key_from_another_seed(results) -> None:
    edited, under = results["seed"]
    assert edited["weights"] == under["weights"]
    assert json.loads(under["setup"])["seed"] == 3


def test_schedules(results) -> None:
    assert results["constant"][0]["weights"] == results["constant"][1]["weights"]
    assert results["close"][1]["finite"]
    assert json.loads(results["close"][1]["setup"])["schedule"] == "cosine"


def test_what_cannot_be_changed_so_ends_the_script(results) -> None:
    refused = {name: under.get("stopped", "") for name, under in results["refused"].items()}
    assert "optax.adam has no momentum; it has b1" in refused["momentum"]
    assert "not possible in jax trainings yet" in refused["zero_grad"]
    assert "not possible in jax trainings yet" in refused["batch"]
    assert "without the parameters" in refused["without the parameters"]
    assert "inject_hyperparams" in refused["injected"]
    assert "no optimizer of optax" in refused["no optimizer"]


def test_a_number_of_steps(tmp_path: Path) -> None:
    text = TRAINS.split("'''")[1]
    text = text.replace("MAKE", "optax.adam(0.01)").replace("GIVEN", "params").replace("BAD", "0:0")
    (tmp_path / "train.py").write_text(text.replace("range(20)", "range(400)"))
    done = subprocess.run(
        [sys.executable, "-m", "traindx", "run", "--out", "run", "--quiet", "--with", "steps=7", "--", sys.executable,
         "train.py"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(Path(traindx.__file__).parents[1])}, timeout=300,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    setup = traindx.read(tmp_path / "run").setup
    assert 7 <= (setup.number("optimizer_steps") or 0) < 20
    assert setup.number("intervention/steps=7/runs") == 1


def test_nothing_to_change(results) -> None:
    assert results["unused"]["setup"].count("changed nothing") == 3


def test_steps_that_are_not_finite_are_left_out(results) -> None:
    assert results["skipped"]["finite"]
    assert 'intervention/skip_nonfinite=on/steps": 1' in results["skipped"]["setup"].replace("\\", "")

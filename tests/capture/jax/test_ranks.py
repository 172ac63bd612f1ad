"""JAX in two processes: each records under its own rank."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import traindx

if any(importlib.util.find_spec(name) is None for name in ("jax", "optax")):
    pytest.skip("JAX and optax are not installed", allow_module_level=True)

SCRIPT = """
import subprocess, sys
if len(sys.argv) == 2:
    children = [subprocess.Popen([sys.executable, __file__, sys.argv[1], rank]) for rank in "01"]
    sys.exit(max(child.wait() for child in children))
import jax
jax.distributed.initialize(f"localhost:{sys.argv[1]}", 2, int(sys.argv[2]))
import jax.numpy as jnp
import numpy as np
import optax
from jax.experimental.multihost_utils import process_allgather

chance = np.random.default_rng(int(sys.argv[2]))
w, optimizer = jnp.zeros((6, 1)), optax.sgd(0.1)
state = optimizer.init(w)
for step in range(30):
    x = chance.normal(size=(16, 6)).astype("f4")
    loss, gradient = jax.value_and_grad(lambda w: ((x @ w - x[:, :1]) ** 2).mean())(w)
    gradient = jnp.asarray(process_allgather(gradient).mean(0))
    change, state = optimizer.update(gradient, state, w)
    w = optax.apply_updates(w, change)
"""


def test_each_process_records_under_its_rank(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    start = [sys.executable, "-m", "traindx", "run", "--out", "here", "--", sys.executable, "train.py", port]
    done = subprocess.run(start, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    run = traindx.read(tmp_path / "here")
    assert run.setup.number("world_size") == 2
    own, other = run.series["train/loss"], run.series["rank/1/train/loss"]
    assert min(len(own), len(other)) >= 29
    assert not np.array_equal(own.values, other.values)

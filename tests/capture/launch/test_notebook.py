"""`%load_ext traindx` in a shell of IPython: what trains in later cells is recorded, and it lets go."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.capture.launch.launching import LIMIT, PYTHON, environment

pytest.importorskip("torch")
pytest.importorskip("IPython")

CELLS = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def cell(text):
    shell.run_cell(text).raise_error()
cell("%load_ext traindx")
cell("%traindx")
cell("import torch; m = torch.nn.Linear(3, 1); o = torch.optim.SGD(m.parameters(), lr=.1); x = torch.randn(64, 3)")
train = '''
for _ in range(30):
    l = torch.nn.functional.mse_loss(m(x), x[:, :1]); o.zero_grad(); l.backward(); o.step()
'''
cell(train)
cell("%traindx")
cell(train)
cell("%traindx")
cell("%unload_ext traindx")
cell(train)
import torch
from torch.optim import optimizer
left = [f.__code__.co_filename for f in (torch.autograd.backward, torch.optim.Optimizer.zero_grad, torch.manual_seed)]
print("left", [name for name in left if "importlib" in name], len(optimizer._global_optimizer_pre_hooks),
      len(torch.nn.modules.module._global_forward_pre_hooks), len(m_hooks := shell.user_ns["m"]._forward_pre_hooks))
"""


def test_a_notebook(tmp_path: Path) -> None:
    done = subprocess.run(
        [PYTHON, "-c", CELLS], cwd=tmp_path, env={**environment(""), "IPYTHONDIR": str(tmp_path)},
        capture_output=True, text=True, timeout=LIMIT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "nothing has trained yet" in done.stderr
    assert "30 points, steps 1–30" in done.stdout
    assert "60 points, steps 1–60" in done.stdout
    assert "left [] 0 0 0" in done.stdout

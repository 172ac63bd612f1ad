"""Tensors of the script's own kind, and its modes, see under `traindx run` exactly what they see without it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.capture.launch.launching import environment, finished, launched  # noqa: E402

SCRIPT = """
import collections, contextlib, torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

seen = collections.Counter()

class Counted(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        seen[getattr(function, "__name__", str(function))] += 1
        return super().__torch_function__(function, types, args, kwargs or {})

class Functions(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        seen[getattr(function, "__name__", str(function))] += 1
        return function(*args, **(kwargs or {}))

class Operations(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        seen[str(function)] += 1
        return function(*args, **(kwargs or {}))

torch.manual_seed(0)
calls = collections.Counter()
KINDS
model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Dropout(0.2), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters())
data = torch.utils.data.TensorDataset(torch.randn(128, 16), torch.randint(0, 4, (128,)))

def epoch(kind, training):
    for x, y in torch.utils.data.DataLoader(data, batch_size=32):
        x = x.as_subclass(Counted) if kind == "subclass" else x
        with torch.set_grad_enabled(training):
            loss = nn.functional.cross_entropy(model(x), y)
        if training:
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return float(loss.detach())

for kind, mode in (("subclass", contextlib.nullcontext), ("functions", Functions), ("operations", Operations)):
    with mode():
        last = [epoch(kind, training) for _ in range(4) for training in (True, False)]
    print(kind, last, sum(seen.values()), sorted(seen.items()))
    seen.clear()
del model
print(sorted(seen.items()), sorted(calls.items()), torch.rand(2))
"""
HOOKS = """
for add in (nn.modules.module.register_module_forward_hook, nn.modules.module.register_module_forward_pre_hook):
    add(lambda module, *given: calls.update([type(module).__name__]))
"""


@pytest.mark.parametrize("kinds", ["", HOOKS], ids=["alone", "with hooks that count calls"])
def test_nothing_is_seen_of_us(kinds: str, tmp_path: Path) -> None:
    script = tmp_path / "counting.py"
    script.write_text(SCRIPT.replace("KINDS", kinds))
    command = [sys.executable, str(script)]
    alone = finished(command, tmp_path, environment(""))
    done = launched("", tmp_path, command=command)
    assert alone.status == 0
    assert done.out.decode().splitlines() == alone.out.decode().splitlines()
    assert done.err == alone.err
    run = done.run()
    losses = [
        s
        for name, s in run.series.items()
        if name.endswith("loss") and name.startswith("train/") and "eval" not in name
    ]
    assert (
        sum(map(len, losses)) == len(run.series["grad_norm"]) == 48
    )  # named by the line, which is that of a mode
    assert {"grad_norm", "act_std", "update_ratio"} <= {*run.panels, *run.series}


SURROUNDINGS = {
    "detect_anomaly": "torch.autograd.set_detect_anomaly(True)",
    "default_device": "torch.set_default_device('cpu')",
    "meta_by_default": "later = lambda: torch.set_default_device('meta')",
    "float64": "torch.set_default_dtype(torch.float64)",
    "deterministic": "torch.use_deterministic_algorithms(True)",
    "warnings_are_errors": "import warnings; warnings.simplefilter('error'); torch.set_warn_always(True)",
    "traced_by_python": "import sys; sys.settrace(lambda *_: None); sys.setprofile(lambda *_: None)",
    "tracemalloc": "import tracemalloc; tracemalloc.start()",
    "collector_off": "import gc; gc.freeze(); gc.disable()",
    "faulthandler": "import faulthandler; faulthandler.enable()",
    "few_files": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
    "handlers": "import signal; signal.signal(signal.SIGTERM, lambda *_: None)",
}
SURROUNDED = """
import torch
from torch import nn
SURROUNDING
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
calls = []
model.register_forward_hook(lambda *_: calls.append(1), always_call=True)
x, y = torch.randn(64, 16), torch.randint(0, 4, (64,))
globals().get("later", lambda: None)()
for step in range(20):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.inference_mode():
    print(loss.item(), model(x).sum().item(), len(calls))
if "handlers" in __file__:
    print(signal.getsignal(signal.SIGTERM).__name__)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", SURROUNDINGS)
def test_whatever_surrounds_a_training_stays(name: str, tmp_path: Path) -> None:
    script = tmp_path / f"with_{name}.py"  # else tracemalloc.py would be imported for tracemalloc
    script.write_text(SURROUNDED.replace("SURROUNDING", SURROUNDINGS[name]))
    command = [sys.executable, str(script)]
    alone = finished(command, tmp_path, environment(""))
    done = launched("", tmp_path, command=command)
    assert alone.status == 0, alone.err
    assert (done.status, done.out, done.err) == (alone.status, alone.out, alone.err)
    run = done.run()
    assert len(run.series["train/loss"]) == len(run.series["grad_norm"]) == 20
    assert "act_std" in run.panels
    assert not [e for e in run.events if e.code in ("signal-dropped", "capture-failed")]

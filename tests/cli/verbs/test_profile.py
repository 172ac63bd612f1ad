"""`traindx profile` as a user types it, and traces given to `traindx diagnose`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import traindx
from tests.readers.writers import traces

SCRIPT = """
import sys, time, torch
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(0); torch.set_num_threads(1)
class Data(Dataset):
    def __len__(self): return 4096
    def __getitem__(self, i):
        x = torch.full((16,), float(i))
        for _ in range({work}): x = (x @ torch.ones(16, 16)) / 16
        return x, i % 3
width = {width}
model = torch.nn.Sequential(torch.nn.Linear(16, width), torch.nn.ReLU(), torch.nn.Linear(width, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
for step, (x, y) in enumerate(DataLoader(Data(), batch_size=32)):
    if step == {stop}: break
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    for p in range({extra}): sum(i * i for i in range(1000))
print("ended after", step)
"""

CHANGES = """if step == 2: optimizer = torch.optim.Adam(model.parameters())
    optimizer.zero_grad()"""


def profile(
    tmp_path: Path, *options: str, work: int = 0, width: int = 8, extra: int = 0, stop: int = 100
) -> Any:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(SCRIPT.format(work=work, width=width, extra=extra, stop=stop))
    return traindx(
        "profile", *options, "--", sys.executable, "train.py", cwd=tmp_path,
        env={"PYTHONWARNINGS": "", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def document(done: Any) -> dict[str, Any]:
    (run,) = json.loads(done.out)["runs"]
    return run  # type: ignore[no-any-return]


def test_a_loader_that_takes_the_time(tmp_path: Path) -> None:
    done = profile(tmp_path, "--steps", "6", "-f", "json", "--out", "here", work=20)
    run = document(done)
    assert done.status == 1
    assert run["run"]["format"] == "torch-trace"
    assert run["findings"][0]["slug"] == "step-waits-for-data"
    assert run["hypotheses"][0]["cause"] == "data-loader-bottleneck"
    shares = {p["part"]: p["share"] for p in run["profile"]["parts"]}
    assert max(shares, key=lambda part: shares[part]) == "data"
    assert sum(shares.values()) == pytest.approx(1, abs=0.01)
    assert run["profile"]["steps"] == 6
    assert "ended after" not in done.err  # the script is ended before it ends by itself
    (trace,) = (tmp_path / "here").glob("*.pt.trace.json.gz")
    assert str(trace.relative_to(tmp_path)) in done.err
    again = traindx("diagnose", "-f", "json", trace, cwd=tmp_path)
    assert document(again)["profile"] == run["profile"]


def test_python_between_the_operators(tmp_path: Path) -> None:
    run = document(profile(tmp_path, "--skip", "2", "--steps", "5", "-f", "json", extra=400))
    assert run["findings"][0]["slug"] == "step-idles"
    assert run["findings"][0]["severity"] == "medium"


def test_a_training_that_goes_on_with_another_optimizer_is_traced_all_the_same(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = SCRIPT.format(work=0, width=8, extra=0, stop=10**9).replace("optimizer.zero_grad()", CHANGES, 1)
    (tmp_path / "train.py").write_text(script)
    command = ("profile", "--skip", "5", "--steps", "3", "-f", "json", "--", sys.executable, "train.py")
    done = traindx(*command, cwd=tmp_path, env={"PYTHONWARNINGS": ""})
    assert document(done)["profile"]["steps"] >= 3
    assert "ended after" not in done.err


def test_a_model_that_works_is_fine(tmp_path: Path) -> None:
    done = profile(tmp_path, "--steps", "15", "-f", "json", width=120_000)
    run = document(done)
    assert (run["health"], run["decision"]["action"]) == ("healthy", "continue")
    assert done.status == 0
    operators = {o["operator"] for o in run["profile"]["operators"][:3]}
    assert operators & {"aten::mm", "aten::addmm"}


def test_text_shows_the_table(tmp_path: Path) -> None:
    done = profile(tmp_path, "--steps", "4", work=20)
    for words in (
        "Where the time of a step goes",
        "typical of 4 traced steps",
        "between operators",
        "aten::",
    ):
        assert words in done.out
    for suffix in ("html", "md"):
        name = f"report.{suffix}"
        trace = next(tmp_path.glob("traindx-runs/*/*.gz"))
        traindx("diagnose", "-q", trace, "-o", name, cwd=tmp_path)
        assert "Where the time of a step goes" in (tmp_path / name).read_text()


def test_a_script_that_ends_too_early(tmp_path: Path) -> None:
    done = profile(tmp_path, stop=5)
    assert (done.status, done.out) == (2, "ended after 5\n")
    assert "nothing was traced: the script ended after 5 optimizer steps" in done.err
    assert not list(tmp_path.glob("traindx-runs/*"))


def test_a_script_that_ends_within_the_trace(tmp_path: Path) -> None:
    run = document(profile(tmp_path, "--skip", "3", "--steps", "50", "-f", "json", stop=9))
    assert run["profile"]["steps"] == 6


def test_from_the_first_step(tmp_path: Path) -> None:
    assert document(profile(tmp_path, "--skip", "0", "--steps", "3", "-f", "json"))["profile"]["steps"] == 3


def test_without_a_training(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)")
    done = traindx("profile", "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.status == 2
    assert "nothing was traced: the script never imported torch" in done.err


def test_a_trace_of_an_accelerator(tmp_path: Path) -> None:
    steps = [e for i in range(8) for e in traces.device_step(50 * i, i, waits=4)]
    (tmp_path / "worker0.pt.trace.json").write_text(traces.document(steps, device="NVIDIA H200"))
    done = traindx("diagnose", "worker0.pt.trace.json", "-f", "json", cwd=tmp_path)
    run = document(done)
    slugs = [f["slug"] for f in run["findings"]]
    assert "host-waits-for-accelerator" in slugs
    assert run["profile"]["accelerator"] is True
    assert run["profile"]["idle"] == pytest.approx(0.026)
    text = traindx("diagnose", "worker0.pt.trace.json", cwd=tmp_path).out
    assert "accelerator idle" in text
    assert "waiting for the accelerator" in text
    assert "Read numbers back" in text

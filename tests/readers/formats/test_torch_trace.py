"""Chrome traces: known times, what torch.profiler itself says, damage, memory."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tests.readers.writers import traces
from traindx import pipeline
from traindx.errors import NotALog
from traindx.readers.formats import torch_trace
from traindx.readers.raw import source_of
from traindx.vocabulary.run import Run


def read(path: Path, text: str | bytes) -> Run:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    (found,) = pipeline.read_all(path)
    return found


def values(run: Run, name: str) -> list[float]:
    return [round(v * 1e3, 3) for v in run.series[name].values.tolist()]


def test_the_parts_of_a_step_on_the_host(tmp_path: Path) -> None:
    steps = [e for i in range(3) for e in traces.host_step(110 * i, 7 + i)]
    run = read(tmp_path / "worker.pt.trace.json", traces.document(steps))
    assert (run.format, run.framework, run.setup.device) == ("torch-trace", "torch", "cpu")
    assert run.series["time/step"].steps.tolist() == [7, 8, 9]
    expected = {"step": 100, "data": 30, "forward": 20, "backward": 25, "optimizer": 15, "idle": 10}
    assert {name: values(run, f"time/{name}") for name in expected} == {
        n: [v] * 3 for n, v in expected.items()
    }
    assert values(run, "time/idle_longest") == [5.0] * 3
    panel = run.panels["operator_time"]
    own = dict(zip(panel.modules, (panel.values[0] * 1e3).round(3).tolist(), strict=True))
    assert own == {
        "aten::stack": 20,
        "aten::addmm": 16,
        "aten::mm": 8,
        "aten::linear": 4,
        "aten::add_": 4,
        "others": 0,
    }


def test_the_accelerator(tmp_path: Path) -> None:
    steps = [e for i in range(4) for e in traces.device_step(60 * i, i)]
    run = read(tmp_path / "rank0.pt.trace.json", traces.document(steps, device='H200 "big"'))
    assert run.setup.device == 'H200 "big"'
    assert values(run, "time/idle") == [26.0] * 4
    assert values(run, "time/transfer") == [5.0] * 4
    assert values(run, "time/synchronize") == [6.0] * 4
    assert run.series["calls/synchronize"].values.tolist() == [2.0] * 4
    np.testing.assert_allclose(run.series["util/device"].values, 24 / 50)
    panel = run.panels["kernel_time"]
    assert dict(zip(panel.modules, (panel.values[0] * 1e3).round(3).tolist(), strict=True)) == {
        "gemm<float>": 12, "void elementwise<float>": 8, "Memcpy HtoD (Pinned -> Device)": 5, "others": 0,
    }  # fmt: skip


def test_steps_without_the_profilers_marks_go_from_optimizer_to_optimizer(tmp_path: Path) -> None:
    steps = [
        e for i in range(3) for e in traces.host_step(100 * i, i) if not e["name"].startswith("ProfilerStep")
    ]
    run = read(tmp_path / "t.json", traces.document(steps))
    assert values(run, "time/step") == [95.0, 100.0, 100.0]
    assert values(run, "time/optimizer") == [15.0] * 3


def test_a_step_that_the_end_cut_off_is_left_out(tmp_path: Path) -> None:
    steps = [e for i in range(2) for e in traces.host_step(100 * i, i)]
    rest = traces.event("user_annotation", "ProfilerStep#2", 200, 3)
    run = read(tmp_path / "t.json", traces.document([*steps, rest]))
    assert run.series["time/step"].steps.tolist() == [0, 1]


def test_it_says_the_same_as_the_profiler(tmp_path: Path) -> None:
    """The oracle: torch.profiler's own table of own times and calls."""
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model(torch.randn(8, 32)).sum().backward()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        for _ in range(4):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(torch.randn(8, 32)), torch.zeros(8).long()).backward()
            optimizer.step()
    profiler.export_chrome_trace(str(tmp_path / "a.pt.trace.json.gz"))
    (run,) = pipeline.read_all(tmp_path / "a.pt.trace.json.gz")
    times, calls = run.panels["operator_time"], run.panels["operator_calls"]
    table = {row.key: row for row in profiler.key_averages()}
    assert len(run.series["time/step"]) == 4
    shown = [name for name in times.modules if name != "others"]
    assert {"aten::addmm", "aten::mm"} <= set(shown)
    for name in shown:
        column = times.modules.index(name)
        assert calls.values[:, column].sum() == table[name].count, name
        own = times.values[:, column].sum() * 1e6
        assert own == pytest.approx(table[name].self_cpu_time_total, abs=1.0 * table[name].count), name


def test_a_cut_file_gives_the_whole_steps_and_says_so(tmp_path: Path) -> None:
    text = traces.document([e for i in range(5) for e in traces.host_step(100 * i, i)])
    run = read(tmp_path / "t.json", text[: int(0.7 * len(text))])
    assert len(run.series["time/step"]) == 3
    assert any(e.kind == "parse-warning" for e in run.events)
    packed = gzip.compress(text.encode())
    run = read(tmp_path / "t.json.gz", packed[: int(0.8 * len(packed))])
    assert len(run.series["time/step"]) >= 1
    assert any(e.kind == "parse-warning" for e in run.events)


def test_a_damaged_event_is_passed_over(tmp_path: Path) -> None:
    text = traces.document([e for i in range(3) for e in traces.host_step(100 * i, i)])
    broken = text.replace('"name": "aten::mm",', '"name": "aten::mm,', 1)
    run = read(tmp_path / "t.json", broken)
    assert values(run, "time/step") == [100.0] * 3
    assert run.panels["operator_calls"].values[
        :, run.panels["operator_calls"].modules.index("aten::mm")
    ].tolist() == [
        0,
        1,
        1,
    ]
    assert "1 damaged events were left out" in [e.message for e in run.events]


@pytest.mark.parametrize(
    "odd",
    [{"ts": "x"}, {"ts": 10**400}, {"ts": None}, {"dur": -5}, {"dur": "1e999"}, {"name": None}, {"pid": [1]},
     {"args": 3}, {"cat": {}}, {"ph": 7}],
)  # fmt: skip
def test_odd_values_are_survived(tmp_path: Path, odd: dict[str, object]) -> None:
    steps = [e for i in range(2) for e in traces.host_step(100 * i, i)]
    steps.append({**traces.event("cpu_op", "aten::odd", 150, 1), **odd})
    assert values(read(tmp_path / "t.json", traces.document(steps)), "time/step") == [100.0, 100.0]


def test_other_traces_are_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "chrome.json"
    path.write_text(
        json.dumps({"traceEvents": [{"ph": "X", "cat": "toplevel", "name": "a", "ts": 1, "dur": 1}]})
    )
    assert torch_trace.sniff(source_of(path)) == 0.6
    with pytest.raises(NotALog, match="without operators of PyTorch"):
        pipeline.read_all(path)


def test_memory_does_not_grow_with_what_is_in_an_event(tmp_path: Path) -> None:
    """40 MB of trace, most of it arguments; what is held is far less."""
    path = tmp_path / "big.pt.trace.json"
    step = [{**e, "args": {"stack": "x" * 20_000}} for e in traces.host_step(0, 0)]
    with open(path, "w") as file:
        file.write('{"schemaVersion": 1, "traceEvents": [')
        for i in range(200):
            moved = [{**e, "ts": e["ts"] + 1e5 * i, "name": e["name"].replace("#0", f"#{i}")} for e in step]
            file.write(",\n".join(json.dumps(e) for e in moved) + ("," if i < 199 else ""))
        file.write("]}")
    assert path.stat().st_size > 39e6
    tracemalloc.start()
    (run,) = pipeline.read_all(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(run.series["time/step"]) == 200
    assert peak < 16e6


def test_a_damaged_name_of_the_device_leaves_the_steps(tmp_path: Path) -> None:
    steps = [e for i in range(3) for e in traces.host_step(110 * i, i)]
    text = traces.document(steps, "NVIDIA H200").replace("NVIDIA H200", "NVIDIA\x01H200")
    run = read(tmp_path / "worker.pt.trace.json", text)
    assert run.series["time/step"].steps.tolist() == [0, 1, 2]
    assert run.setup.device is None

"""Profiles of JAX and TensorFlow: known times, the same events as a Chrome trace, damage, memory."""

from __future__ import annotations

import contextlib
import gzip
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tests.readers.writers import xplane as xplane
from traindx import pipeline
from traindx.errors import NotALog
from traindx.readers.formats import xplane as reader
from traindx.readers.raw import source_of
from traindx.vocabulary.run import Run


def read(path: Path, data: bytes) -> Run:
    path.write_bytes(data)
    (found,) = pipeline.read_all(path)
    return found


def values(run: Run, name: str) -> list[float]:
    return [round(v * 1e3, 3) for v in run.series[name].values.tolist()]


def own(run: Run, signal: str) -> dict[str, float]:
    panel = run.panels[signal]
    return dict(zip(panel.modules, (panel.values[0] * 1e3).round(3).tolist(), strict=True))


def test_the_parts_of_a_step_on_the_host(tmp_path: Path) -> None:
    run = read(tmp_path / "host.xplane.pb", xplane.space(*xplane.host_steps(4)))
    assert (run.format, run.framework, run.setup.device) == ("xplane", "jax", "cpu")
    assert run.series["time/step"].steps.tolist() == [5, 6, 7]  # the last one's end is not known
    expected = {
        "step": [100] * 3,
        "data": [20] * 3,
        "compute": [60] * 3,
        "compile": [10, 0, 0],
        "idle": [10, 20, 20],
    }
    assert {name: values(run, f"time/{name}") for name in expected} == expected
    assert own(run, "operator_time") == {"while.3": 30, "fusion.2": 20, "dot.1": 10, "others": 0}
    assert run.panels["operator_calls"].values[0].tolist() == [1, 1, 1, 0]


def test_steps_without_marks_are_the_calls_of_the_program(tmp_path: Path) -> None:
    run = read(tmp_path / "a.xplane.pb", xplane.space(*xplane.host_steps(5, annotated=False)))
    assert values(run, "time/step") == [100.0] * 4
    assert run.series["time/step"].steps.tolist() == [0, 1, 2, 3]


def test_the_accelerator(tmp_path: Path) -> None:
    run = read(tmp_path / "a.xplane.pb", xplane.space(*xplane.device_steps(4)))
    assert values(run, "time/step") == [50.0] * 4
    assert values(run, "time/idle") == [26.0] * 4
    assert values(run, "time/transfer") == [5.0] * 4
    np.testing.assert_allclose(run.series["util/device"].values, 24 / 50)
    assert own(run, "kernel_time") == {"gemm": 12, "loop_fusion": 8, "MemcpyH2D": 5, "others": 0}


def chrome(planes: list[tuple[str, dict[str, list[xplane.Ev]]]]) -> bytes:
    """The same as JAX writes it next to the profile."""
    logged: list[dict[str, object]] = []
    for pid, (name, lines) in enumerate(planes, start=1):
        logged.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}})
        for tid, (title, events) in enumerate(lines.items(), start=1):
            logged.append(
                {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": title}}
            )
            for one in events:
                args = ({"hlo_op": one.name} if one.op else {}) | (
                    {} if one.step is None else {"step_num": str(one.step)}
                )
                logged.append({"ph": "X", "pid": pid, "tid": tid, "name": one.name, "ts": 1e3 * one.start,
                             "dur": 1e3 * one.length, "args": args})  # fmt: skip
    head = {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": logged}
    return gzip.compress(json.dumps(head).encode())


def test_a_chrome_trace_gives_the_same(tmp_path: Path) -> None:
    step = [xplane.Ev("train", 50.0 * i, 9.0, step=i) for i in range(4)]
    ops = [xplane.Ev("dot.1", 50.0 * i + 10, 30.0, op=True) for i in range(4)]
    lines = {"python": step, "tf_XLAEigen/1": ops}
    one = read(tmp_path / "a.trace.json.gz", chrome([("/host:CPU", lines)]))
    other = read(tmp_path / "a.xplane.pb", xplane.space(xplane.plane("/host:CPU", lines)))
    assert (one.format, one.setup.device) == ("xla-trace", "cpu")
    assert one.series.keys() == other.series.keys()
    for name, series in one.series.items():
        np.testing.assert_allclose(series.values, other.series[name].values, atol=1e-9)
    assert own(one, "operator_time") == own(other, "operator_time") == {"dot.1": 30, "others": 0}


def test_of_a_folder_the_profile_is_read_once(tmp_path: Path) -> None:
    folder = tmp_path / "plugins" / "profile" / "2026_01_02"
    folder.mkdir(parents=True)
    (folder / "host.xplane.pb").write_bytes(xplane.space(*xplane.host_steps(4)))
    (folder / "host.trace.json.gz").write_bytes(chrome([("/host:CPU", {"python": []})]))
    (run,) = pipeline.read_all(tmp_path)
    assert run.format == "xplane"


def test_a_packed_profile_is_read(tmp_path: Path) -> None:
    run = read(tmp_path / "a.xplane.pb.gz", gzip.compress(xplane.space(*xplane.host_steps(4))))
    assert values(run, "time/step") == [100.0] * 3


@pytest.mark.parametrize("share", [0.1, 0.4, 0.9, 0.99])
def test_a_cut_profile_is_reported(tmp_path: Path, share: float) -> None:
    """Names are at the end of a plane: what was cut before them is refused, and the reason is given."""
    data = xplane.space(*xplane.device_steps(50), *xplane.host_steps(50))
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(data[: int(share * len(data))])
    if share < 0.2:
        with pytest.raises(NotALog, match="without operations"):
            pipeline.read_all(path)
        return
    (run,) = pipeline.read_all(path)
    assert any(e.kind == "parse-warning" and "ends in the middle" in e.message for e in run.events)
    assert len(run.series["time/step"]) > 1


@pytest.mark.parametrize("at", range(0, 400, 7))
def test_a_damaged_byte_never_ends_in_a_crash(tmp_path: Path, at: int) -> None:
    data = bytearray(xplane.space(*xplane.host_steps(4)))
    data[at] ^= 0xFF
    path = tmp_path / "a.xplane.pb"
    path.write_bytes(bytes(data))
    with contextlib.suppress(NotALog):
        pipeline.read_all(path)


def test_other_messages_are_not_claimed(tmp_path: Path) -> None:
    for name, data in {
        "a": b"\x0a\x05hello",
        "b": b"\x0a\xff\xff",
        "c": b"\x0a\x04\x12\x02/x",
        "d": b"{}",
    }.items():
        (tmp_path / name).write_bytes(data)
        assert reader.sniff(source_of(tmp_path / name)) == 0.0


def test_memory_does_not_grow_with_what_is_passed_over(tmp_path: Path) -> None:
    """A profile of 60 MB, most of it programs in the names' metadata."""
    path = tmp_path / "big.xplane.pb"
    data = xplane.space(*xplane.host_steps(4))
    path.write_bytes(xplane.space(xplane.plane("/host:metadata", {"x": [xplane.Ev(f"p{i}", 0, 1) for i in range(30)]},
                                               pad=2_000_000)) + data)  # fmt: skip
    assert path.stat().st_size > 59e6
    tracemalloc.start()
    (run,) = pipeline.read_all(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(run.series["time/step"]) == 3
    assert peak < 16e6


def test_it_reads_what_jax_writes(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @jax.jit
    def step(w, x):  # type: ignore[no-untyped-def]
        return w - 1e-3 * jax.grad(lambda w: ((jnp.tanh(x @ w) @ w.T - x) ** 2).mean())(w)

    w, x = jnp.ones((256, 256)) / 256, jnp.ones((512, 256))
    step(w, x).block_until_ready()
    with jax.profiler.trace(str(tmp_path)):
        for i in range(8):
            with jax.profiler.StepTraceAnnotation("train", step_num=20 + i):
                w = step(w, x).block_until_ready()
    (run,) = pipeline.read_all(tmp_path)
    assert (run.format, run.framework) == ("xplane", "jax")
    assert run.series["time/step"].steps.tolist() == [20, 21, 22, 23, 24, 25, 26]
    assert any("dot" in name for name in run.panels["operator_time"].modules)
    computed, whole = run.series["time/compute"].values, run.series["time/step"].values
    assert (computed > 0).all()
    assert (computed <= whole).all()


def test_it_reads_what_tensorflow_writes(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")

    @tf.function
    def step(w, x):  # type: ignore[no-untyped-def]
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = tf.reduce_mean((tf.matmul(tf.tanh(tf.matmul(x, w)), w, transpose_b=True) - x) ** 2)
        return w - 1e-3 * tape.gradient(loss, w)

    w, batches = tf.ones((256, 256)) / 256, iter(tf.data.Dataset.from_tensors(tf.ones((512, 256))).repeat())
    w = step(w, next(batches))
    tf.profiler.experimental.start(str(tmp_path))
    for i in range(8):
        with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
            w = step(w, next(batches))
    tf.profiler.experimental.stop()
    (run,) = pipeline.read_all(tmp_path)
    assert (run.format, run.framework) == ("xplane", "tensorflow")
    assert len(run.series["time/step"]) == 7
    assert any("MatMul" in name for name in run.panels["operator_time"].modules)

"""Write Chrome traces as torch.profiler does, with times that are known."""

from __future__ import annotations

import json
from typing import Any

HOST, BACKWARD_THREAD, STREAM = (100, 100), (100, 101), (0, 7)


def event(
    cat: str, name: str, start: float, length: float, thread: tuple[int, int] = HOST, **args: Any
) -> dict[str, Any]:
    """Times in milliseconds; the file has microseconds."""
    return {
        "ph": "X", "cat": cat, "name": name, "pid": thread[0], "tid": thread[1], "ts": 5e9 + 1e3 * start,
        "dur": 1e3 * length, "args": args,
    }  # fmt: skip


def host_step(at: float, number: int) -> list[dict[str, Any]]:
    """A step of 100 ms: 30 data, 20 forward (a call within a call), 25 backward in two functions with 1 ms
    of the engine between them, 15 optimizer, 10 of Python."""
    backward = "autograd::engine::evaluate_function: "
    return [
        event("user_annotation", f"ProfilerStep#{number}", at, 100),
        event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 30),
        event("cpu_op", "aten::stack", at + 5, 20),
        event("cpu_op", "aten::linear", at + 30, 20),
        event("cpu_op", "aten::addmm", at + 32, 16),
        event("cpu_op", backward + "AddmmBackward0", at + 55, 10),
        event("cpu_op", "aten::mm", at + 56, 8),
        event("cpu_op", backward + "torch::autograd::AccumulateGrad", at + 66, 14),
        event("user_annotation", "Optimizer.step#Adam.step", at + 80, 15),
        event("cpu_op", "aten::add_", at + 81, 4),
    ]


def device_step(at: float, number: int, waits: int = 2) -> list[dict[str, Any]]:
    """A step of 50 ms: kernels for 20 ms and a copy of 5 ms (overlapping by 1), so the accelerator idles 26
    ms; the host waits for it `waits` times, 3 ms each."""
    made = [
        event("user_annotation", f"ProfilerStep#{number}", at, 50),
        event("cpu_op", "aten::linear", at + 2, 6),
        event("cuda_runtime", "cudaLaunchKernel", at + 3, 1, correlation=number),
        event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", at + 4, 5, STREAM),
        event("kernel", "gemm<float>", at + 8, 12, STREAM, correlation=number),
        event("kernel", "void elementwise<float>", at + 30, 8, STREAM),
        event("gpu_user_annotation", f"ProfilerStep#{number}", at + 4, 40, STREAM),
        event("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", at + 10, 10, BACKWARD_THREAD),
        event("user_annotation", "Optimizer.step#SGD.step", at + 40, 5),
    ]
    return made + [event("cuda_runtime", "cudaStreamSynchronize", at + 22 + 4 * i, 3) for i in range(waits)]


def document(events: list[dict[str, Any]], device: str = "") -> str:
    """The whole file."""
    properties = [{"id": 0, "name": device, "totalGlobalMem": 1}] if device else []
    head = {"schemaVersion": 1, "deviceProperties": properties, "displayTimeUnit": "ms"}
    return json.dumps({**head, "traceEvents": events, "traceName": "x.pt.trace.json"}, indent=2)

"""Profiles byte by byte, after xplane.proto: independent of the reader. Times in milliseconds."""

from __future__ import annotations

from typing import NamedTuple

from tests.readers.writers.tfevents import block, varint

HLO, STEP = "hlo_op", "step_num"
MARK = (1, 2)


class Ev(NamedTuple):
    """`op`: it says that it is an operation; `step`: the number that it gives itself."""

    name: str
    start: float
    length: float
    op: bool = False
    step: int | None = None


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def plane(
    name: str, lines: dict[str, list[Ev]], *, pad: int = 0, begin_ns: int = 1_700_000_000_000_000_000
) -> bytes:
    """One plane. `pad`: bytes of metadata of each event's name, which only other programs read."""
    names = {
        one.name: i for i, one in enumerate(dict.fromkeys(e for es in lines.values() for e in es), start=1)
    }
    out = number(1, 7) + block(2, name.encode())
    for place, (title, events) in enumerate(lines.items()):
        written = [number(1, place), block(2, title.encode()), number(3, begin_ns + 1000 * place)]
        for one in events:
            stats = block(4, number(1, 1) + block(5, one.name.encode())) if one.op else b""
            stats += block(4, number(1, 2) + number(4, one.step)) if one.step is not None else b""
            offset = round(one.start * 1e9) - 1_000_000 * place
            when = number(2, offset) + number(3, round(one.length * 1e9))
            written.append(block(4, number(1, names[one.name]) + when + stats))
        out += block(3, b"".join(written))
    for text, key in names.items():
        about = number(1, key) + block(2, text.encode()) + (block(3, b"x" * pad) if pad else b"")
        out += block(4, number(1, key) + block(2, about))
    for key, text in ((1, HLO), (2, STEP)):
        out += block(5, number(1, key) + block(2, number(1, key) + block(2, text.encode())))
    return out


def space(*planes: bytes) -> bytes:
    """The whole file, with a host's name after the planes."""
    return b"".join(block(1, one) for one in planes) + block(4, b"host-1")


def host_steps(count: int, *, first: int = 5, annotated: bool = True) -> list[bytes]:
    """Steps of 100 ms on the processor: 20 data, then operations of 40 (10 of them within another) and of 20
    after a gap of 5, on another thread; the first step compiles for 10 of the 15 that are left."""
    train: list[Ev] = []
    pool: list[Ev] = []
    for i in range(count):
        at = 100.0 * i
        train += [Ev("train", at, 30.0, step=first + i)] if annotated else []
        train += [Ev("Iterator::Prefetch", at, 20.0), Ev("PjitFunction(step)", at + 20.0, 10.0)]
        train.append(Ev("PjitFunction(step)", at + 21.0, 8.0))  # JAX calls it twice
        train += [Ev("backend_compile", at + 87.0, 10.0)] if i == 0 else []
        pool += [Ev("ThunkExecutor::Execute", at + 20.0, 65.0), Ev("while.3", at + 20.0, 40.0, op=True)]
        pool += [Ev("dot.1", at + 25.0, 10.0, op=True), Ev("fusion.2", at + 65.0, 20.0, op=True)]
    empty = plane("/host:metadata", {})
    return [empty, plane("/host:CPU", {"python": train, "tf_XLAEigen/1": pool})]


def device_steps(count: int) -> list[bytes]:
    """Steps of 50 ms: kernels for 20 and a copy of 5 (overlapping by 1), so the accelerator idles for 26."""
    calls = [Ev("PjitFunction(step)", 50.0 * i, 3.0) for i in range(count + 1)]
    stream: list[Ev] = []
    for i in range(count):
        at = 50.0 * i
        stream += [Ev("gemm", at + 8, 12.0), Ev("loop_fusion", at + 30, 8.0)]
    copies = [Ev("MemcpyH2D", 50.0 * i + 4, 5.0) for i in range(count)]
    modules = [Ev("jit_step(1)", 50.0 * i + 4, 40.0) for i in range(count)]
    host = plane("/host:CPU", {"python": calls})
    lines = {"Stream #13(Compute)": stream, "Stream #14(MemcpyH2D)": copies, "XLA Modules": modules}
    return [host, plane("/device:GPU:0", lines)]

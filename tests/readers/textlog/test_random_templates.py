"""Formats met for the first time: random tables printed through random templates come back."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from traindx.errors import ReadError
from traindx.readers.formats import text
from traindx.readers.raw import HEAD_BYTES, Source

LOGS = Path(__file__).parents[2] / "logs" / "text"
NAMES = (
    "loss",
    "train_loss",
    "Acc",
    "lr",
    "grad_norm",
    "accuracy",
    "nll",
    "perplexity",
    "reward",
    "kl",
    "loss_cls",
    "entropy",
)
STEPS = (
    "step",
    "Step",
    "iter",
    "iteration",
    "Iteration:",
    "it",
    "global_step",
    "Epoch",
    "update",
    "step:",
    "step=",
    "[iter",
    "round",
)
BETWEEN = (" ", " | ", ", ", "  ", "\t", " - ", "; ", " || ")
JOINS = ("=", ": ", ":", " = ", " ", "  ")
FORMATS = (".4f", ".6f", ".3e", ".2f", "g", ".5g", "8.3f", "+.3f", ".0f")
PREFIXES = (
    "",
    "[2026-01-02 03:04:05] ",
    "INFO - ",
    "2026-01-02 03:04:05,678 trainer INFO ",
    "[rank0]: ",
    "> ",
    "(main.py 12): ",
)
CHATTER = (
    "",
    "saving checkpoint to out/model.pt",
    "worker 3 took 0.25 seconds",
    "----",
    "GPU 0 is warm (71 C)",
    "see https://a.b/c?d=1",
)

numbers = st.one_of(
    st.floats(-1e4, 1e4, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-4),
    st.sampled_from([math.nan, math.inf, -math.inf]),
)


def read(data: bytes) -> dict[str, tuple[list[float], list[float]]]:
    (log,) = text.read(Source("random.log", data=data, head=data[:HEAD_BYTES]))
    return {
        n: (c.steps.tolist() if c.steps is not None else [], c.values.tolist())
        for n, c in log.columns.items()
    }


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_table_printed_in_any_way_comes_back(data: st.DataObject) -> None:
    draw = data.draw
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True))
    spacing, start = draw(st.integers(1, 100)), draw(st.integers(0, 1000))
    count = draw(st.integers(4, 25))
    step, prefix = draw(st.sampled_from(STEPS)), draw(st.sampled_from(PREFIXES))
    between, join = draw(st.sampled_from(BETWEEN)), draw(st.sampled_from(JOINS))
    assume(between != join)
    assume(
        not (
            (join == " " and between in (" ", "  ", " - "))
            or (join == "  " and between in (" ", "  ", "\t"))
        )
    )
    formats = [draw(st.sampled_from(FORMATS)) for _ in names]
    chatter = draw(st.sampled_from(CHATTER))
    values = [[draw(numbers) for _ in names] for _ in range(count)]
    expected: dict[str, list[float]] = {n: [] for n in names}
    lines = []
    for i, row in enumerate(values):
        shown = [format(v, f) for v, f in zip(row, formats, strict=True)]
        for name, word in zip(names, shown, strict=True):
            expected[name].append(float(word))
        close = "]" if step.startswith("[") else ""
        glue = "" if step.endswith("=") else " "
        head = f"{prefix}{step}{glue}{start + i * spacing}{close}"
        lines.append(
            head + between + between.join(f"{n}{join}{w}" for n, w in zip(names, shown, strict=True))
        )
        if chatter and i % 3 == 0:
            lines.append(chatter)
    found = read("\n".join(lines).encode())
    for name in names:
        assert name in found, (lines[0], found)
        steps, read_values = found[name]
        np.testing.assert_array_equal(read_values, expected[name], err_msg=lines[0])
        assert steps == [start + i * spacing for i in range(count)], lines[0]


SAMPLES = [path.read_bytes() for path in sorted(LOGS.glob("*.log"))]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damage_never_raises_anything_but_a_read_error(data: st.DataObject) -> None:
    """Bytes flipped, pieces cut out, repeated or taken from another log."""
    draw = data.draw
    raw = bytearray(draw(st.sampled_from(SAMPLES)))
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, max(len(raw) - 1, 0)))
        end = min(at + draw(st.integers(1, 400)), len(raw))
        kind = draw(st.sampled_from(("flip", "cut", "repeat", "splice", "digits")))
        if kind == "flip":
            raw[at:end] = bytes(b ^ draw(st.integers(1, 255)) for b in raw[at : min(end, at + 3)])
        elif kind == "cut":
            del raw[at:end]
        elif kind == "repeat":
            raw[at:at] = raw[at:end] * draw(st.integers(1, 5))
        elif kind == "splice":
            other = draw(st.sampled_from(SAMPLES))
            raw[at:at] = other[: draw(st.integers(0, 2000))]
        else:
            raw[at:at] = draw(
                st.sampled_from(
                    (b"9" * 400, b"1e999", b"-" * 50, b"((((", b"nan" * 20, b"\x00", b"1/0", b"," * 100)
                )
            )
    try:
        (log,) = text.read(Source("damaged.log", data=bytes(raw), head=bytes(raw[:HEAD_BYTES])))
    except ReadError:
        return
    for column in log.columns.values():
        assert column.steps is not None
        assert len(column.values) == len(column.rows) == len(column.steps) > 0
        assert np.isfinite(column.steps).all()


def test_a_log_cut_anywhere_is_read_up_to_there() -> None:
    logged = json.loads((LOGS / "logging_lines.json").read_text())["columns"]["loss"]
    whole = (LOGS / "logging_lines.log").read_bytes()
    for share in (0.1, 0.37, 0.5, 0.83):
        part = whole[: int(share * len(whole))]
        kept = part[: part.rfind(b"\n") + 1].count(b"loss=")
        _, values = read(part)["loss"]
        assert values[:kept] == logged["values"][:kept]
        assert len(values) <= kept + 1


HOSTILE = (
    "9" * 16000,
    " " * 16000 + "1",
    "a " * 8000 + "1",
    "loss" * 4000 + " 1",
    "|" + "a" * 16000,
    "=== a" + " " * 16000 + "b",
    "it/s " * 3000 + "{ 1",
    "}" * 8000 + "%| 1",
    "iter " + "1 " * 300 + "loss .5",
    "iter " + "1" * 300 + " loss .5 x 5.",
    "(" * 16000 + "1",
    "loss: " * 2700 + "1",
    "1/" * 8000,
    "1:" * 8000,
    "1-" * 8000,
    "1 day, " * 2000,
    "'" * 16000 + ":1",
    "[" * 16000 + "1",
    "\x1b]" * 5000,
    " iteration 1/ 2 | " + "x" * 16000,
    " " * 16000 + "iteration 1/ 2 | a",
    "Traceback (most recent call last):",
    "a.b:" * 4000,
    "a=" * 8000,
    "epoch " + "\t" * 16000 + "1",
    "-" * 16000,
    "| a " * 4000 + "|",
    "nan " * 4000,
    "1,000" + ",000" * 4000,
    "#" * 16000,
    "{" * 16000 + "'a': 1",
)


def test_hostile_lines_take_no_time() -> None:
    """Each line twice with other digits, so that templates are tried on it too."""
    for line in HOSTILE:
        data = "\n".join(
            [line, line.replace("1", "23"), line.replace("1", ".5"), "step 1 loss 0.5", "step 2 loss 0.25"]
        ).encode()
        begin = time.process_time()
        found = read(data)
        assert time.process_time() - begin < 10.0, line[:40]  # what backtracks takes minutes
        assert "loss" in found, line[:40]

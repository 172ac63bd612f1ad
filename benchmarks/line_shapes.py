"""Invent line shapes of training logs and read each back: `python -m benchmarks.line_shapes --count 5000 --seed 0`.

A shape is drawn from a grammar: the order of name, counter and value, separators, brackets, units, prefixes (time,
level, rank), one metric a line or several, headers and chatter in between, encoding and colours. A log of that shape
holds known numbers. It is read right when every metric comes back with its digits at the steps it was printed with.
A log that is refused, or a metric that is missing, is counted by the parts of its shape.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from traindx.errors import ReadError
from traindx.readers import read_source
from traindx.readers.assembly.runs import assemble
from traindx.readers.raw import Source

ROWS = 24
METRICS = (
    "loss", "Loss", "train_loss", "train loss", "Training Loss", "val_loss", "validation loss", "Val Loss", "accuracy",
    "acc", "Train Acc", "val_acc", "perplexity", "D_loss", "discriminator loss", "generator_loss", "lr", "grad_norm",
    "reward", "mIoU", "F1", "mse", "kl", "cls_loss", "train/loss", "eval_loss", "Test Loss", "valid acc", "Avg loss",
    "avg_loss", "l2_loss", "total loss", "D(x)", "G_loss", "top1", "ppl", "psnr", "BLEU", "auc", "entropy", "return",
    "Verlust", "Genauigkeit", "perte", "pérdida", "потери", "точность", "损失", "训练损失", "准确率", "損失", "精度",
)  # fmt: skip
COUNTERS = (
    "step",
    "Step",
    "iter",
    "Iter",
    "iteration",
    "Iteration",
    "epoch",
    "Epoch",
    "global_step",
    "update",
    "batch",
    "it",
    "Episode",
    "Epoche",
    "época",
    "эпоха",
    "轮次",
    "步数",
)
HELD_OUT = ("val", "eval", "test")
ASSIGN = (
    ": ",
    "=",
    " = ",
    " ",
    ":",
    " is ",
    " -> ",
    " : ",
    "：",
    " => ",
    " == ",
    "\t",
    ":\t",
    "....: ",
    ": ~",
)
BETWEEN = (
    ", ",
    " | ",
    " - ",
    "  ",
    "; ",
    "\t",
    " ",
    " || ",
    " / ",
    " * ",
    "，",
    " – ",
    " ; ",
    " • ",
    " and ",
)
UNITS = ("", "", "", "", "%", " nats", " dB", " (avg)", ".", "x")
# How a value is written around its number.
AROUND = (
    "{}",
    "{}",
    "{}",
    "{}",
    "[{}]",
    "({})",
    "'{}'",
    "{} ({})",
    "\x1b[33m{}\x1b[0m",
    "tensor({})",
    "<{}>",
    "np.float32({})",
    "tensor({}, device='cuda:0')",
    "{} ± 0.01",
    "[{}]\t",
)
COUNTED = (
    "{c} {n}",
    "{c}: {n}",
    "{c}={n}",
    "[{c} {n}]",
    "{c} [{n}/{total}]",
    "{c} {n}/{total}",
    "({c} {n})",
    "{c}-{n}",
    "{c} #{n}",
    "{c}: {n:04d}",
    "{c} {n} of {total}",
    "{c} {n} ({share:.0f}%)",
    "[{n}/{total}]",
    "--- {c} {n} ---",
    "<{c}={n}>",
    "{c}:{n:6d}",
    "({n} {share:.0f}%)",
    "1m 4s (- 15m 5s) ({n} {share:.0f}%)",
    "{c} {n} [rank 0]",
    "{{{c} {n}}}",
)
PREFIXES = (
    "", "", "", "2024-05-01 12:{m:02d}:{s:02d},123 INFO ", "[2024-05-01 12:{m:02d}:{s:02d}] ", "INFO:root:",
    "[rank0]: ", "INFO - trainer - ", "[INFO] ", "(worker pid=1234) ", ">> ", "12:{m:02d}:{s:02d} | ",
    "\x1b[32mINFO\x1b[0m ", "I0601 12:{m:02d}:{s:02d}.885972 24067 solver.cpp:48] ", "[1,0]<stdout>:", "0: ", "* ",
    "2024/05/01 12:{m:02d}:{s:02d} ", "May 01 12:{m:02d}:{s:02d} node7 python[812]: ", "[GPU 0] ", "| INFO | ",
    "2024-05-01T12:{m:02d}:{s:02d}Z ", "<12:{m:02d}:{s:02d}> ", "[12:{m:02d}:{s:02d} trainer.py:88] ", "Train: ",
    "(rank 0) ", "2024-05-01 12:{m:02d}:{s:02d} | rank=0 | ", "INFO:tensorflow:", "#### ", "[0] ", "Worker 1: ",
)  # fmt: skip
CHATTER = ("Saving checkpoint to out/ckpt.pt", "----------------", "Model saved.", "")
HEADERS = (
    "Loading data from ./data",
    "Using device: cuda",
    "Model has 12,345 parameters",
    "=== training ===",
    "",
)
# Where the counter stands. "inside": between the name of a metric and its value. "nested": within another counter.
# "unnamed": a value that no name precedes.
ORDERS = ("counter first", "counter last", "inside", "nested", "unnamed")
INSIDE = ("{name} at {c} {n}: {v}", "{name} at {c} {n} = {v}", "{name} after {n} {c}s: {v}", "{name} ({c} {n}): {v}",
          "{name} @ {c} {n}: {v}", "{name} for {c} {n}: {v}", "{name} in {c} {n} is {v}", "{name}[{n}] = {v}",
          "At {c} {n}, {name} = {v}", "{c} {n} {name}: {v}", "{c} {n}'s {name}: {v}",
          "The {name} of {c} {n} was {v}", "{name} is {v} in {c} {n}", "After {n} {c}s the {name} is {v}",
          "In {c} {n} the {name} equals {v}", "{name} on {c} {n} was {v}", "{name} {v} at {c} {n}")  # fmt: skip
NESTED = ("{name} at epoch {e} and {c} {n} is {v}", "epoch {e}, {c} {n}: {v}", "Epoch {e} {c} {n}: {name} = {v}",
          "{name} after epoch {e} {c} {n} = {v}", "epoch={e} {c}={n} {v}", "[{e}, {n:5d}] {name}: {v}",
          "[{e}, {n:5d}] {v}", "Epoch {e} | {c} {n} | {v}", "{name} on epoch {e}, {c} {n} was {v}")  # fmt: skip
WITHIN = ("batch", "iteration", "step", "Batch", "iter", "Step")
EACH = 6  # lines of an epoch
UNNAMED = ("{c} {n}: {v}", "{c} {n} - {v}", "{c} {n} | {v}", "{c}: {n}, {v}", "{c}={n} {v}", "[{c} {n}] {v}",
           "[{n}] {v}", "{n} {v}", "{n}\t{v}", "{c} {n} {v}", "({n}, {v})", "{c} {n} => {v}")  # fmt: skip


SENTENCES = {"inside": INSIDE, "nested": NESTED, "unnamed": UNNAMED}


class Shape(NamedTuple):
    """One invented shape; `parts` name its choices, for counting."""

    order: str
    counter: str
    counted: str
    metrics: tuple[str, ...]
    assign: str
    between: str
    prefix: str
    inside: str  # the sentence, where the order needs one
    digits: int
    chatter: int  # a line of chatter after every so many lines; 0: none
    headers: int
    encoding: str
    unit: str = ""
    around: str = "{}"
    block: bool = False  # one line for the counter, and one for each metric

    def parts(self) -> list[str]:
        form = self.inside if self.order in SENTENCES else f"{self.order} {self.counted!r}"
        return [f"form {form}", f"assign {self.assign!r}", f"between {self.between!r}", f"prefix {self.prefix!r}",
                f"encoding {self.encoding}", f"unit {self.unit!r}", f"around {self.around!r}", f"block {self.block}",
                *(f"metric {m}" for m in self.metrics)]  # fmt: skip


def draw(rng: random.Random) -> Shape:
    """A shape by chance; without combinations that no person could read either."""
    order = rng.choice(ORDERS)
    assign = rng.choice(ASSIGN)
    metrics = tuple(rng.sample(METRICS, 1 if order in SENTENCES else rng.randint(1, 3)))
    if len({m.lower().replace(" ", "_") for m in metrics}) < len(metrics) or {
        m.lower() for m in metrics
    } <= {"lr"}:
        metrics = ("loss",)
    counter = rng.choice(COUNTERS)
    if counter == "batch" and any(m.lower().startswith(HELD_OUT) for m in metrics):
        counter = "step"  # batches of an evaluation are one value
    if order == "nested":
        counter = rng.choice(WITHIN)
    inside = rng.choice(SENTENCES.get(order, INSIDE))
    bare = order in ("nested", "unnamed") and "{c}" not in inside and "{name}" not in inside
    between = rng.choice([b for b in BETWEEN if b != " " or assign in ("=", ": ")])
    return Shape(
        order, counter, rng.choice(COUNTED), metrics, assign, between, "" if bare else rng.choice(PREFIXES),
        inside, rng.randint(2, 6), rng.choice((0, 0, 5)), rng.randint(0, len(HEADERS)),
        rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16")), rng.choice(UNITS), rng.choice(AROUND),
        order == "counter first" and rng.random() < 0.1,
    )  # fmt: skip


def written(shape: Shape, rng: random.Random) -> tuple[str, dict[str, list[str]], list[int]]:
    """A log of the shape, the digits of each metric, and the steps."""
    stride = 1 if "epoch" in shape.counter.lower() else rng.choice((1, 10, 100))
    steps = [(i + (shape.order != "nested")) * stride for i in range(ROWS)]
    values = {
        m: [
            f"{rng.uniform(0.05, 3.0) * (0.01 if m == 'lr' else 1) * 0.97**i:.{shape.digits + 2 * (m == 'lr')}f}"
            for i in range(ROWS)
        ]
        for m in shape.metrics
    }
    lines = list(HEADERS[: shape.headers])
    for i, step in enumerate(steps):
        prefix = shape.prefix.format(m=i % 60, s=(7 * i) % 60)
        named = [(name, values[name][i]) for name in shape.metrics]
        lines.append(prefix + line_of(shape, step, steps[-1], named))
        if shape.chatter and i % shape.chatter == shape.chatter - 1:
            lines.append(rng.choice(CHATTER))
    return "\n".join(lines) + "\n", values, steps


def line_of(shape: Shape, step: int, total: int, named: Sequence[tuple[str, str]]) -> str:
    if shape.order == "nested":
        ((name, value),) = named
        stride = total // (ROWS - 1)
        epoch, within = divmod(step // stride, EACH)
        return shape.inside.format(name=name, c=shape.counter, e=epoch, n=within * stride, v=value)
    if shape.order in SENTENCES:
        ((name, value),) = named
        inside, counter = shape.inside, shape.counter
        if "{c}s" in inside:  # "after 12 steps": an English plural
            counter = {"batch": "batche", "Epoche": "epoch"}.get(
                counter, counter if counter.isascii() else "step"
            )
        return inside.format(name=name, c=counter, n=step, v=value)
    counted = shape.counted.format(c=shape.counter, n=step, total=total, share=100 * step / total)
    written = [
        f"{name}{shape.assign}{shape.around.format(value, value)}{shape.unit}" for name, value in named
    ]
    if shape.block:
        return "\n".join([counted, *(f"  {one}" for one in written)])
    body = shape.between.join(written)
    pair = (counted, body) if shape.order == "counter first" else (body, counted)
    return shape.between.join(pair)


def misread(text: bytes, values: dict[str, list[str]], steps: Sequence[int]) -> str:
    """What is wrong with what was read: "" for nothing."""
    try:
        logs = read_source(Source("-", data=text, head=text[:65536]))
        runs = [run for log in logs for run in assemble(log)]
    except ReadError as error:
        return f"refused: {str(error).partition(': ')[2][:50]}"
    series = [s for run in runs for s in run.series.values()]
    for digits in values.values():
        wanted = np.array([float(d) for d in digits])
        same = [s for s in series if len(s.values) == len(wanted) and np.array_equal(s.values, wanted)]
        same += [
            s
            for s in series
            if len(s.values) == len(wanted) and np.allclose(s.values * 100, wanted, rtol=1e-12)
        ]
        if not same:
            return "a metric is missing"
        if not any(np.array_equal(s.steps, steps) for s in same):
            return "steps differ"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0, help="print so many logs that were misread")
    asked = parser.parse_args()
    kinds: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    all_parts: Counter[str] = Counter()
    for number in range(asked.count):
        rng = random.Random(f"{asked.seed}-{number}")
        shape = draw(rng)
        text, values, steps = written(shape, rng)
        why = misread(text.encode(shape.encoding), values, steps)
        all_parts.update(shape.parts())
        if why:
            kinds[why] += 1
            wrong.update(shape.parts())
            if sum(kinds.values()) <= asked.show:
                print(f"# {number}: {why}\n" + "\n".join(text.splitlines()[:8][-3:]))
    print(f"{asked.count - sum(kinds.values())} of {asked.count} read back whole; {dict(kinds)}")
    for part, n in sorted(wrong.items(), key=lambda item: -item[1] / all_parts[item[0]])[:40]:
        print(f"{n / all_parts[part]:5.0%}  {n:5d} of {all_parts[part]:5d}  {part}")


if __name__ == "__main__":
    main()

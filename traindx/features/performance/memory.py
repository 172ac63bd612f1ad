"""The arithmetic of a step's memory, from what was measured of it, or from what a log says of the model.

needed(batch) = weights + optimizer state + fixed + per_sample * batch

A traced run becomes a profile by averages over the middle half of its steps, so that a single slow one does
not count."""

import math
import re
from collections.abc import Iterator

import msgspec
import numpy as np

from traindx.vocabulary import Floats, Ints, Operator, Part, Profile, Run, Setup
from traindx.vocabulary.memory import SIZES, Memory, Need, Option

# Copies of the weights, by a part of the optimizer's name; the first that fits counts.
STATES = {"adafactor": 0, "adagrad": 1, "adadelta": 2, "adam": 2, "lamb": 2, "rmsprop": 1, "lion": 1, "muon": 1,
          "sgd": 0}  # fmt: skip
BYTES = 4  # of a weight; mixed precision keeps them in float32
HALF = (
    "bf16-true",
    "fp16-true",
    "16-true",
    "pure bf16",
    "pure_bf16",
)  # of Lightning and similar trainers: weights, too
USABLE = 0.95  # of the memory: allocators leave some unused, and the system has its own
EIGHT_BITS = 0.25  # of a state in float32
SIZE = r"([\d.]{1,20})\s*(GiB|MiB|KiB|GB|MB|bytes)"
TOTAL = rf"total capaci?ty of {SIZE}|{SIZE} total capacity"
TAKEN = rf"{SIZE} (?:is allocated by PyTorch|already allocated)"
TRIED = rf"tried to allocate {SIZE}"


def memory_of(run: Run) -> Memory | None:
    """What a step of the run needs; None for a run whose memory is no matter: it did not run out of it, and
    nobody measured it."""
    message = next((e.message for e in reversed(run.events) if e.kind == "out-of-memory"), "")
    setup = run.setup
    measured = setup.number("memory_step") is not None
    if run.boosted or not (measured or message):
        return None
    weights, gradients, state = standing_kinds(setup)
    if weights is None or gradients is None or state is None:
        return None
    available = setup.number("memory_available") or bytes_in(TOTAL, message)
    if measured:
        return memory_by_batch_size(setup, weights, gradients, state, available)
    return memory_from_error(run, message, (weights, gradients, state), available)


def standing_kinds(setup: Setup) -> tuple[float | None, float | None, float | None]:
    """Bytes of weights, gradients and the optimizer's state: measured, or from the count of parameters."""
    measured = [setup.number(f"memory_{kind}") for kind in ("weights", "gradients", "optimizer")]
    count = setup.number("parameters")
    if None not in measured or not count:
        return measured[0], measured[1], measured[2]
    size = BYTES / 2 if setup.word("precision") in HALF else BYTES
    trained = setup.number("trainable_parameters") or count
    name = setup.word("optimizer")
    copies: float | None = next((count for kind, count in STATES.items() if kind in name), None)
    if copies is not None and re.search(r"8[-_]?bit", name):
        copies *= EIGHT_BITS
    if copies == 0 and "sgd" in name and (setup.number("momentum") or 0.0) > 0:
        copies = 1
    return count * size, trained * size, None if copies is None else copies * trained * size


def bytes_in(pattern: str, message: str) -> float | None:
    """A size in an error's message, in bytes."""
    found = re.search(pattern, message, re.IGNORECASE)
    if found is None:
        return None
    number, unit = (group for group in found.groups() if group is not None)
    try:
        return float(number) * SIZES[unit.lower()]
    except ValueError:
        return None


def memory_by_batch_size(
    setup: Setup, weights: float, gradients: float, state: float, available: float | None
) -> Memory:
    """From a step at two batch sizes: what grows with the batch, and what does not."""
    batch, whole = setup.number("memory_batch") or 0.0, setup.number("memory_step") or 0.0
    half, small = setup.number("memory_batch_half") or 0.0, setup.number("memory_step_half")
    slope = (
        max((whole - small) / (batch - half), 0.0)
        if small is not None and batch > half
        else whole / max(batch, 1.0)
    )
    fixed, standing = max(whole - slope * batch, 0.0), weights + state
    inside = min(gradients, fixed)
    needs = (
        Need("weights", weights),
        Need("optimizer state", state),
        Need("gradients that are there at that point", inside),
        Need("activations and what is computed from them", whole - inside),
    )
    room = None if available is None else USABLE * available - standing - fixed
    largest = None if room is None or slope <= 0 else max(int(room / slope), 0)
    made = Memory(
        batch=batch, needed=standing + whole, available=available, standing=standing, fixed=fixed, per_sample=slope,
        largest=largest, needs=needs,
    )  # fmt: skip
    options = (*batch_options(made, gradients - inside), *memory_saving_options(made, setup, state))
    return msgspec.structs.replace(made, options=options)


def fits(made: Memory, size: float) -> bool | None:
    return None if made.available is None else size <= USABLE * made.available


def batch_options(made: Memory, gathered: float = 0.0) -> Iterator[Option]:
    """Other batches: the largest that fits, with accumulation to the same number of samples, or half. From
    the second part of a batch on all gradients are held from the start: `gathered` bytes more than at the
    peak of a whole one."""
    batch, slope = int(made.batch or 0), made.per_sample or 0.0
    largest = made.largest
    if largest is not None and slope > 0:
        largest = min(largest, int(largest - gathered / slope))
    if largest is not None and 1 <= largest < batch:
        parts = math.ceil(batch / largest)
        even = math.ceil(batch / parts)
        need = made.standing + made.fixed + gathered + slope * even
        yield Option(f"batches of {even}, accumulated over {parts}", need, fits(made, need), "line")
    elif batch >= 2:
        need = made.standing + made.fixed + gathered + slope * (batch // 2)
        yield Option(f"batches of {batch // 2}, accumulated over 2", need, fits(made, need), "line")


def memory_saving_options(made: Memory, setup: Setup, state: float) -> Iterator[Option]:
    """The same batch in bfloat16, with recomputed activations, with a smaller state of the optimizer."""
    half = setup.number("memory_step_bfloat16")
    whole = made.needed - made.standing
    if half is not None and half < whole:
        need = made.standing + half
        yield Option("the passes in bfloat16 (autocast)", need, fits(made, need), "measured")
    layers = setup.number("layers") or setup.number("depth")
    grows = whole - made.fixed
    if layers and layers >= 4:
        need = made.standing + made.fixed + grows * 2 / math.sqrt(layers)
        yield Option(
            "activations of blocks computed again (checkpointing)", need, fits(made, need), "estimate"
        )
    if state > EIGHT_BITS * made.standing:
        need = made.needed - (1 - EIGHT_BITS) * state
        yield Option("an optimizer with a state of 8 bits", need, fits(made, need), "estimate")


def memory_from_error(
    run: Run, message: str, kinds: tuple[float, float, float], available: float | None
) -> Memory | None:
    """From the error's own numbers: what was taken, and what was asked for on top. On the host, whose
    allocator reports only the latter, what was taken is the most that the process held."""
    setup, (weights, gradients, state) = run.setup, kinds
    taken, tried, batch = (
        bytes_in(TAKEN, message),
        bytes_in(TRIED, message),
        setup.number("device_batch_size"),
    )
    batch = batch or setup.number("batch_size")
    kind = "activations and what is computed from them, at least"
    if taken is None and "mem/host" in run.series and setup.word("device")[:3] in ("", "cpu"):
        held = run.series["mem/host"].values
        taken, batch = float(held[held == held].max(initial=0.0)) or None, None
        kind = "activations, and all else that the process holds, at least"
    standing = weights + gradients + state
    needs = [Need("weights", weights), Need("gradients", gradients), Need("optimizer state", state)]
    if taken is None or tried is None:
        return None
    needed = max(taken + tried, standing)
    needs.append(Need(kind, needed - standing))
    slope = (needed - standing) / batch if batch and needed > standing else None
    room = None if available is None else USABLE * available - standing
    largest = max(int(room / slope), 0) if slope and room is not None else None
    made = Memory(
        batch=batch, needed=needed, available=available, standing=weights + state, fixed=gradients, per_sample=slope,
        largest=largest, needs=tuple(needs),
    )  # fmt: skip
    options = (*(batch_options(made) if slope else ()), *memory_saving_options(made, setup, state))
    return msgspec.structs.replace(made, options=options)


PARTS = ("data", "forward", "backward", "optimizer", "compute", "compile", "synchronize")
WORDS = {"synchronize": "waiting for the accelerator", "compute": "computing", "compile": "compiling"}
REST = "between operators"
OPERATORS = 10
LUMP = "others"


def profile_of(run: Run) -> Profile | None:
    """Where a step's time goes; None for a run that was not traced. Errors: none."""
    if "operator_time" not in run.panels or "time/step" not in run.series:
        return None
    typical = middle_rows(run.series["time/step"].values)
    whole = mean(run, "time/step", typical)
    seconds = {
        WORDS.get(part, part): mean(run, f"time/{part}", typical)
        for part in PARTS
        if f"time/{part}" in run.series
    }
    seconds[REST] = max(whole - sum(seconds.values()), 0.0)
    return Profile(
        steps=len(run.series["time/step"]),
        step_seconds=whole,
        idle=mean(run, "time/idle", typical),
        accelerator="util/device" in run.series,
        parts=tuple(Part(name, spent, share_of(spent, whole)) for name, spent in seconds.items()),
        operators=tuple(operators(run, whole, typical)),
        gaps=tuple(e.message for e in run.events if e.code == "idle"),
    )


def middle_rows(seconds: Floats) -> Ints:
    """The rows of the middle half of steps by their length; all of fewer than four."""
    n = len(seconds)
    order = np.argsort(seconds, kind="stable")
    return np.sort(order[n // 4 : n - n // 4] if n >= 4 else order)


def mean(run: Run, name: str, rows: Ints) -> float:
    """The average over some steps; 0 where there is none."""
    found = run.series.get(name)
    if found is None or len(found) <= rows.max(initial=-1) or not len(rows):
        return 0.0
    average = float(found.values[rows].mean())
    return average if np.isfinite(average) else 0.0


def share_of(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole > 0 else 0.0


def operators(run: Run, whole: float, rows: Ints) -> Iterator[Operator]:
    """What takes most, kernels first where there are any."""
    for kind, on in (("kernel", "accelerator"), ("operator", "host")):
        time, calls = run.panels.get(f"{kind}_time"), run.panels.get(f"{kind}_calls")
        if time is None or calls is None or len(time.values) <= rows.max(initial=-1) or not len(rows):
            continue
        averages = (panel.values[rows].mean(axis=0).tolist() for panel in (time, calls))
        for name, spent, count in list(zip(time.modules, *averages, strict=True))[:OPERATORS]:
            if name != LUMP and spent > 0:
                yield Operator(name, on, spent, share_of(spent, whole), count)  # type: ignore[arg-type]

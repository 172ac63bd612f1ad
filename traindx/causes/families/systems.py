"""Causes of slow or dying runs: data feeding, memory, device, processes (numbers: see `optimization`).

They say nothing about learning, so learning's rules carry no weight here, and the other way round.
"""

from __future__ import annotations

from traindx.vocabulary.cause import Cause
from traindx.vocabulary.cause import Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="data-loader-bottleneck",
        title="Training waits for the data loader",
        family="systems",
        prior=-3.0,
        page="""Reading, decoding or augmenting a batch takes longer than computing on it.

In a log: data time is a large share of step time (over 30 to 50 %); the accelerator is idle in between.

Mistaken for: a slow device.

Settled by: repeating one batch from memory: throughput jumps.""",
        weights={
            "step-waits-for-data": W(5.5, -2.2), "step-waits-for-data:slight": W(-4.5),
            "accelerator-underused": W(1.0, -0.5), "step-time-outliers": W(0.6),
            "step-time-jumps": W(0.4), "step-time-creeps": W(0.3), "fact:no-workers": W(1.2, -0.2),
        },
        settles=(
            ("time spent waiting for data in each step", "log time/data, or: traindx run -- python train.py"),
            ("the number of data-loading workers", "--fact workers=4"),
        ),
    ),
    Cause(
        slug="memory-leak",
        title="Memory leaks",
        family="systems",
        prior=-3.4,
        page="""Something is kept each step: losses appended with their graph, hidden states never detached, growing
caches.

In a log: resident or device memory grows in a straight line with the steps, and in the end the process is killed.

Mistaken for: caches warming up (the growth ends by itself).

Settled by: the objects whose number grows; detaching what is stored.""",
        weights={
            "memory-grows": W(5.2, -2.5), "graph-is-kept": W(2.5), "out-of-memory": W(0.6), "step-time-creeps": W(0.8),
            "step-time-outliers": W(0.1), "fact:killed": W(4.5),
        },
        settles=(("memory of the process and the device", "log mem/host, or: traindx run -- python train.py"),),
    ),
    Cause(
        slug="step-time-creep",
        title="Each step takes longer than the one before",
        family="systems",
        prior=-4.0,
        page="""Work that grows with the history: a list searched or plotted each step, a graph that gets longer, hooks
added again and again, a clock that throttles.

In a log: the time of a step rises steadily.

Mistaken for: a data loader that gets slower; longer samples late in a sorted epoch; a shared or hot machine.

Settled by: which phase of the step grows.""",
        weights={
            "step-time-creeps": W(5.0, -2.2), "step-time-jumps": W(0.3), "memory-grows": W(0.6),
            "step-waits-for-data": W(-0.3),
        },
        settles=(("the time of each phase of a step", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="device-fallback",
        title="Work fell off the accelerator",
        family="systems",
        prior=-4.0,
        page="""Operations run on the main processor, the device throttles or is shared, or the numbers are float64:
several times slower.

In a log: the time of a step jumps and stays (or throughput halves) at one step; or the device hardly works at all.

Mistaken for: a slow data loader.

Settled by: device and number format of model and batch, utilization at the jump.""",
        weights={
            "step-time-jumps": W(4.6, -1.6), "step-time-jumps:brief": W(-4.0),
            "step-time-jumps:processor": W(-4.5), "accelerator-missing": W(4.5, -2.0),
            "accelerator-underused": W(1.2, -0.6), "step-waits-for-data": W(-1.0), "fact:on-processor": W(1.5, -0.3),
        },
        settles=(
            ("the device it runs on", "--fact device=cuda"),
            ("utilization of the accelerator over time", "log util/device, or: traindx run -- python train.py"),
        ),
    ),
    Cause(
        slug="out-of-memory",
        title="The device ran out of memory",
        family="systems",
        prior=-4.0,
        page="""Activations, optimizer state and weights do not fit: at once (batch or model too large), or later with
a long sample, an evaluation, or a leak.

In a log: an out-of-memory error, often as the last line.

Mistaken for: a leak, which shows a slow rise before.

Settled by: memory at the failing step; a smaller batch with accumulation.""",
        weights={
            "out-of-memory": W(6.0, -1.5, "theory"), "memory-grows": W(0.3), "fact:killed": W(5.5),
        },
        settles=(("memory of the device over the steps", "log mem/device, or: traindx run -- python train.py"),),
    ),
    Cause(
        slug="straggler-rank",
        title="One process holds up the others",
        family="systems",
        prior=-5.0,
        page="""In synchronous training all wait for the slowest: a throttled device, a busy host, uneven shards.

In a log: one rank's own step time above the others', all ranks' total time alike.

Mistaken for: a slow data loader on every rank.

Settled by: time per rank without the waiting at the barrier.""",
        weights={
            "fact:collective-timeout": W(5.0),
            "rank-straggles": W(7.0, -2.0), "rank-straggles:slight": W(-4.0), "step-time-outliers": W(0.3),
            "fact:several-processes": W(1.5),
        },
        settles=(("the time of a step of every rank", "traindx run -- torchrun train.py, or log rank/<i>/time/data"),),
    ),
    Cause(
        slug="rank-desync",
        title="The processes do not train one model together",
        family="systems",
        prior=-5.2,
        page="""Gradients are not averaged (the wrapper was bypassed, or they are summed up and nothing divides), or a
clip, skip or random choice happens on one rank only.

In a log: ranks whose losses or weight norms part from each other; a rank that stops reporting; steps N times as long
as the mean of N gradients gives.

Mistaken for: noise between shards.

Settled by: a checksum of the weights on every rank.""",
        weights={
            "fact:collective-timeout": W(5.5),
            "ranks-disagree": W(7.0, -2.5, "theory"), "rank-stops-reporting": W(6.0, -0.3),
            "gradients-are-not-averaged": W(7.0, 0.0, "theory"), "gradients-are-not-averaged:scale-free": W(-3.0),
            "fact:several-processes": W(1.5),
        },
        settles=(("the weights' norm of every rank", "traindx run -- torchrun train.py, or log rank/<i>/weight_norm"),),
    ),
)  # fmt: skip

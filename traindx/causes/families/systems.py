"""Causes of slow or failing runs: data loading, memory, device, processes (numbers: see `optimization`).

They do not affect learning, so the rules about learning have no weight here, and the other way round.
"""

from traindx.vocabulary import Cause, Weight as W

CAUSES: tuple[Cause, ...] = (
    Cause(
        slug="data-loader-bottleneck",
        title="Training waits for the data loader",
        family="systems",
        prior=-3.0,
        page="""Reading, decoding or augmenting a batch takes longer than computing on it.

In a log: data time is a large share of the step time (over 30 to 50 %), and the accelerator is idle in
between.

Mistaken for: a slow device.

Settled by: repeating one batch from memory. Throughput rises sharply.""",
        weights={
            "step-waits-for-data": W(5.5, -2.2), "step-waits-for-data:slight": W(-4.5),
            "accelerator-underused": W(1.0, -0.5), "step-time-outliers": W(0.6),
            "step-time-jumps": W(0.4), "step-time-creeps": W(0.3), "fact:no-workers": W(1.2, -0.2),
        },
        settles=(
            ("time spent waiting for data in each step",
             "log time/data, or: traindx run -- python train.py"),
            ("the number of data-loading workers", "--fact workers=4"),
        ),
    ),
    Cause(
        slug="memory-leak",
        title="Memory leaks",
        family="systems",
        prior=-3.4,
        page="""The loop keeps something at each step: losses with their graph, hidden states that are
never detached, growing caches.

In a log: host or device memory grows linearly with the steps until the process is killed.

Mistaken for: caches that fill up (their growth ends).

Settled by: the objects whose number grows, and detaching what is stored.""",
        weights={
            "memory-grows": W(5.2, -2.5), "graph-is-kept": W(2.5), "out-of-memory": W(0.6),
            "out-of-memory:late": W(2.5),
            "step-time-creeps": W(0.8), "step-time-outliers": W(0.1), "fact:killed": W(4.5),
        },
        settles=(
            ("memory of the process and the device", "log mem/host, or: traindx run -- python train.py"),
        ),
    ),
    Cause(
        slug="step-time-creep",
        title="Each step takes longer than the one before",
        family="systems",
        prior=-4.0,
        page="""The work per step grows with the history: a list that is searched or plotted each step, a
graph that gets longer, hooks added again and again, or a throttling clock.

In a log: the time of a step rises steadily.

Mistaken for: a data loader that gets slower, longer samples late in a sorted epoch, a shared or hot
machine.

Settled by: which phase of the step grows.""",
        weights={
            "step-time-creeps": W(5.0, -2.2), "step-time-jumps": W(0.3), "memory-grows": W(0.6),
            "step-waits-for-data": W(-0.3),
        },
        settles=(("the time of each phase of a step", "traindx run -- python train.py"),),
    ),
    Cause(
        slug="device-fallback",
        title="The computation has fallen back to a slow device",
        family="systems",
        prior=-4.0,
        page="""Operations run on the CPU, the device throttles or is shared, or the numbers are float64.
Each makes a step several times slower.

In a log: the time of a step rises (or throughput halves) at one step and stays there, or the accelerator
is hardly used at all.

Mistaken for: a slow data loader.

Settled by: device and number format of model and batch, and utilization at that step.""",
        weights={
            "step-time-jumps": W(4.6, -1.6), "step-time-jumps:brief": W(-4.0),
            "step-time-jumps:processor": W(-4.5), "accelerator-missing": W(4.5, -2.0),
            "accelerator-underused": W(1.2, -0.6), "step-waits-for-data": W(-1.0),
            "fact:on-processor": W(1.5, -0.3),
        },
        settles=(
            ("the device it runs on", "--fact device=cuda"),
            ("utilization of the accelerator over time",
             "log util/device, or: traindx run -- python train.py"),
        ),
    ),
    Cause(
        slug="out-of-memory",
        title="The device ran out of memory",
        family="systems",
        prior=-4.0,
        page="""Activations, optimizer state and weights do not fit: at once (the batch or model is too
large), or later with a long sample, an evaluation, or a leak.

In a log: an out-of-memory error, often as the last line.

Mistaken for: a leak, where memory rises slowly before.

Settled by: the memory at the failing step; a smaller batch with accumulation.""",
        weights={
            "out-of-memory": W(6.0, -1.5, "theory"), "memory-grows": W(-3.0), "fact:killed": W(5.5),
        },
        settles=(
            ("memory of the device over the steps", "log mem/device, or: traindx run -- python train.py"),
        ),
    ),
    Cause(
        slug="straggler-rank",
        title="One process is slower than the others",
        family="systems",
        prior=-5.0,
        page="""In synchronous training all processes wait for the slowest, because of a throttled
device, a busy host or uneven shards.

In a log: the step time of one rank without waiting is above the others', while the total step time of
all ranks is the same.

Mistaken for: a slow data loader on every rank.

Settled by: the time per rank without the waiting at the barrier.""",
        weights={
            "fact:collective-timeout": W(5.0), "rank-straggles": W(7.0, -2.0),
            "rank-straggles:slight": W(-4.0), "step-time-outliers": W(0.3),
            "fact:several-processes": W(1.5),
        },
        settles=(
            ("the time of a step of every rank",
             "traindx run -- torchrun train.py, or log rank/<i>/time/data"),
        ),
    ),
    Cause(
        slug="rank-desync",
        title="The processes do not train the same model",
        family="systems",
        prior=-5.2,
        page="""Gradients are not averaged (the wrapper was bypassed, or they are summed and never
divided), or one rank alone clips, skips or draws random numbers.

In a log: losses or weight norms of the ranks move apart, a rank stops reporting, or steps are N times as
long as the mean of N gradients.

Mistaken for: noise between shards.

Settled by: a checksum of the weights on every rank.""",
        weights={
            "fact:collective-timeout": W(5.5), "ranks-disagree": W(7.0, -2.5, "theory"),
            "rank-stops-reporting": W(6.0, -0.3), "gradients-are-not-averaged": W(7.0, 0.0, "theory"),
            "gradients-are-not-averaged:scale-free": W(-3.0), "fact:several-processes": W(1.5),
        },
        settles=(
            ("the weight norm of every rank",
             "traindx run -- torchrun train.py, or log rank/<i>/weight_norm"),
        ),
    ),
)  # fmt: skip

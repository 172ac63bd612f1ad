"""Samples of memory-grows."""

from __future__ import annotations

import numpy as np

from tests import make
from traindx.vocabulary.run import Run

GIB = 2.0**30
EXCEPTIONS = {
    "halved: two readings": "one reading shows no growth",
    "halved: eight readings on a line": "four readings can rise each time by chance",
}


def fires() -> dict[str, Run]:
    noise = 1 + 0.01 * make.rng(1).standard_normal(400)
    leak = np.linspace(4, 9, 400) * GIB
    return {
        "host memory, a line": make.run({"mem/host": leak * noise}),
        "device memory, a line": make.run({"mem/device": leak * noise}),
        "the maximum so far": make.run({"mem/device": np.maximum.accumulate(leak * noise)}),
        "a small net's losses with their graphs": make.run({"mem/host": np.linspace(0.37, 0.44, 400) * GIB}),
        "two readings": make.run({"mem/host": [16 * GIB, 29 * GIB]}),
        "eight readings on a line": make.run(
            {"mem/device": np.array([21.3, 23.9, 26.4, 29.0, 31.6, 34.2, 36.7, 38.9]) * 1e9}
        ),
        "after a start-up": make.run({"mem/host": np.r_[np.linspace(1, 4, 10) * GIB, leak * noise]}),
    }


def stays_quiet() -> dict[str, Run]:
    noise = 1 + 0.01 * make.rng(2).standard_normal(400)
    filling = (10 - 6 * np.exp(-np.arange(400) / 50)) * GIB
    records = np.r_[9.500, 9.501, 9.502, np.full(300, 9.502), np.full(97, 9.505)] * 1e9
    steps = np.r_[np.full(40, 8.0), np.full(100, 10.0), np.full(130, 12.5), np.full(130, 14.0)] * 1e9
    epochs = (8 + 4 * (np.arange(400) % 50) / 50) * GIB
    return {
        "libraries that are loaded late": make.run({"mem/host": np.linspace(0.378, 0.386, 400) * GIB}),
        "a library that is loaded at the end": make.run(
            {"mem/host": np.r_[350.6, np.full(8, 357.4), 357.5, 357.5, 357.6, 406.0, 406.1] * 1e6}
        ),
        "the first step allocates": make.run(
            {"mem/device": np.r_[1.0, 7.5, np.full(398, 8.0)] * GIB * noise}
        ),
        "eight readings while caches fill": make.run(
            {"mem/device": np.array([4.0, 8.0, 9.5, 10.3, 10.7, 10.9, 11.0, 11.05]) * GIB}
        ),
        "eight readings, one large batch": make.run(
            {"mem/device": np.array([8.0, 8.01, 8.02, 8.03, 8.04, 8.05, 15.0, 15.01]) * GIB}
        ),
        "level": make.run({"mem/host": 8 * GIB * noise}),
        "caches fill up": make.run({"mem/device": filling * noise}),
        "a maximum that hardly moves": make.run({"mem/device": records}),
        "a maximum that longer sequences raise": make.run({"mem/device": steps}),
        "freed after every epoch": make.run({"mem/host": epochs * noise}),
        "device memory before and after the first backward": make.run({"mem/device": [3 * GIB, 10 * GIB]}),
    }

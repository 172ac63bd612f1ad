"""A training that waits to be told how many steps to make: python loop.py CASE ADDRESS [watch [EVERY]]

Told so by benchmarks.overhead.launched, which runs it as it is, under `traindx run`, and with
`traindx.watch` in it; it answers with the CPU seconds of a step."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.overhead.models import CASES, Case


def serve(case: Case, address: str, log: Any) -> None:
    """Make as many steps as each line asks for, until no more comes. The evaluation in between tells
    capture that the time until the next step is no step's."""
    case.model.train()
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(address)
        with caller.makefile("rw") as told:
            for line in told:
                steps = int(line)
                with torch.no_grad():
                    case.model(case.sample)
                began = time.process_time()
                for _ in range(steps):
                    case.step(log)
                told.write(f"{(time.process_time() - began) / steps}\n")
                told.flush()


def main() -> None:
    name, address, *watched = sys.argv[1:]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    case = CASES[name]()
    if not watched:
        serve(case, address, lambda loss: None)
        return
    import traindx

    options = {"every": int(watched[1])} if len(watched) > 1 else {}
    with traindx.watch(case.model, case.optimizer, **options) as watch:
        serve(case, address, lambda loss: watch.log(loss=loss))


if __name__ == "__main__":
    main()

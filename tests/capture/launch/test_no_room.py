"""A process that may take only so much address space: what a plain run survives is survived, and reported."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.capture.launch.launching import PYTHON, launched

# `room` MiB of addresses are left once torch is there; `growth` MiB are taken by each step, in small pieces.
SCRIPT = """
import resource, sys, torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def limit(room):
    with open("/proc/self/statm") as statm:
        taken = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + (room << 20), resource.RLIM_INFINITY))
early, late, growth = map(int, sys.argv[1:])
if early:
    limit(early)
kept = []
for step in range(200):
    optimizer.zero_grad()
    model(torch.ones(8, 4)).square().mean().backward()
    optimizer.step()
    if late and step == 50:
        limit(late)
    if step > 50:
        kept.extend(bytes(1000) for _ in range(growth * 1000))
print("trained")
"""


def test_without_room_nothing_is_recorded_and_one_sentence_says_so(tmp_path: Path) -> None:
    done = launched("", tmp_path, command=[PYTHON, "-c", SCRIPT, "150", "0", "0"])
    assert (done.status, done.out) == (0, b"trained\n")
    assert b"address space are left (ulimit -v), 512 are needed" in done.err
    assert "address space are left (ulimit -v)" in done.why()


def test_a_recording_that_runs_out_of_memory_says_so(tmp_path: Path) -> None:
    done = launched("", tmp_path, command=[PYTHON, "-c", SCRIPT, "0", "100", "4"])
    assert done.status == 1
    assert b"MemoryError" in done.err or b"can't allocate memory" in done.err
    run = done.run()
    assert run.complete is False
    assert [event.kind for event in run.events if event.kind in ("out-of-memory", "crash")] == [
        "out-of-memory"
    ]
    assert run.last_step is not None
    assert run.last_step > 50

"""The arithmetic of memory: known sums, messages of real errors, and peaks that were measured."""

from __future__ import annotations

import pytest

from tests import make
from traindx.features.performance.memory import memory_of
from traindx.vocabulary.run import Event, Run
from traindx.vocabulary.setup import Setup

CUDA = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24.00 GiB "
    "of which 1.20 GiB is free. Of the allocated memory 21.00 GiB is allocated by PyTorch, and 300.00 MiB is reserved"
)
OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0; 10.00 GiB total capacity; 9.00 GiB already "
    "allocated; 100.00 MiB free)"
)
GIB = 2.0**30


def run(setup: dict[str, object], message: str = "") -> Run:
    events = (Event("out-of-memory", message, 3.0),) if message else ()
    return make.run({"train/loss": [2.0, 1.9, 1.8]}, events=events, setup=Setup().with_facts(setup, "test"))  # type: ignore[arg-type]


def test_a_line_through_two_batches() -> None:
    """100 bytes of weights, 200 of state, a step of 50 + 10 a sample: 16 samples need 510. In parts the 100
    bytes of gradients are held, of which a whole batch has 50 at its peak: of 450 bytes 50 are left for
    samples."""
    facts: dict[str, object] = {
        "memory_weights": 100, "memory_gradients": 100, "memory_optimizer": 200, "memory_batch": 16,
        "memory_step": 210, "memory_batch_half": 8, "memory_step_half": 130, "memory_available": 450 / 0.95,
    }  # fmt: skip
    found = memory_of(run(facts))
    assert found is not None
    assert (found.needed, found.standing, found.fixed, found.per_sample, found.largest) == (
        510,
        300,
        50,
        10,
        10,
    )
    first, last = found.options[0], found.options[-1]
    assert (first.change, first.bytes, first.fits) == ("batches of 4, accumulated over 4", 440, True)
    assert (last.bytes, last.fits) == (510 - 150, True)  # three quarters of the state
    assert sum(n.bytes for n in found.needs) == found.needed


def test_the_numbers_of_an_error() -> None:
    """A billion parameters with Adam: 4 GB each for weights and gradients, 8 GB of state; 23 GiB were asked
    for."""
    found = memory_of(run({"parameters": 1e9, "optimizer": "AdamW", "batch_size": 8}, CUDA))
    assert found is not None
    assert [n.bytes for n in found.needs[:3]] == [4e9, 4e9, 8e9]
    assert found.needed == pytest.approx(23 * GIB)
    assert found.available == pytest.approx(24 * GIB)
    slope = (23 * GIB - 16e9) / 8
    assert found.per_sample == pytest.approx(slope)
    assert found.largest == int((0.95 * 24 * GIB - 16e9) / slope) == 7
    assert found.options[0].change == "batches of 4, accumulated over 2"


def test_an_error_of_older_versions() -> None:
    found = memory_of(run({"parameters": 1e9, "optimizer": "sgd", "momentum": 0.9, "batch_size": 4}, OLD))
    assert found is not None
    assert found.available == pytest.approx(10 * GIB)
    assert found.needs[2].bytes == 4e9
    assert found.largest is None  # weights, gradients and momentum alone are more


@pytest.mark.parametrize(
    ("facts", "message"),
    [({}, ""), ({"parameters": 1e6, "optimizer": "adam"}, ""), ({}, CUDA),
     ({"parameters": 1e6, "optimizer": "x"}, CUDA),
     ({"parameters": 1e6, "optimizer": "adam"}, "MemoryError"),
     ({"parameters": 1e6, "optimizer": "adam"}, "Tried to allocate 1.2.3 GiB")],
)  # fmt: skip
def test_what_is_not_known_is_not_reported(facts: dict[str, object], message: str) -> None:
    assert memory_of(run(facts, message)) is None


def test_nothing_is_reported_of_trees() -> None:
    found = run({"parameters": 1e9, "optimizer": "adam"}, CUDA)
    import msgspec

    assert memory_of(msgspec.structs.replace(found, axis="round")) is None

"""How JAX starts a compiled computation that sends the host something.

A computation with effects goes through Python each time that it is called, which takes up to two
milliseconds on a busy machine, as tokens are handed on from one to the next: calls of `jax.debug.print` can
be waited for. What is sent here needs none, as long as the host's part is over with the computation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax

from traindx.capture.jax.send import Sending


def without_tokens(original: Callable[..., None]) -> Callable[..., None]:
    """For `ExecuteReplicated.__init__`, of what is compiled: where the only effects are ours, and all is
    computed by the processor as one device, it is called as though it had none."""
    signature = inspect.signature(original)

    @functools.wraps(original)
    def made(self: Any, *args: Any, **named: Any) -> None:
        original(self, *args, **named)
        given = signature.bind(self, *args, **named).arguments
        effects, compiled = given.get("unordered_effects"), given.get("xla_executable")
        if not effects or compiled is None or not all(isinstance(effect, Sending) for effect in effects):
            return
        devices = compiled.local_devices()
        if len(devices) == 1 and devices[0].platform == "cpu":
            self.has_unordered_effects = False

    return made


def settle() -> None:
    """Wait until what was started is over, and with it what it sends."""
    jax.effects_barrier()
    for array in jax.live_arrays():
        try:
            if not array.is_deleted():
                array.block_until_ready()
        except (
            RuntimeError
        ):  # its computation failed, which the training itself learns where it reads the array
            continue

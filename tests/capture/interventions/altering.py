"""Run a training function in this process under capture with interventions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from traindx.capture.experiment.ending import ExperimentStopped
from traindx.capture.interventions import parse
from traindx.capture.process.patches import Lines
from traindx.capture.session.stream import Stream
from traindx.capture.torch.backend import torch_session
from traindx.capture.torch.discover.discovery import Discovery
from traindx.capture.torch.experiment.experiment import Experiment


@dataclass
class Ran:
    """`value` is what the function returned, `refused` why the experiment was ended."""

    value: Any = None
    facts: dict[str, Any] = field(default_factory=dict)
    touches: dict[str, dict[str, int]] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    refused: str = ""


def run(train: Callable[[], Any], *specs: str) -> Ran:
    """Everything is detached again afterwards. A failure that is no refusal is raised."""
    with tempfile.TemporaryDirectory() as folder:
        session = torch_session(Path(folder), every=1000, updates=False)
        stream = Stream(lambda: session, Lines(folder), lambda steps: None, lambda stage, **more: None)
        discovery = Discovery(stream)
        experiment = Experiment({"with": list(specs)}, stream, parse(specs))
        experiment.attach_first()
        ran = Ran()
        try:
            discovery.attach(experiment.attach)
            ran.value = train()
            assert stream.active, "capture let go"
            experiment.end()
        except ExperimentStopped as stop:
            ran.refused = experiment.hooks.stopped
            if " cannot be applied: " not in experiment.hooks.stopped:
                raise stop.__cause__ or stop from None
        finally:
            ran.touches = {site.spec: dict(site.touches) for site in experiment.sites}
            ran.unused = [site.spec for site in experiment.sites if not site.touches]
            ran.facts = dict(stream.known)
            experiment.hooks.patches.undo()  # what was put in place last goes first
            for handle in experiment.handles:
                handle.remove()
            discovery.end()
            session.close()
        return ran


def weights(model: torch.nn.Module) -> list[torch.Tensor]:
    return [p.detach().clone() for p in model.parameters()]


def same(first: Any, second: Any) -> bool:
    """Equal to the last bit, in nested lists, tuples and dicts."""
    if isinstance(first, torch.Tensor):
        return (
            isinstance(second, torch.Tensor) and first.shape == second.shape and torch.equal(first, second)
        )
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    return bool(first == second)

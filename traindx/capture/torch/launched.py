"""PyTorch in a script that `traindx run` started: discovery, interventions, probes, and the ranks that it
spawns."""

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from traindx.capture.interventions import parse
from traindx.capture.process.places import is_left_for_good, places
from traindx.capture.session import FEW_STEPS, OF_THE_SCRIPT, RecordedProcess
from traindx.capture.torch.backend import TorchBackend
from traindx.capture.torch.discover.discovery import Discovery
from traindx.capture.torch.experiment.experiment import Experiment
from traindx.capture.torch.measure.tensors.views import isolate_operations

VARIABLE = "TRAINDX_CAPTURE"
OF_ONE_TRAINING = ("with", "probes", "keep", "slices", "steps")  # requests that are about the first training
MOST = 32  # records of one script
BOOTSTRAP = Path(__file__).parents[1] / "launch" / "bootstrap"


def attach(process: RecordedProcess) -> Discovery:
    """Look for a training in PyTorch from here on, with what was asked for."""
    request, stream = process.request, process.stream(TorchBackend)
    stream.apart = isolate_operations
    alone = not any(request.get(name) for name in OF_ONE_TRAINING)
    discovery: Discovery = Discovery(
        stream, partial(starts_new_record, process, lambda: discovery) if alone else None
    )
    if request.get("probes"):
        from traindx.capture.torch.checks.last_step import Live
        from traindx.capture.torch.checks.probes import run_probes

        live = Live(stream)
        process.last_check = lambda session: run_probes(live, stream, session, request["probes"])
    if request.get("keep"):
        from traindx.capture.torch.checks.final_weights import FinalWeights

        process.ends.append(FinalWeights(stream, process.out).write)
    if request.get("slices"):
        from traindx.capture.torch.checks.slices import Slices

        process.ends.append(Slices(stream, request["slices"]).report)
    experiment = Experiment(request, stream, parse(request.get("with") or ()))
    process.experiments[stream] = experiment.withdraw
    process.ends += [experiment.end, discovery.end]
    experiment.attach_first()
    discovery.attach(experiment.attach)
    starter = sys.modules.get("torch.multiprocessing.spawn")
    for home in (starter, sys.modules.get("torch.multiprocessing")):
        if home is not None:
            stream.patches.around(home, "start_processes", partial(start_ranks, request))
    return discovery


def starts_new_record(
    process: RecordedProcess,
    current: Callable[[], Discovery],
    module: torch.nn.Module,
    inputs: tuple[Any, ...],
    named: dict[str, Any],
) -> bool:
    """A model is called. Where it is trained after what is recorded (another fold, another setting), it gets its
    own record."""
    before = current()
    if not before.stream.active or not before.stream.safely(is_separate_training, process, before, module):
        return False
    try:
        before.end()
        process.begin_anew()
        after = attach(process)
    except Exception as error:  # noqa: BLE001 - a training is never stopped by its observer
        before.stream.left_out("the record of another training", error)
        return True
    for name, value in before.stream.known.items():
        if name.startswith(OF_THE_SCRIPT):
            after.stream.fact(name, value)
    for made, place in before.loop.fresh:
        optimizer = made()
        if optimizer is not None:
            after.stream.fact("where/optimizer", place)
            after.stream.safely(after.loop.add, None, optimizer)
    after.stream.safely(after.models.see, module, inputs, named)
    return True


def is_separate_training(process: RecordedProcess, before: Discovery, module: torch.nn.Module) -> bool:
    """Whether a model is about to be trained after what is recorded: that has enough steps, its optimizers were
    freed or the script has left their loop for good. A model that shares parameters with it goes on, unless
    its optimizer was made at another line (the head first, then all of it)."""
    session, loop = process.session, before.loop
    if session is None or session.step < FEW_STEPS or process.records >= MOST or not torch.is_grad_enabled():
        return False
    inside = {id(p) for p in module.parameters()}
    if not inside & before.models.wanted:
        return False
    freed = before.stream.scene.primary == 0 and not loop.stepping
    if not freed and not is_left_for_good(loop.at, places(before.stream.lines)):
        return False
    anew = freed and all(place != loop.made_at for _, place in loop.fresh)
    alive = before.stream.scene.alive()
    return anew or not any(id(p) in inside for root in alive for p in root.parameters())


def start_ranks(request: dict[str, Any], original: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Processes that `torch.multiprocessing.spawn` starts are the ranks of a training. They get the request
    through the environment."""
    before = {name: os.environ.get(name) for name in (VARIABLE, "PYTHONPATH")}
    given = [before["PYTHONPATH"]] if before["PYTHONPATH"] else []
    os.environ["PYTHONPATH"] = os.pathsep.join([str(BOOTSTRAP), *given])
    os.environ[VARIABLE] = json.dumps({**request, "ranks": True, "pythonpath": before["PYTHONPATH"]})
    try:
        return original(*args, **named)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

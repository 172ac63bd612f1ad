"""PyTorch in a script that `traindx run` started: discovery, interventions, probes, and the ranks that it
spawns."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from traindx.capture.interventions import parse
from traindx.capture.session import RecordedProcess
from traindx.capture.torch.backend import TorchBackend
from traindx.capture.torch.discover.discovery import Discovery
from traindx.capture.torch.experiment.experiment import Experiment
from traindx.capture.torch.measure.tensors.views import isolated

VARIABLE = "TRAINDX_CAPTURE"
BOOTSTRAP = Path(__file__).parents[1] / "launch" / "bootstrap"


def attach(process: RecordedProcess) -> None:
    """Look for trainings in PyTorch from here on."""
    request, stream = process.request, process.stream(TorchBackend)
    stream.apart = isolated
    discovery = Discovery(stream)
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

"""Probes a live model once, at the end of a short run of `traindx check`, before the script is ended.

The run is discarded afterwards. Even so, modes, buffers, gradients and random state are restored: a script
may catch the exception that ends it, and go on. The fact `<probe>_not_checked` says why a probe gave no
result."""

import time
import warnings
from collections.abc import Callable

from traindx.capture.session import Session, Stream
from traindx.capture.torch.checks import memory, samples
from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.measure.reruns.recorded_call import preserve_model_state
from traindx.vocabulary import Fact

SECONDS = 12.0  # for all probes together; those that come too late are left out

Probe = Callable[[Live], dict[str, Fact]]

PROBES: tuple[tuple[str, Probe], ...] = (
    ("accelerator", memory.accelerator),
    ("structure", memory.structure),
    ("leak", samples.leak),
    ("growth", samples.growth),
    ("modes", samples.modes),
    ("memory", memory.memory),
    ("room", memory.step_memory),
    ("latency", memory.latency),
)


# `traindx memory` runs these of "room", `traindx fix` these of "speed"; `traindx check` runs all but "room".
ONLY = {"room": ("accelerator", "memory", "room"), "speed": ("accelerator", "latency")}


def run_probes(live: Live, stream: Stream, session: Session, what: bool | str = True) -> None:
    """Run the probes, unrecorded. Their results are facts of the session. `what`: "room", "speed", or
    True."""
    stream.active = False
    for listener in session.watched.observers.steps:  # calls of probes are not part of the training
        listener.backward_begin()
    for name, value in facts(live, what).items():
        session.fact(name, value)
    stream.active = True


def facts(live: Live, what: bool | str = True) -> dict[str, Fact]:
    """Run the probes; never raises."""
    began = time.monotonic()
    live.stop()
    found: dict[str, Fact] = {}
    wanted = ONLY.get(str(what)) or [name for name, _ in PROBES if name != "room"]
    for name, probe in PROBES:
        if name not in wanted:
            continue
        if live.model is None and name != "accelerator":
            found[f"{name}_not_checked"] = "no model was seen in training"
        elif time.monotonic() - began > SECONDS:
            found[f"{name}_not_checked"] = "the time limit for checking the model was reached"
        else:
            found |= result_of(name, probe, live)
    return found


def result_of(name: str, probe: Probe, live: Live) -> dict[str, Fact]:
    """The facts of a probe, or why there are none."""
    try:
        with preserve_model_state(live.model), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return probe(live)
    except samples.NotClear as why:
        return {f"{name}_not_checked": str(why)}
    except Exception as error:  # noqa: BLE001 - the user's model is called in ways it may not be made for
        return {
            f"{name}_not_checked": f"the model could not be called: {type(error).__name__}: {str(error)[:200]}"
        }

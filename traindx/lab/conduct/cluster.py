"""Starts of a script as tasks of Ray, on this machine or on others with the same folders.

A task is one call of `work`, which runs the script under capture as usual, bounded and confined, on a
node where Ray has room for its threads. Output and records go to the same places. Needs the extra `ray`."""

import os
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

from traindx.errors import ExperimentFailed, MissingExtra
from traindx.lab.conduct.attempts import Attempt
from traindx.lab.conduct.experiment import Asked

POLL = 0.25  # seconds between two checks of `stop`


class Cluster:
    """The Ray at `address`, or one on this machine that ends with `close`."""

    def __init__(self, work: Callable[..., Attempt], folder: Path, address: str | None = None) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingExtra("to run trials on Ray: pip install 'traindx[ray]'") from error
        self.ray: Any = ray
        self.folder = folder
        try:
            ray.init(
                address=address or "local",
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ExperimentFailed(f"no Ray at {address or 'this machine'}: {error}") from error
        lost = ("WorkerCrashedError", "NodeDiedError", "OutOfMemoryError", "LocalRayletDiedError")
        self.lost = tuple(getattr(ray.exceptions, name) for name in lost)
        self.task = ray.remote(max_retries=0)(work)

    def __call__(
        self,
        command: Sequence[str],
        out: Path,
        interventions: Sequence[str],
        steps: int | None,
        **asked: Unpack[Asked],
    ) -> Attempt:
        """One start as a task. If its worker is killed, it is started once more; raises ExperimentFailed
        when that happens again, InterruptedError when it is stopped."""
        task = self.task.options(num_cpus=asked.get("threads") or 1)
        stop = asked.pop("stop", None)  # stays here, as everything else goes to the node
        given: Asked = {**asked, "folder": self.folder, "base": dict(os.environ)}
        for again in (False, True):
            sent = task.remote(tuple(command), out.resolve(), tuple(interventions), steps, **given)
            try:
                return self.answer(sent, stop)
            except self.ray.exceptions.RayTaskError as error:
                raise error.cause from error
            except self.lost as error:
                if again:
                    raise ExperimentFailed("the worker of a trial was killed twice") from error
                shutil.rmtree(out, ignore_errors=True)  # it may have ended before it made that
            except self.ray.exceptions.RayError as error:
                raise ExperimentFailed(f"Ray failed: {error}") from error
        raise AssertionError("not reached")

    def answer(self, sent: Any, stop: threading.Event | None) -> Attempt:
        """The result of a task. It is asked to end when `stop` is set, or in an exception (Ctrl-C)."""
        try:
            while not self.ray.wait([sent], timeout=POLL)[0]:
                if stop is not None and stop.is_set():
                    raise InterruptedError("stopped")
        except BaseException:
            self.ray.cancel(sent)
            self.ray.wait([sent], timeout=10 * POLL)  # it ends what it started
            raise
        found: Attempt = self.ray.get(sent)
        return found

    def close(self) -> None:
        """End the Ray that was started here, and leave an existing one."""
        self.ray.shutdown()

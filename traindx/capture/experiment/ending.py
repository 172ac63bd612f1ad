"""What becomes of an experiment whose intervention fails: it ends the script."""

import os
from collections.abc import Callable
from typing import Any

from traindx.capture.process.patches import Patches
from traindx.capture.session import Stream

STATUS = 70  # of a script that was ended because an intervention failed (EX_SOFTWARE)
PATIENCE = 20  # times that a script may catch the end before it is ended without asking

Hook = Callable[..., Any]


class Refused(Exception):
    """An intervention cannot apply to the script at hand; the message says why, in one clause."""


class ExperimentStopped(SystemExit):
    """Raised in the script when an intervention cannot be applied. A SystemExit: `except Exception`
    does not catch it, and Python ends with its status."""


class Guard:
    """Calls the hooks of interventions. `ends`: what is called before the record is closed."""

    def __init__(self, request: dict[str, Any], stream: Stream) -> None:
        self.request, self.stream = request, stream
        self.patches = Patches()
        self.ends: list[tuple[Any, Hook]] = []
        self.theirs: BaseException | None = None  # what the script's own code has raised, inside of a hook
        self.stopped = ""
        self.raised = 0

    def guarded(self, site: Any, hook: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Call a hook of an intervention. Its failure ends the script; what the script's own code raised
        inside of it passes."""
        if self.stopped:
            self.stop()
        try:
            return hook(*args, **named)
        except Refused as why:
            self.fail(f"{site.spec} cannot be applied: {why}", why)
        except Exception as error:
            if error is self.theirs:
                self.theirs = None
                raise
            self.fail(
                f"{site.spec} failed ({type(error).__name__}: {str(error)[:300]}; {error_place(error)})",
                error,
            )

    def fail(self, why: str, error: Exception | None = None) -> None:
        self.stopped = why
        self.stream.report("experiment", why=why)
        if self.stream.opened is not None:
            self.stream.opened.event("stopped", f"the experiment was ended: {why}", "intervention-failed")
            self.stream.opened.flush()
        self.stop(error)

    def stop(self, error: Exception | None = None) -> None:
        """End the script; one that catches even this is ended without asking."""
        self.raised += 1
        if self.raised > PATIENCE:
            os._exit(STATUS)
        raise ExperimentStopped(STATUS) from error


def error_place(error: BaseException) -> str:
    """`file:line` where an exception was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (
        "" if trace is None else f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
    )

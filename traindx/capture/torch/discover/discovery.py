"""Finds the training in an unmodified script, and reports what happens in it to an event stream.

Nothing is attached to an object of the script. Optimizers are observed by global hooks, modules by the code
that every call of a module runs (`torch/hooks.py`), and the functions that every loop uses by thin wrappers.
Each part handles one subject, and knows none of the other parts:

    models     the root modules and their inputs
    loop       optimizers, backward, steps, accumulation
    manual     steps of a loop without an optimizer object
    grad       gradients that are not computed by backward
    losses     loss functions, validation passes
    loaders    loaders, time waited for batches
    resumes    checkpoints that are loaded
    extras     clipping, loss scaling, schedules, seeds, compilation
    waits      lines at which the host waits for an accelerator
    wrappers   wrappers that call a hook before or after a function
"""

from __future__ import annotations

from collections.abc import Callable

from traindx.capture.session.stream import Stream
from traindx.capture.torch.discover.extras import Extras
from traindx.capture.torch.discover.grad import Grads
from traindx.capture.torch.discover.loaders import Loaders
from traindx.capture.torch.discover.loop import Loop
from traindx.capture.torch.discover.losses import Losses
from traindx.capture.torch.discover.models import Models
from traindx.capture.torch.discover.resumes import Resumes
from traindx.capture.torch.discover.waits import Waits
from traindx.capture.torch.hooks import CALLS


class Discovery:
    """All parts, put in place and taken away."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.loop, self.losses = Loop(stream), Losses(stream)
        others = (Loaders(stream), Extras(stream), Resumes(stream), Waits(stream))
        self.parts = (Models(stream), self.loop, Grads(stream, self.loop), self.losses, *others)

    def attach(self, between: Callable[[], None] = lambda: None) -> None:
        """Put every hook in place. torch must have been imported. `between` is called before the one
        hook that may end the script: what it registers runs after all measuring."""
        for part in self.parts:
            part.attach()
        CALLS.deaf = self.stream.elsewhere
        self.stream.ends.append(self.listen_again)
        between()
        self.loop.attach_last()
        self.stream.mind_forks()

    def listen_again(self) -> None:
        CALLS.deaf = None

    def end(self) -> None:
        """The script is over: report what is still held back, and detach."""
        for part in (self.loop, self.losses):
            self.stream.safely(part.end)
        self.stream.detach()
        self.loop.release()

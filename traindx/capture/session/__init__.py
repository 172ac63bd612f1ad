"""The recording of one training, whatever the framework: what frameworks import of it.

`events` is imported by the discovery of PyTorch alone.
"""

from traindx.capture.session.backend import Backend, Rate, Updates
from traindx.capture.session.layout import Layout, Part
from traindx.capture.session.loop import STOPPED, Loop, RecordedProcess
from traindx.capture.session.session import Session
from traindx.capture.session.stream import FEW_STEPS, OF_THE_SCRIPT, REPLACED, Stream
from traindx.capture.session.watched import Watched

__all__ = [
    "FEW_STEPS",
    "OF_THE_SCRIPT",
    "REPLACED",
    "STOPPED",
    "Backend",
    "Layout",
    "Loop",
    "Part",
    "Rate",
    "RecordedProcess",
    "Session",
    "Stream",
    "Updates",
    "Watched",
]

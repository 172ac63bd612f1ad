"""Where the time of a step goes. The whole is recorded of every step, its phases where hooks for them
pay."""

from traindx.capture.signals.family import Cost, Family

FAMILY = Family(
    "clock",
    ("time/step", "time/data", "time/forward", "time/backward", "time/optimizer", "time/queued", "time/compile",
     "calls/compile", "throughput"),
    "scalar", "phase", Cost(50.0), optional=True, asks=("data-loader-bottleneck", "step-time-creep"),
)  # fmt: skip

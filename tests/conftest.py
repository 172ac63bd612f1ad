"""Before anything imports numpy: one thread for its small matrices, as the command line has it. With more,
threads of a busy machine wait for each other and the trainings in the tests take ten times as long."""

import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from hypothesis import settings  # noqa: E402

# Time limits say more of the machine than of the code. In CI the examples are always the same ones.
settings.register_profile("traindx", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("traindx")

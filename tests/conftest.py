"""Before anything imports numpy: one thread for its small matrices, as the command line has it. With more,
threads of a busy machine wait for each other and the trainings in the tests take ten times as long."""

import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# Time limits say more of the machine than of the code. In CI the examples are always the same ones.
settings.register_profile("traindx", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("traindx")

collect_ignore = [
    "stranger"
]  # templates of files at their places in a copy of the repository: see test_stranger.py
MOST_WORKERS = (
    8  # each holds its own numpy, pyarrow and matplotlib, and the longest files bound the whole from here on
)


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads its options
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run the whole suite in one process per core. A single file starts sooner without; `-n 0` turns it off."""
    if "PYTEST_XDIST_WORKER" in os.environ:  # a worker calls this hook, too, and must not start workers
        return
    whole_suite = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    parallel = config.pluginmanager.has_plugin("xdist") and not config.getoption("usepdb")
    if whole_suite and parallel and config.option.numprocesses is None:
        config.option.numprocesses = min(len(os.sched_getaffinity(0)), MOST_WORKERS)
        config.option.dist = "loadfile"  # a file's tests share what its fixtures have made

"""The process between traindx and an experiment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PENDING = """
import json, os, signal, sys
from traindx.lab.conduct.keeper import ENDING, Keeper
signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
os.kill(os.getpid(), signal.SIGTERM)
lifeline, _ours = os.pipe()
request = {"command": ["sleep", "60"], "writable": None, "seconds": None, "grace": 2.0, "enclosure": None}
Keeper({**request, "place": sys.argv[1], "lifeline": lifeline, "answer": 1}).run()
"""


def test_a_signal_that_came_before_the_keeper_could_hear_it_is_heard(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PENDING, str(tmp_path / "x")], capture_output=True, timeout=30
    )
    assert json.loads(done.stdout)["ended"] == "stopped", done.stderr

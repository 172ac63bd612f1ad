"""Where a verb works and is ended (see `endings`): its project, home and temporary folder, and what is left in them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from tests.processes import default_signals

TRAIN = """
import torch
torch.manual_seed(3)
x = torch.randn(256, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
for epoch in range(30):
    for rows in torch.randperm(192).split(16):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    held = torch.nn.functional.cross_entropy(model(x[192:]), y[192:]).item()
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {held:.4f}", flush=True)
torch.save(model.state_dict(), "model.pt")
"""
KEPT = ("p/traindx-", "home/.local/share/traindx", "home/.cache")  # records, knowledge
OLD = "old\n"  # what --output holds before
MARK = "TRAINDX_ENDINGS"  # a variable that is in the environment of all that a case starts
LEFT = 3.0  # seconds after an end until no process is there


class Place:
    """A project with its home and its temporary folder, and what was in them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.project, self.home, self.temporary = (
            folder,
            folder / "p",
            folder / "home",
            folder / "tmp",
        )
        for made in (self.project, self.home, self.temporary):
            made.mkdir()
        self.report = folder / "report.json"
        self.report.write_text(OLD)
        write_inputs(self.project)
        self.mark = uuid.uuid4().hex
        self.shared, self.before = set(os.listdir("/dev/shm")), self.state()

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("TRAINDX", "XDG"))}
        own = {
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            MARK: self.mark,
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, "-m", "traindx.cli.main", *arguments]
        with (self.folder / "said").open("wb") as said:
            return subprocess.Popen(
                command, cwd=self.project, env={**clean, **own}, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True, preexec_fn=default_signals,
            )  # fmt: skip

    def state(self) -> dict[str, str]:
        """Files of the project and the home, but records: what they hold."""
        files = [path for base in (self.project, self.home) for path in base.rglob("*") if not path.is_dir()]
        names = {str(path.relative_to(self.folder)): path for path in files}
        return {
            n: hashlib.sha256(p.read_bytes()).hexdigest() for n, p in names.items() if not n.startswith(KEPT)
        }

    def processes(self) -> dict[int, str]:
        """Numbers and commands of those that have our mark in their environment."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (entry / "environ").read_bytes():
                    found[int(entry.name)] = (
                        (entry / "cmdline").read_bytes()[:200].replace(b"\0", b" ").decode()
                    )
        return found

    def left(self) -> list[str]:
        """Processes that are there `LEFT` seconds from now, which are killed."""
        until = time.monotonic() + LEFT
        while (found := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        for number in found:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        return list(found.values())

    def folders(self) -> list[str]:
        """Temporary ones, but those of the script itself."""
        return sorted(name for name in os.listdir(self.temporary) if not name.startswith("torchinductor_"))

    def seen(self) -> dict[str, Any]:
        """What is left, and what was said."""
        after, report = self.state(), self.report.read_text()
        said = (self.folder / "said").read_text(errors="replace")
        return {
            "temporary": self.folders(),
            "shared": sorted(set(os.listdir("/dev/shm")) - self.shared),
            "changed": sorted(
                n for n in self.before.keys() | after.keys() if self.before.get(n) != after.get(n)
            ),
            "records": sorted(str(p.relative_to(self.project)) for p in self.project.glob("traindx-*/*/*"))[
                :20
            ],
            "torn": report != OLD and not is_json(report) and not all(map(is_json, report.splitlines())),
            "traceback": "a bug in traindx" in said
            or any(map(ours, said.split("Traceback (most recent call")[1:])),
            "said": said[-2000:],
        }


def is_json(text: str) -> bool:
    with contextlib.suppress(ValueError):
        return json.loads(text) is not None
    return False


def ours(traceback: str) -> bool:
    """Whether it went through a function of traindx, and is not that of the script, which is interrupted as well."""
    return "train.py" not in traceback and bool(
        re.search(r'traindx/\S+\.py", line \d+, in (?!<module>)', traceback)
    )


def write_inputs(project: Path) -> None:
    (project / "train.py").write_text(TRAIN)
    steps = (f"step {i} loss {2 / (1 + i / 900):.5f} lr 0.01\n" for i in range(200_000))
    (project / "big.log").write_text("".join(steps))
    for name, rate in (("a", 300), ("b", 500)):
        rows = (f"{i},{2 / (1 + i / rate):.5f}\n" for i in range(20_000))
        (project / f"{name}.csv").write_text("step,train/loss\n" + "".join(rows))
    one = {
        "fix": "lower-learning-rate",
        "cause": "learning-rate-too-high",
        "effect": 0.2,
        "interval": [0.1, 0.3],
    }
    one |= {
        "interventions": ["lr=*0.1"],
        "verdict": "confirmed",
        "setup": {"lr": 0.1},
        "evidence": ["loss-plateaus"],
    }
    lines = (json.dumps({**one, "at": 1.7e9 + i, "project": f"p{i}"}) + "\n" for i in range(3000))
    (project / "tried.jsonl").write_text("".join(lines))

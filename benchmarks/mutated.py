"""What is damaged, by kind, and what reads it: logs, traces, records, databases, settings, sources, notebooks.

`LOGS` is the folder of real logs; everything else is written here, small and the same every time.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path

LOGS = Path("tests/logs")
SCRIPTS = (Path("tests/scripts"), Path("examples"))
MOST_SCRIPT = 1 << 20
CHANGES = (
    "lr=*0.1",
    "clip=1.0",
    "optimizer=adamw",
    "weight_decay=0.01",
    "dropout=0.2",
    "schedule=cosine",
    "seed=0",
)
FIXES = ("evaluate-in-eval-mode", "zero-gradients", "shuffle-data", "reattach-graph", "standardize-inputs")
DIAGNOSED = ("readers", "records", "traces")  # by `traindx diagnose`, in one of its forms
CFG = {"yaml": "train:\n  lr: 0.5\n  steps: 20\n", "json": '{"train": {"lr": 0.5, "steps": 20}}\n',
       "toml": "[train]\nlr = 0.5\nsteps = 20\n"}  # fmt: skip
SCRIPT = """import {module}, torch
cfg = {module}.{load}(open("cfg.{suffix}"))
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=cfg["train"]["lr"])
for i in range(cfg["train"]["steps"]):
    opt.zero_grad()
    loss = model(torch.randn(8, 3)).square().mean()
    loss.backward()
    opt.step()
"""
SETTINGS = """select = ["LOS", "GRD"]
ignore = ["LOS004"]
severity = "high"
aliases = { "train/loss" = "my_loss" }
facts = { optimizer = "adam", classes = 10, lr = 0.1 }

[thresholds.loss-plateaus]
good = 0.95
"""


def logs_of(kind: str, place: Path, logs: Path = LOGS) -> list[Path]:
    """Whole inputs of a kind, each a file or a folder; what is not read from `logs` or the tests is written below
    `place`."""
    if kind == "readers":
        return sorted(p for p in logs.iterdir() if p.is_file() or any(q.is_file() for q in p.rglob("*")))
    place.mkdir(parents=True, exist_ok=True)
    WRITERS[kind](place)
    return sorted(place.iterdir())


def write_records(place: Path) -> None:
    from tests.readers.writers.store import rows, write_setup, write_stream

    for name, ranks in (("one", 1), ("two", 2)):
        folder = place / name
        folder.mkdir()
        facts = {"lr": 0.1, "optimizer": "SGD", "where/step": "train.py:9"}
        write_setup(
            folder, facts=facts, framework="torch", versions={"torch": "2.13"}, script={"argv": "train.py"}
        )
        for rank in range(ranks):
            write_stream(folder, [rows(0, 40), rows(40, 90)], rank=rank)
            lines = [{"time": 1.7e9 + i, "kind": "note", "message": "m", "step": i} for i in range(4)]
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / f"events-{rank}-100.jsonl").write_text(text)


def write_traces(place: Path) -> None:
    from tests.readers.writers.traces import document, host_step
    from tests.readers.writers.xplane import host_steps, space

    steps = [e for i in range(8) for e in host_step(1000.0 + 500 * i, i)]
    (place / "x.pt.trace.json").write_text(document(steps, "H200"))
    (place / "host.xplane.pb").write_bytes(space(*host_steps(8)))


def write_knowledge(place: Path) -> None:
    from traindx.lab.knowledge.counts import Outcome
    from traindx.lab.knowledge.store import Store

    for count in (1, 40):
        store = Store(f"sqlite:///{place / f'kb{count}.sqlite'}")
        store.add([
            Outcome(at=1.7e9 + i, project=f"p{i % 3}", fix="lower-learning-rate", cause="lr-too-high",
                    interventions=("lr=*0.1",), verdict="confirmed", effect=0.2, interval=(0.1, 0.3),
                    setup={"optimizer": "sgd", "lr": 0.1}, evidence=("loss-plateaus",))
            for i in range(count)
        ])  # fmt: skip
        store.close()


def write_configs(place: Path) -> None:
    (place / "traindx.toml").write_text(SETTINGS)
    nested = SETTINGS.replace("[thresholds", "[tool.traindx.thresholds")
    (place / "pyproject.toml").write_text(f"[tool.traindx]\n{nested}")
    for suffix, text in CFG.items():
        (place / f"cfg.{suffix}").write_text(text)


def write_sources(place: Path) -> None:
    from tests.lab.edits.samples import SCRIPT as SAMPLE

    (place / "sample.py").write_text(SAMPLE)
    for script in (p for folder in SCRIPTS for p in folder.glob("*.py")):
        (place / script.name).write_bytes(script.read_bytes())


def write_notebooks(place: Path) -> None:
    for script in (p for folder in SCRIPTS for p in folder.glob("*.py")):
        lines = script.read_text().splitlines(keepends=True)
        cells = [
            {"cell_type": "code", "source": lines[i : i + 10], "outputs": []}
            for i in range(0, len(lines), 10)
        ]
        (place / f"{script.stem}.ipynb").write_text(
            json.dumps({"cells": cells, "nbformat": 4, "metadata": {}})
        )


WRITERS: dict[str, Callable[[Path], None]] = {
    "records": write_records, "traces": write_traces, "knowledge": write_knowledge, "configs": write_configs,
    "sources": write_sources, "notebooks": write_notebooks,
}  # fmt: skip
KINDS = ("readers", *WRITERS)


def read_knowledge(path: Path) -> None:
    """Open a database, list it, add to it."""
    from traindx.lab.knowledge.counts import Outcome, counts
    from traindx.lab.knowledge.store import Store

    store = Store(f"sqlite:///{path}")
    found = [outcome for _, outcome in store.all()]
    counts(found, None, "lr-too-high", 1.7e9)
    new = Outcome(at=1.0, project="p", fix="f", cause="c", interventions=(), verdict="refuted")
    store.add([new])
    store.close()


def read_config(path: Path) -> None:
    """Settings are loaded; a script's configuration is edited."""
    from traindx import config
    from traindx.lab.edits import edit
    from traindx.lab.edits.files import read_tree

    if path.name in config.FILE_NAMES:
        config.load(path)
        return
    suffix = path.suffix[1:]
    module, load = {"yaml": ("yaml", "safe_load"), "json": ("json", "load"), "toml": ("tomllib", "load")}[
        suffix
    ]
    files = read_tree(path.parent) | {"train.py": SCRIPT.format(module=module, load=load, suffix=suffix)}
    for change in CHANGES[:2]:
        edit(files, "train.py", "", [change], facts={"lr": 0.5})


def read_source(path: Path) -> None:
    """What `fix` and `check` do with a script before they run it."""
    from traindx.lab.conduct.environment import imported_packages
    from traindx.lab.conduct.project_neighbors import refers_outside
    from traindx.lab.conduct.warm import imported_files, imports
    from traindx.lab.edits import edit
    from traindx.lab.edits.files import read_tree

    folder = path.parent
    for found, text in imported_files(path, folder):
        list(imports(text))
        imported_packages(found)
    refers_outside(folder, ("python", path.name), lambda _: False)
    files = read_tree(folder)
    if path.name in files:  # one change for each case, the same for the same text
        fix = (*CHANGES, *FIXES)[zlib.crc32(files[path.name].encode()) % len((*CHANGES, *FIXES))]
        edit(files, path.name, fix, [fix] if "=" in fix else [], facts={"lr": 0.1})


def read_notebook(path: Path) -> None:
    """A notebook as a text of the project, and as a log that somebody names."""
    import traindx
    from traindx.lab.conduct.project_neighbors import refers_outside

    refers_outside(path.parent, ("python", "x.py"), lambda _: False)
    traindx.diagnose(traindx.read_all(path)).to_text()


TASKS: dict[str, Callable[[Path], None]] = {
    "knowledge": read_knowledge, "configs": read_config, "sources": read_source, "notebooks": read_notebook,
}  # fmt: skip

"""Settings as projects write them: the patch applies with `git apply`, and the patched script, run plainly, prints what
the script prints under the intervention. Where several places could set a value, nothing is changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("libcst")

from tests.lab.edits.test_packed_arguments import END, START
from traindx.lab.edits import Advice, Patch, edit
from traindx.lab.edits.files import diff

HEAD = "import argparse, json, os, sys, tomllib\nfrom dataclasses import dataclass, replace\n"
CONFIG = '@dataclass\nclass Config:\n    kind: str = "Adam"\n    lr: float = 1e-6\n'
MAKE = "optimizer = torch.optim.Adam(model.parameters(), lr={})"
YAML = '\nimport yaml\ncfg = yaml.safe_load(open("c.yaml"))\n'
OMEGA = 'from omegaconf import OmegaConf\ncfg = OmegaConf.load("c.yaml")\n'
SPLIT = (
    'parser = argparse.ArgumentParser()\nparser.add_argument("--config", default="c.toml")\n'
    'parser.add_argument("--lr", type=float, default=0.1)\nknown, _ = parser.parse_known_args()\n'
    'parser.set_defaults(**tomllib.load(open(known.config, "rb")))\nargs = parser.parse_args()\n'
)
HYDRA = 'import hydra\n@hydra.main(version_base=None, config_path="conf", config_name="config")\ndef main(cfg):\n'
LOOP = "    " + END.replace("\n", "\n    ").strip()
GROUPS = {
    "conf/config.yaml": "defaults:\n  - _self_\n  - optim: adam\nsteps: 3\n",
    "conf/other.yaml": "optim: {lr: 5}\n",
}
# The script (START before, END after), its other files, and (file, old, new) of the right patch.
RIGHT: dict[str, tuple[str, dict[str, str], tuple[str, str, str]]] = {
    "dict.get of classes": (
        CONFIG + 'cfg = Config()\nCLASSES = {"Adam": torch.optim.Adam}\n'
        "optimizer = CLASSES.get(cfg.kind)(model.parameters(), lr=cfg.lr)", {}, ("train.py", "= 1e-6", "= 0.001"),
    ),
    "a function that builds": (
        CONFIG + 'def build_optimizer(cfg, model):\n    if cfg.kind == "Adam":\n'
        "        return torch.optim.Adam(model.parameters(), lr=cfg.lr)\n    raise ValueError(cfg.kind)\n"
        "optimizer = build_optimizer(Config(), model)", {}, ("train.py", "= 1e-6", "= 0.001"),
    ),
    "replace": (
        CONFIG.replace("1e-6", "1e-3") + "base = Config()\ncfg = replace(base, lr=1e-6)\n" + MAKE.format("cfg.lr"),
        {}, ("train.py", "lr=1e-6", "lr=0.001"),
    ),
    "replace of another field": (
        CONFIG + 'base = Config()\ncfg = replace(base, kind="Adam")\n' + MAKE.format("cfg.lr"), {},
        ("train.py", "= 1e-6", "= 0.001"),
    ),
    "a class filled from YAML": (
        CONFIG.replace("1e-6", "0.1") + YAML + "settings = Config(**cfg)\n" + MAKE.format("settings.lr"),
        {"c.yaml": "lr: 1.0e-6\n"}, ("c.yaml", "1.0e-6", "0.001"),
    ),
    "argparse with a config file": (SPLIT + MAKE.format("args.lr"), {"c.toml": "lr = 1e-6\n"},
                                    ("c.toml", "1e-6", "0.001")),
    "environment": (MAKE.format('float(os.getenv("RATE", "1e-6"))'), {}, ("train.py", '"1e-6"', "0.001")),
    "click": (
        'import click\n@click.command()\n@click.option("--lr", default=1e-6)\ndef main(lr):\n    '
        + MAKE.format("lr") + "\n" + LOOP + "\nmain()\nsys.exit()", {}, ("train.py", "default=1e-6", "default=0.001"),
    ),
    "interpolation": (
        OMEGA + MAKE.format("cfg.optim.lr"), {"c.yaml": "rate: 1.0e-6\noptim:\n  lr: ${rate}\n"},
        ("c.yaml", "1.0e-6", "0.001"),
    ),
    "relative interpolation": (
        OMEGA + MAKE.format("cfg.optim.lr"), {"c.yaml": "optim:\n  base: 1.0e-6\n  lr: ${.base}\n"},
        ("c.yaml", "1.0e-6", "0.001"),
    ),
    "Hydra": (
        HYDRA + "    " + MAKE.format("cfg.optim.lr") + "\n" + LOOP + "\nmain()\nsys.exit()",
        {**GROUPS, "conf/optim/adam.yaml": "lr: 1.0e-6\n", "conf/optim/sgd.yaml": "lr: 1.0e-6\n"},
        ("conf/optim/adam.yaml", "1.0e-6", "0.001"),
    ),
    "Hydra that makes the optimizer": (
        HYDRA + "    optimizer = hydra.utils.instantiate(cfg.optim, params=model.parameters())\n" + LOOP
        + "\nmain()\nsys.exit()",
        {**GROUPS, "conf/optim/adam.yaml": "_target_: torch.optim.Adam\nlr: 1.0e-6\n"},
        ("conf/optim/adam.yaml", "1.0e-6", "0.001"),
    ),
}  # fmt: skip
FAINT: dict[str, tuple[str, dict[str, str], list[str]]] = {
    "a copy under the same name": (
        CONFIG + "cfg = Config()\nif len(sys.argv) > 1:\n    cfg = replace(cfg, lr=1e-6)\n" + MAKE.format("cfg.lr"),
        {}, [],
    ),
    "a variable without a default": (MAKE.format('float(os.environ["RATE"])'), {"c.json": '{"RATE": 1e-6}'}, []),
    "an option of click that is given": (
        'import click\n@click.command()\n@click.option("--lr", default=1e-6)\ndef main(lr):\n    '
        + MAKE.format("lr") + "\nmain()", {}, ["--lr", "1e-6"],
    ),
    "an override of Hydra": (
        HYDRA + "    " + MAKE.format("cfg.optim.lr") + "\nmain()",
        {**GROUPS, "conf/optim/adam.yaml": "lr: 3\n"}, ["optim.lr=1e-6"],
    ),
    "an interpolation of the environment": (
        OMEGA + MAKE.format("cfg.lr"), {"c.yaml": "lr: ${oc.env:RATE,1e-6}\n"}, [],
    ),
}  # fmt: skip
BARE = ("dict.get of classes", "replace", "a class filled from YAML", "click")


def changed(
    script: str, others: dict[str, str], arguments: list[str]
) -> tuple[dict[str, str], Patch | Advice]:
    text = HEAD + START + script + END
    line = next((i for i, one in enumerate(text.splitlines(), 1) if "optimizer = " in one), 0)
    facts = {"lr": 1e-6, "optimizer": "Adam", "where/optimizer": f"train.py:{line}"}
    files = {"train.py": text, **others}
    return files, edit(
        files, "train.py", "raise-learning-rate", ["lr=*1000"], arguments=arguments, facts=facts
    )


@pytest.mark.parametrize("what", RIGHT)
def test_the_place_that_sets_the_rate_is_changed(what: str) -> None:
    script, others, (path, old, new) = RIGHT[what]
    files, found = changed(script, others, [])
    assert isinstance(found, Patch), found
    assert files[path].count(old) == 1
    assert found.after == {path: files[path].replace(old, new)}


@pytest.mark.parametrize("what", FAINT)
def test_nothing_is_changed_where_another_place_could_set_the_rate(what: str) -> None:
    _, found = changed(*FAINT[what])
    assert isinstance(found, Advice), found.after


@pytest.mark.parametrize("what", BARE)
def test_the_patched_script_does_what_the_intervention_did(what: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("yaml")
    script, others, _ = RIGHT[what]
    data = "torch.manual_seed(0)\ndata = [(torch.randn(8, 2), torch.arange(8) % 2) for _ in range(6)]\nmodel"
    start = HEAD + START.replace(
        "import argparse, json, tomllib, types, yaml, torch", "import torch"
    ).replace("model", data, 1)
    text = start + script + END
    text = text.replace(".step()", ".step(), print(sum(p.sum().item() for p in model.parameters()))")
    files = {"train.py": text, **others}
    for path, content in files.items():
        (tmp_path / path).write_text(content)
    arm = printed(
        tmp_path,
        "-m",
        "traindx",
        "run",
        "-q",
        "--with",
        "lr=*1000",
        "--in-place",
        "--",
        sys.executable,
        "train.py",
    )
    line = next(i for i, one in enumerate(text.splitlines(), 1) if "optimizer = " in one)
    facts = {"lr": 1e-6, "optimizer": "Adam", "where/optimizer": f"train.py:{line}"}
    found = edit(files, "train.py", "raise-learning-rate", ["lr=*1000"], facts=facts)
    assert isinstance(found, Patch), found
    subprocess.run(["git", "apply", "-"], input=diff(found), text=True, cwd=tmp_path, check=True)
    assert printed(tmp_path, "train.py") == arm
    assert len(arm) == 6


def printed(folder: Path, *command: str) -> list[str]:
    """The lines of a run that are numbers."""
    environment = {**os.environ, "TRAINDX_KB": "off", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return [line for line in done.stdout.splitlines() if line.lstrip("-").replace(".", "", 1).isdigit()]

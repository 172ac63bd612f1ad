"""Samples of model-not-compiled."""

from __future__ import annotations

from tests import make
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup


def fires() -> dict[str, Run]:
    setup = Setup(device="cuda:0", planned_steps=5000)
    return {
        "a flag that is off": make.run(
            {"train/loss": make.healthy_loss(2400)}, setup=setup.with_facts({"compile": False}, "log")
        ),
        "written as text": make.run(
            {"train/loss": make.healthy_loss(2400)},
            setup=setup.with_facts({"torch_compile": "False"}, "log"),
        ),
    }


def stays_quiet() -> dict[str, Run]:
    loss = {"train/loss": make.healthy_loss(2400)}
    short = {"train/loss": make.healthy_loss(40)}
    return {
        "compiled": make.run(loss, setup=Setup(device="cuda", facts={"compile": True})),
        "on a processor": make.run(loss, setup=Setup(device="cpu", facts={"compile": False})),
        "a short run": make.run(short, setup=Setup(device="cuda", facts={"compile": False})),
    }

"""Samples for LOS013."""

from tests.make import healthy_loss, run
from traindx.vocabulary.run import Event, Run

RESUMED = (Event("resume", "resumed from a checkpoint", 200.0),)


def fires() -> dict[str, Run]:
    up, down = healthy_loss(400), healthy_loss(400)
    up[200:230] += 0.8
    down[200:] *= 0.25
    return {
        "up": run({"train/loss": up}, events=RESUMED),
        "down": run({"train/loss": down}, events=RESUMED),
    }


def stays_quiet() -> dict[str, Run]:
    elsewhere = healthy_loss(400)
    elsewhere[300:330] += 0.8
    return {
        "seamless": run({"train/loss": healthy_loss(400)}, events=RESUMED),
        "a jump elsewhere": run({"train/loss": elsewhere}, events=RESUMED),
    }

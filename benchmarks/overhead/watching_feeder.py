"""Started by `watching_peers` in an environment with tensorboard and trackio: runs that grow by one row a second.

Arguments: the folder of the event files, Trackio's project, and how many runs.
"""

import math
import sys
import time
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter
from trackio.sqlite_storage import SQLiteStorage

BEGUN = 500  # rows of each run at the start


def loss(step):
    return 0.2 + 2 * math.exp(-step / 300) + 0.02 * math.sin(step * 12.9898)


class Run:
    def __init__(self, folder, project, name):
        (folder / name).mkdir(parents=True)
        self.project, self.name, self.step = project, name, 0
        self.file = open(folder / name / f"events.out.tfevents.{int(time.time())}.host.1.0", "wb")  # noqa: SIM115
        self.writer = RecordWriter(self.file)
        self.writer.write(Event(wall_time=time.time(), file_version="brain.Event:2").SerializeToString())
        self.grow(BEGUN)

    def grow(self, rows):
        steps = range(self.step, self.step + rows)
        for step in steps:
            values = [
                Summary.Value(tag="loss", simple_value=loss(step)),
                Summary.Value(tag="lr", simple_value=1e-3),
            ]
            event = Event(wall_time=time.time(), step=step, summary=Summary(value=values))
            self.writer.write(event.SerializeToString())
        self.file.flush()
        metrics = [{"loss": loss(step), "lr": 1e-3} for step in steps]
        SQLiteStorage.bulk_log(self.project, self.name, metrics, steps=list(steps))
        self.step += rows


folder, project, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
runs = [Run(folder, project, f"run{n:03}") for n in range(count)]
(folder / "ready").touch()
began, made = time.monotonic(), 0
while True:
    wait = began + made / count - time.monotonic()
    if wait > 0:
        time.sleep(wait)
    runs[made % count].grow(1)
    made += 1

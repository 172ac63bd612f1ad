"""What the script logs itself: to TensorBoard, W&B, MLflow, and which CSV files it writes."""

import csv
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from traindx.capture.session import Stream

MOST_FILES = 20


def attach(stream: Stream, wanted: dict[str, Callable[[Any], None]]) -> None:
    """Wrap what is there, and leave word for what may be imported later."""
    later = {
        "torch.utils.tensorboard.writer": lambda module: tensorboard(stream, module.SummaryWriter),
        "tensorboardX.writer": lambda module: tensorboard(stream, module.SummaryWriter),
        "wandb.sdk.wandb_run": lambda module: wandb(stream, module.Run),
        "mlflow.tracking.client": lambda module: mlflow(stream, module.MlflowClient),
    }
    for name, then in later.items():
        if name in sys.modules:
            stream.safely(then, sys.modules[name])
        else:
            wanted[name] = call_both(wanted.get(name), partial(stream.safely, then))
    csv_files(stream)


def call_both(first: Callable[[Any], None] | None, second: Callable[[Any], None]) -> Callable[[Any], None]:
    """Call one after the other: the streams of two frameworks wait for the same module."""

    def call(module: Any) -> None:
        if first is not None:
            first(module)
        second(module)

    return call


def report_metric(stream: Stream, name: Any, value: Any) -> None:
    """One logged number, under the name that the script gave it."""
    session = stream.opened
    number = as_number(value)
    if session is not None and number is not None and isinstance(name, str):
        session.metric(f"logged/{name}", number)


def as_number(value: Any) -> float | None:
    """A float from a number, a numpy scalar or a tensor of one element."""
    if isinstance(value, bool | str) or value is None:
        return None
    try:
        value = value.detach() if hasattr(value, "detach") else value  # float() warns of a graph
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def tensorboard(stream: Stream, writer: Any) -> None:
    def add_scalar(original: Any, own: Any, tag: Any, scalar_value: Any, *args: Any, **named: Any) -> Any:
        stream.safely(report_metric, stream, tag, scalar_value)
        return original(own, tag, scalar_value, *args, **named)

    stream.patches.around(writer, "add_scalar", add_scalar)


def wandb(stream: Stream, run: Any) -> None:
    def log(original: Any, own: Any, data: Any, *args: Any, **named: Any) -> Any:
        stream.safely(report_metrics, stream, data)
        return original(own, data, *args, **named)

    stream.patches.around(run, "log", log)


def report_metrics(stream: Stream, data: Any) -> None:
    if isinstance(data, Mapping):
        for name, value in data.items():
            report_metric(stream, name, value)


def mlflow(stream: Stream, client: Any) -> None:
    """Everything that is logged goes through the client, also from the functions of `mlflow` itself."""

    def log_metric(
        original: Any, own: Any, run_id: Any, key: Any, value: Any, *args: Any, **named: Any
    ) -> Any:
        stream.safely(report_metric, stream, key, value)
        return original(own, run_id, key, value, *args, **named)

    def log_batch(original: Any, own: Any, run_id: Any, metrics: Any = (), *args: Any, **named: Any) -> Any:
        stream.safely(report, metrics)
        return original(own, run_id, metrics, *args, **named)

    def report(metrics: Any) -> None:
        for metric in metrics:
            report_metric(stream, metric.key, metric.value)

    stream.patches.around(client, "log_metric", log_metric)
    stream.patches.around(client, "log_batch", log_batch)


def csv_files(stream: Stream) -> None:
    """Remember which files are written with the csv module; they are read after the run."""
    seen: set[str] = set()

    def writer(original: Any, csvfile: Any, *args: Any, **named: Any) -> Any:
        stream.safely(remember, csvfile)
        return original(csvfile, *args, **named)

    def remember(file: Any) -> None:
        name = getattr(file, "name", None)
        if (
            isinstance(name, str)
            and os.path.isfile(name)
            and len(seen) < MOST_FILES
            and stream.lines.here(3)
        ):
            path = os.path.abspath(name)
            if path not in seen:
                seen.add(path)
                stream.fact(f"log_file/{len(seen)}", path)

    stream.patches.around(csv, "writer", writer)

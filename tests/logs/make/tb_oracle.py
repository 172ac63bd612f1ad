"""What TensorBoard's own EventAccumulator finds in an event file."""

from __future__ import annotations

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

try:  # knows more number types than TensorBoard's copy of it
    from tensorflow import make_ndarray
except ImportError:
    from tensorboard.util.tensor_util import make_ndarray

KEEP_ALL = dict.fromkeys(("scalars", "tensors", "histograms", "images", "audio", "compressedHistograms"), 0)


def found(file: Path) -> dict[str, dict[str, list[float]]]:
    """Steps, wall times and values of every scalar, by tag; tensors count if they hold one number."""
    accumulator = EventAccumulator(str(file), size_guidance=KEEP_ALL, purge_orphaned_data=False)
    accumulator.Reload()
    out = {}
    for tag in accumulator.Tags()["scalars"]:
        events = accumulator.Scalars(tag)
        out[tag] = columns(events, [e.value for e in events])
    for tag in accumulator.Tags()["tensors"]:
        events = accumulator.Tensors(tag)
        arrays = [make_ndarray(e.tensor_proto) for e in events]
        if all(a.size == 1 and (a.dtype.kind in "biuf" or a.dtype.name == "bfloat16") for a in arrays):
            out[tag] = columns(events, [float(a.item()) for a in arrays])
    return out


def columns(events: list, values: list[float]) -> dict[str, list[float]]:
    return {"steps": [e.step for e in events], "times": [e.wall_time for e in events], "values": values}


def found_below(folder: Path) -> dict[str, dict[str, dict[str, list[float]]]]:
    return {str(f.relative_to(folder)): found(f) for f in sorted(folder.rglob("*tfevents*"))}

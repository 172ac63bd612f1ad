"""Several event files of one run: which belong together, and what their columns are called."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from traindx.readers._tfevents import Decoded
from traindx.readers.raw import RawColumn

SPLITS = frozenset({"train", "training", "val", "valid", "validation", "eval", "evaluation", "test", "testing", "dev"})


class Part(NamedTuple):
    """One event file: its folder, relative to the folder that was asked for, and what is in it."""

    folder: Path
    file: str
    decoded: Decoded


def run_folder(part: Part) -> Path:
    """The folder of the run that a file belongs to. Writers open sub-folders of a run for a split
    (Keras, Estimator), for one line of a chart (`add_scalars`) and for hyperparameters."""
    folder = part.folder
    if folder == Path("."):
        return folder
    if folder.name.lower() in SPLITS or _charts(part) or (part.decoded.hparams and _is_clock(folder.name)):
        return folder.parent
    return folder


def named(part: Part, root: str) -> dict[str, RawColumn]:
    """Columns of a file under names that hold what its folder says: `validation/epoch_loss`."""
    name = part.folder.name or root
    if part.folder.name and _charts(part):
        return {tag + "/" + name[len(tag) + 1 :]: column for tag, column in part.decoded.columns.items()}
    if name.lower() not in SPLITS:
        return part.decoded.columns
    return {
        t if t.lower().startswith(name.lower() + "/") else f"{name}/{t}": c for t, c in part.decoded.columns.items()
    }


def _charts(part: Part) -> bool:
    """Whether the folder is a line of a chart: `loss_train` for the tag `loss` of add_scalars."""
    tags = part.decoded.columns
    return bool(tags) and all(
        part.folder.name.startswith(tag.replace("/", "_").replace(" ", "_") + "_") for tag in tags
    )


def _is_clock(name: str) -> bool:
    return name.replace(".", "", 1).isdigit()

"""Several event files of one run: which belong together, and what their columns are called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from traindx.readers.raw import RawColumn
from traindx.readers.tfevents.files import Decoded

SPLITS = frozenset(
    {
        "train",
        "training",
        "learn",
        "val",
        "valid",
        "validation",
        "eval",
        "evaluation",
        "test",
        "testing",
        "dev",
    }
)


class Part(NamedTuple):
    """One event file: its folder, relative to the folder that was asked for, and what is in it."""

    folder: Path
    file: str
    decoded: Decoded


def home(folder: Path, parts: Mapping[Path, list[Part]]) -> Path:
    """The folder of the run that `folder` belongs to, of the folders with event files. Writers open
    sub-folders of a run for a split (Keras, Estimator), for one line of a chart (`add_scalars`)
    and for hyperparameters (`add_hparams`)."""
    if folder == Path("."):
        return folder
    if folder.name.lower() in SPLITS or all(_charts(part) for part in parts[folder]):
        return folder.parent
    columns = [column for part in parts[folder] for column in part.decoded.columns.values()]
    single = all(len(column.values) == 1 for column in columns) and any(
        part.decoded.hparams for part in parts[folder]
    )
    return folder.parent if single and folder.parent in parts else folder


def named(part: Part, root: str) -> dict[str, RawColumn]:
    """Columns of a file under names that hold what its folder says: `validation/epoch_loss`."""
    name = part.folder.name or root
    if part.folder.name and _charts(part):
        return {tag + "/" + name[len(tag) + 1 :]: column for tag, column in part.decoded.columns.items()}
    if name.lower() not in SPLITS:
        return part.decoded.columns
    return {
        t if t.lower().startswith(name.lower() + "/") else f"{name}/{t}": c
        for t, c in part.decoded.columns.items()
    }


def _charts(part: Part) -> bool:
    """Whether the folder is a line of a chart: `loss_train` for the tag `loss` of add_scalars."""
    tags = part.decoded.columns
    return bool(tags) and all(
        part.folder.name.startswith(tag.replace("/", "_").replace(" ", "_") + "_") for tag in tags
    )

"""Facts about a data set, before anything is trained on it, for the rules to judge.

Every row is read once, in bounded memory. Counts, scales and hashes are of all rows. What needs values
side by side (outliers, label noise, shift) uses a uniform sample, whose size is among the facts. No
sample's content is kept after the call or reported: only row numbers, names of columns and statistics."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from traindx.errors import ConfigError, ReadError
from traindx.survey import files, inputs, labels, leakage, noise, rows, shift, slices
from traindx.survey.gather import Gathered, Progress, Sample, gather
from traindx.survey.reading.objects import as_array, as_table
from traindx.survey.table import Chunk, Codes, Measured, Table, Wanted, list_names

__all__ = ["Codes", "Measured", "Survey", "Table", "Wanted", "of", "survey_table"]


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured on a data set. `samples` rows were read."""

    name: str
    format: str
    origin: str
    samples: int
    measured: Measured
    notes: tuple[str, ...] = ()


def examine(
    data: Any,
    target: Any = None,
    *,
    validation: Any = None,
    sensitive: Any = None,
    task: labels.Task | None = None,
    fitted: bool = True,
    progress: Progress | None = None,
) -> Survey:
    """Survey whatever `reading.objects.as_table` accepts, or a folder. Raises ConfigError and ReadError."""
    if isinstance(data, str | os.PathLike) and os.path.isdir(data):
        return survey_files(Path(data), validation, progress)
    codes = Codes()
    column = target if isinstance(target, str) else None
    group = sensitive if isinstance(sensitive, str) else None
    table = with_groups(as_table(data, target, Wanted(codes, column, group)), sensitive, codes)
    if validation is None:
        return survey_table(table, codes, task=task, fitted=fitted, progress=progress)
    given, goal = validation if isinstance(validation, tuple) else (validation, column)
    wanted = Wanted(codes, goal if isinstance(goal, str) else None, fields=table.fields)
    return survey_table(
        table, codes, as_table(given, goal, wanted), task=task, fitted=fitted, progress=progress
    )


def survey_files(folder: Path, validation: Any, progress: Progress | None) -> Survey:
    """Survey a folder of images or sounds, and the validation folder."""
    if validation is not None and not (
        isinstance(validation, str | os.PathLike) and os.path.isdir(validation)
    ):
        raise ConfigError("the validation data of a folder must be a folder")
    made, notes = files.survey_folder(folder, None if validation is None else Path(validation), progress)
    count = int(made.facts["files_checked"])
    return Survey(
        name=str(folder), format="folder", origin="file", samples=count, measured=made, notes=tuple(notes)
    )  # fmt: skip


def with_groups(table: Table, sensitive: Any, codes: Codes) -> Table:
    """The table with a sensitive column that was given as an array. Raises ConfigError for one that is of
    another length."""
    if sensitive is None or isinstance(sensitive, str):
        return table
    words = [None if v is None or v != v else str(v) for v in as_array(sensitive).reshape(-1).tolist()]
    count = table.facts.get("rows_all", table.rows)
    if count is not None and len(words) != count:
        raise ConfigError(f"there are {count:,} samples and {len(words):,} values of the sensitive column")
    values = codes.encode("sensitive:sensitive", words)

    def chunks() -> Iterator[Chunk]:
        for chunk in table.chunks():
            part = values[chunk.start : chunk.start + len(chunk.features)]
            yield msgspec.structs.replace(chunk, sensitive=part)

    return msgspec.structs.replace(table, chunks=chunks, sensitive="sensitive")


def survey_table(
    table: Table,
    codes: Codes,
    held_out: Table | None = None,
    *,
    task: labels.Task | None = None,
    fitted: bool = True,
    progress: Progress | None = None,
) -> Survey:
    """Survey a table, and its validation data if given. `task` overrides the kind of the target. Without
    `fitted` no model is fitted, so label noise is not estimated. Raises ReadError for a damaged source."""
    found = gather(table, progress)
    other = None if held_out is None else gather(held_out, progress)
    for read in (found, other):
        if read is not None and not (read.rows and read.table.fields):
            raise ReadError(read.table.name, "holds no rows of features")
    made = Measured(facts=dataset_facts(found, other))
    with np.errstate(over="ignore", invalid="ignore"):  # values near the float limit
        measure(made, found, other, Asked(codes, task, fitted))
    notes = [*table.notes, *(held_out.notes if held_out else ())]
    if table.left_out:
        notes.append(f"taken for row names and left out: {list_names(table.left_out)}")
    return Survey(
        name=table.name, format=table.format, origin=table.origin, samples=found.rows, measured=made,
        notes=tuple(notes)
    )  # fmt: skip


def dataset_facts(found: Gathered, other: Gathered | None) -> dict[str, Any]:
    whole = found.table.facts.get("rows_all", found.rows)
    facts: dict[str, Any] = {
        "dataset_size": whole,
        "samples_read": found.rows,
        "data_origin": found.table.origin,
    }
    facts["data_is_raw"] = found.table.origin in ("file", "arrays")
    if other is not None:
        facts["val_samples"] = other.rows
    return facts


class Asked(NamedTuple):
    """The codes of the tables, what the target is taken for, and whether models may be fitted."""

    codes: Codes
    task: labels.Task | None
    fitted: bool


def measure(made: Measured, found: Gathered, other: Gathered | None, asked: Asked) -> None:
    """Every measurement that the table allows, into `made`."""
    sample = found.reservoir.sample()
    made.facts |= {"samples_looked_at": len(sample.rows)}
    made.add(inputs.measure_inputs(found, sample))
    made.add(rows.copies(found, sample))
    labelled = found.table.target is not None
    task = asked.task or (labels.task_of(found) if labelled else "numbers")
    if labelled:
        made.facts["target_task"] = task
        survey_targets(made, found, sample, task, asked)
        made.add(labels.measure_labels(found, sample, task, asked.codes, other))
    else:
        made.reasons |= dict.fromkeys(OF_TARGETS, "no target was named (--target)")
    if other is None:
        made.reasons |= dict.fromkeys(OF_HELD_OUT, "no validation data were given (--validation)")
    else:
        made.add(rows.overlap(found, other))
        made.add(shift.measure_shift(found, sample, other, other.reservoir.sample(), task))


def survey_targets(made: Measured, found: Gathered, sample: Sample, task: labels.Task, asked: Asked) -> None:
    """Facts about targets and inputs together."""
    wrong_kind = "the target is a quantity, not a class" if task == "numbers" else "the target is a class"
    made.reasons |= dict.fromkeys(OF_CLASSES if task == "numbers" else OF_QUANTITIES, wrong_kind)
    made.add(rows.order(found, sample, task))
    made.add(leakage.measure_leakage(found, sample, task))
    predicted = None
    if asked.fitted:
        noisy, predicted = noise.measure_label_noise(found, sample, task)
        made.add(noisy)
    made.add(slices.measure_slices(found, sample, task, asked.codes, predicted))


OF_CLASSES = ("class_counts_max_min_ratio", "label_min", "classes", "label_noise_share")
OF_QUANTITIES = ("targets_std_max", "targets_outliers")
OF_HELD_OUT = ("train_val_overlap_share", "val_inputs_shift")
OF_TARGETS = (
    *OF_CLASSES, *OF_QUANTITIES, "feature_skill_best", "rows_class_purity", "slice_label_gap",
    "samples_conflicting",
    "targets",
)  # fmt: skip

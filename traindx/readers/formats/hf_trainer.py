"""Hugging Face Trainer: trainer_state.json and folders of checkpoints, each with a prefix of it."""

import re
from collections.abc import Sequence
from math import isfinite

from traindx.readers.api import Event, Mapping, NotALog, Path, RawLog, ReadError, Source, source_of
from traindx.readers.files.text_blocks import as_plain_text
from traindx.readers.json.document import Record, document, flat_records
from traindx.readers.json.lines import columns_of
from traindx.readers.setup_facts import facts_from_files
from traindx.readers.tables.columns import number

NAME = "hf-trainer"
BEGINS = (b"{",)
HOLDS = (b'"log_history"',)
STATE = "trainer_state.json"
CHECKPOINT = re.compile(r"checkpoint-(\d+)")
SUMMARY = frozenset(
    {"train_loss", "train_runtime", "total_flos", "train_samples_per_second", "train_steps_per_second"}
)
FACTS = {
    "max_steps": "planned_steps",
    "num_train_epochs": "planned_epochs",
    "train_batch_size": "device_batch_size",
}
KEPT = (
    "logging_steps",
    "eval_steps",
    "save_steps",
    "best_metric",
    "best_global_step",
    "num_input_tokens_seen",
)


def sniff(source: Source) -> float:
    """A JSON object with a log_history, and the names of the Trainer's state near its start or
    in the records."""
    start = as_plain_text(source.head).lstrip()
    if start[:1] != b"{" or b'"log_history"' not in start:
        return 0.0
    signs = (
        b'"global_step"',
        b'"is_local_process_zero"',
        b'"best_metric"',
        b'"learning_rate"',
        b'"max_steps"',
    )
    return 1.0 if sum(sign in start for sign in signs) >= 2 else 0.7


def read(source: Source) -> list[RawLog]:
    """One log of the history: train rows and eval rows as they are, the summary as facts."""
    state, rows, events = load(source)
    return [log_of(source.name, source.path, state, rows, events)]


def load(source: Source) -> tuple[Record, list[Record], list[Event]]:
    """The state, its history and what was damaged. A damaged history gives the records on both
    sides of the damage. Errors: NotALog when there is no history in it."""
    events: list[Event] = []
    state = document(source, events)
    history = state.get("log_history") if isinstance(state, dict) else None
    if any(event.kind == "parse-warning" for event in events):
        text = as_plain_text(source.read_bytes()).decode("utf-8", "replace")
        found = [r for r in flat_records(text[text.find('"log_history"') :]) if "step" in r or "epoch" in r]
        history = found if len(found) >= len(history or ()) else history
    if not isinstance(history, list):
        raise NotALog(source.name, "no log_history in it")
    return (
        state if isinstance(state, dict) else {},
        [row for row in history if isinstance(row, dict)],
        events,
    )


def log_of(
    name: str, path: Path | None, state: Record, rows: Sequence[Record], events: list[Event]
) -> RawLog:
    """The log of a history. Its last row, which sums the training up, is no point of a series."""
    points = [{k: v for k, v in row.items() if k not in SUMMARY} if is_summary(row) else row for row in rows]
    columns = columns_of([row for row in points if set(row) - {"step", "epoch"}], events)
    if not columns:
        raise NotALog(
            name, "its log_history is empty", hint="the run may have ended before the first logging step"
        )
    log = RawLog(name, NAME, framework="transformers", columns=columns, events=events)
    log.axis, log.axis_kind = ("step", "step") if "step" in columns else ("epoch", "epoch")
    log.facts = facts_of(state, rows) | facts_from_files(path, "config.json")
    done, planned = number(state.get("global_step")), log.facts.get("planned_steps")
    reached = done is not None and isinstance(planned, float) and done >= planned
    log.complete = True if reached or any(is_summary(row) for row in rows) else None
    return log


def is_summary(row: Mapping[str, object]) -> bool:
    return "train_runtime" in row and "loss" not in row


def facts_of(state: Record, rows: Sequence[Record]) -> dict[str, object]:
    """What the state and the summary row say about the setup."""
    facts: dict[str, object] = {}
    for key, fact in FACTS.items():
        value = number(state.get(key))
        if value is not None and value > 0:
            facts[fact] = value
    facts.update({key: value for key in KEPT if (value := number(state.get(key))) is not None})
    for row in rows:
        if is_summary(row):
            facts.update(
                {key: value for key in sorted(SUMMARY & set(row)) if (value := number(row[key])) is not None}
            )
    return {key: value for key, value in facts.items() if not isinstance(value, float) or isfinite(value)}


def sniff_folder(path: Path) -> float:
    """A folder with a trainer_state.json, or with checkpoint folders that have one."""
    return 0.95 if states(path) else 0.0


def states(path: Path) -> list[Path]:
    """The state files of a training folder, in order of their checkpoints; the final one last."""
    try:
        numbered = [
            (int(m[1]), child / STATE) for child in path.iterdir() if (m := CHECKPOINT.fullmatch(child.name))
        ]
    except OSError:
        return []
    return [file for _, file in [*sorted(numbered), (0, path / STATE)] if file.is_file()]


def read_folder(path: Path) -> list[RawLog]:
    """One log for each history. Checkpoints hold prefixes of one history and are merged; a
    checkpoint with another history (left over from another run) is a separate log.

    Errors: ReadError when none of the files can be read.
    """
    stories: list[tuple[Path, Record, list[Record], list[Event]]] = []
    failure: ReadError | None = None
    for file in reversed(states(path)):
        try:
            state, rows, events = load(source_of(file))
        except ReadError as error:
            failure = error
            continue
        if not any(merge(history, rows) for _, _, history, _ in stories):
            stories.append((file, state, rows, events))
    if failure is not None and not stories:
        raise failure
    logs = [log_of(str(path), file, state, rows, events) for file, state, rows, events in stories if rows]
    if failure is not None and logs:
        logs[0].events.append(Event("parse-warning", failure.why, place=failure.path))
    return logs


def merge(history: list[Record], rows: list[Record]) -> bool:
    """Add to `history` the rows it lacks, if both are of the same run: no row of the same step and
    keys differs. Returns whether they did."""
    known = {key(row): row for row in history}
    if any(repr(known.get(key(row), row)) != repr(row) for row in rows):  # repr: NaN equals NaN
        return False
    history += [row for row in rows if key(row) not in known]
    history.sort(key=lambda row: number(row.get("step")) or 0.0)
    return True


def key(row: Record) -> tuple[str, ...]:
    return (str(row.get("step")), *sorted(row))

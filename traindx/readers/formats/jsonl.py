"""JSON Lines: one record for each logging call, written by countless training scripts."""

from traindx.readers.api import NotALog, RawLog, Source
from traindx.readers.assembly.step_axis import find_axis
from traindx.readers.json.document import Record, peek_records
from traindx.readers.json.lines import flatten_record, read_lines
from traindx.readers.setup_facts import FIELD_OF, facts_from
from traindx.readers.tables.columns import SPLITS, in_split

NAME = "jsonl"
FILES = ("*.jsonl", "*.ndjson")
MOST = 0.6
BEGINS = (b"{",)
META = frozenset({"meta", "config", "args", "hparams", "params", "hyperparameters", "summary", "env", "env_info",
                  "settings", "setup", "cfg", "arguments", "options"})  # fmt: skip
SPLIT_KEYS = ("split", "mode", "phase", "stage", "subset")
SOME = 6  # records that show a pattern
CONSTANTS = frozenset({"n_parameters", "num_parameters", "n_params", "num_params"})


def sniff(source: Source) -> float:
    """Lines that are records with numbers."""
    if source.head.lstrip().startswith(b'{"') and b"\n" not in source.head:
        return 0.36  # a first record longer than the head: more than any text, less than a document
    records = peek_records(source.head)
    numbers = sum(any(type(v) in (int, float, str) for _, v in flatten_record(r)) for r in records)
    if not numbers:
        return 0.0
    return 0.6 if len(records) > 1 else 0.3


def read(source: Source) -> list[RawLog]:
    """One log; lines that hold settings or a summary become facts, not points."""
    facts: dict[str, object] = {}
    first_is_meta = opens_with_settings(peek_records(source.head))

    def take(record: Record, row: int) -> Record | None:
        only = next(iter(record)).strip("_").lower() if len(record) == 1 else ""
        if only in META or (row == 0 and first_is_meta):
            inner = next(iter(record.values()), None)
            found = facts_from(inner if only in META and isinstance(inner, dict) else record)
            facts.update({k: v for k, v in found.items() if k not in facts})
            return None
        return by_split(record)

    lines = read_lines(source, take)
    if find_axis(lines.columns) is None and (kinds := of_experiments(peek_records(source.head))):
        raise NotALog(
            source.name,
            f"its records have no step and differ in {kinds}: this is a table of experiments, not the log of one",
            hint="give the log that one of them wrote while it ran",
            final=True,
        )
    for name in CONSTANTS & lines.columns.keys():
        facts.setdefault(FIELD_OF[name], float(lines.columns.pop(name).values[-1]))
    return [RawLog(source.name, NAME, columns=lines.columns, facts=facts, events=lines.events)]


def of_experiments(records: tuple[Record, ...]) -> str:
    """The key of a word (a data set, a method) that some records share and others do not, "" for none."""
    for key in {k for r in records for k, v in r.items() if isinstance(v, str)} - {
        *SPLIT_KEYS,
        "type",
        "event",
    }:
        words = [r[key] for r in records if isinstance(r.get(key), str)]
        if (
            len(words) > 0.8 * len(records)
            and 1 < len({*map(str, words)}) <= len(words) / 2
            and len(words) >= SOME
        ):
            return key
    return ""


def opens_with_settings(records: tuple[Record, ...]) -> bool:
    """Whether the first record has no key in common with any later one."""
    later = {name for record in records[1:] for name in record}
    return len(records) > 2 and not later & set(records[0])


def by_split(record: Record) -> Record:
    """A record that names its split gets the split put before its names, as train and validation
    records share theirs."""
    for key in SPLIT_KEYS:
        split = record.get(key)
        if isinstance(split, str) and split.lower() in SPLITS:
            return {in_split(name, split): value for name, value in record.items() if name != key}
    return record

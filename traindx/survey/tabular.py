"""Columns of text and numbers (from CSV, Parquet, data frames) as chunks: what each column holds is
settled on the first block, and kept to."""

import difflib
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from traindx.survey.api import (
    MOST_FIELDS,
    Chunk,
    Codes,
    ConfigError,
    Field,
    Floats,
    Kind,
    Objects,
    Table,
    Wanted,
    escape_name,
    list_names,
    np,
    rows_a_chunk,
)

PARSES = 0.9  # of the words of a column that must be numbers for it to be a column of numbers
NUMBER = (
    r"^\s*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|inf|Inf|INF|Infinity|infinity|nan|NaN|NAN)\s*$"
)
OFTEN_NEW = 0.5  # share of different words above which a column names its rows
TEXT_WORDS = 3.0  # words a cell from which a column of words is text
TEXT_LIMIT = 2000  # characters of a text that are read
FEW_ROWS = 20


def table(
    name: str, form: str, names: list[str], blocks: Callable[[], Iterator[Any]], wanted: Wanted, **known: Any
) -> Table:
    """A Table over pyarrow record batches, whose columns are called `names`. Raises ConfigError where the
    target or the sensitive column is not among them."""
    target = choose_column(names, wanted.target, "--target")
    sensitive = choose_column(names, wanted.sensitive, "--sensitive")
    first = next(blocks(), None)
    kinds = {n: kind_of(first.column(i)) if first is not None else "number" for i, n in enumerate(names)}
    fields = wanted.fields or features(names, kinds, target)
    missing = [f.name for f in fields if f.name not in names]
    if missing:
        raise ConfigError(
            f"{escape_name(name, 200)}: has no column {list_names(missing)}, which the training data have"
        )
    left_out = tuple(f.name for f in fields if f.kind == "identifier")
    kept = tuple(f for f in fields if f.kind != "identifier")
    places = {n: i for i, n in enumerate(names)}
    goal: Kind = (
        "number" if target is None or first is None or numeric(first.column(places[target])) else "category"
    )
    shape = Shape(kept, places, target, goal, sensitive, wanted.codes)
    return Table(
        name=name,
        format=form,
        fields=kept,
        chunks=lambda: chunks(blocks(), shape),
        target=target,
        target_kind=shape.target_kind,
        sensitive=sensitive,
        left_out=left_out,
        **known,
    )


def choose_column(names: list[str], given: str | None, option: str) -> str | None:
    """The column that is asked for by name, or by number (from 0, or from the end)."""
    if given is None or given in names:
        return given
    if given.lstrip("-").isdecimal() and -len(names) <= int(given) < len(names):
        return names[int(given)]
    near = difflib.get_close_matches(given, names, n=1)
    hint = f"did you mean {escape_name(near[0])!r}?" if near else f"there are {list_names(names, 12)}"
    raise ConfigError(f"{option}: there is no column {escape_name(given)!r}; {hint}")


def features(names: list[str], kinds: dict[str, Kind], target: str | None) -> tuple[Field, ...]:
    """Every column but the target, evenly thinned where there are too many."""
    every = [Field(n, kinds[n]) for n in names if n != target]
    return tuple(every[:: -(-len(every) // MOST_FIELDS) or 1])


def kind_of(column: Any) -> Kind:
    """What a column holds, by its first block."""
    if numeric(column):
        return "identifier" if counts_rows(numbers(column)[0]) else "number"
    words = column.cast(pa.string()).drop_null()
    if len(words) >= FEW_ROWS and pc.mean(pc.count_substring(words, " ")).as_py() + 1 >= TEXT_WORDS:
        return "text"
    new = len(pc.unique(words)) / len(words)
    return "identifier" if len(words) >= FEW_ROWS and new > OFTEN_NEW else "category"


def numeric(column: Any) -> bool:
    """Whether a column holds numbers, or words that are numbers, but for a few."""
    if not textual(column.type):
        return not pa.types.is_boolean(column.type)
    words = column.cast(pa.string()).drop_null()
    return not len(words) or bool(pc.mean(pc.match_substring_regex(words, NUMBER)).as_py() >= PARSES)


def textual(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def counts_rows(values: Floats) -> bool:
    """Whether a column is the number of the row: whole, and one more in each."""
    return len(values) >= FEW_ROWS and bool((np.diff(values) == 1.0).all())


class Shape(msgspec.Struct, frozen=True):
    """How the blocks of a table become chunks."""

    fields: tuple[Field, ...]
    places: dict[str, int]
    target: str | None
    target_kind: Kind
    sensitive: str | None
    codes: Codes


def chunks(blocks: Iterator[Any], shape: Shape) -> Iterator[Chunk]:
    """Record batches as chunks of bounded size."""
    start, size = 0, rows_a_chunk(len(shape.fields))
    for block in blocks:
        for at in range(0, block.num_rows, size):
            made = chunk(block.slice(at, size), start, shape)
            start += len(made.features)
            yield made


def chunk(block: Any, start: int, shape: Shape) -> Chunk:
    matrix = np.full((block.num_rows, len(shape.fields)), np.nan)
    empty = np.zeros(matrix.shape, dtype=bool)
    texts, odd = [], 0
    for i, field in enumerate(shape.fields):
        column = block.column(shape.places[field.name])
        matrix[:, i], wrong = as_numbers(column, field.name, field.kind, shape.codes)
        empty[:, i] = column.is_null().to_numpy(zero_copy_only=False)
        empty[:, i] |= np.isnan(matrix[:, i]) & bool(wrong)
        odd += wrong
        if field.kind == "text":
            texts.append(as_texts(column))
    target = sensitive = None
    if shape.target is not None:
        column = block.column(shape.places[shape.target])
        target, _ = as_numbers(column, shape.target, shape.target_kind, shape.codes)
    if shape.sensitive is not None:
        sensitive = as_groups(block.column(shape.places[shape.sensitive]), shape.sensitive, shape.codes)
    return Chunk(start, matrix, target, sensitive, tuple(texts), empty, inconvertible=odd)


def as_numbers(column: Any, name: str, kind: Kind, codes: Codes) -> tuple[Floats, int]:
    """`values[n]` of a column, and how many of its cells hold no number though the others do."""
    if kind == "number":
        return numbers(column)
    encoded = column.cast(pa.string()).dictionary_encode()
    table = np.append(codes.encode(name, encoded.dictionary.to_pylist()), np.nan)
    places = encoded.indices.to_numpy(zero_copy_only=False)
    return table[np.where(np.isnan(places), len(table) - 1, places).astype(np.intp)], 0


def numbers(column: Any) -> tuple[Floats, int]:
    wrong = 0
    if textual(column.type):
        column = pc.utf8_trim_whitespace(column.cast(pa.string()))
        proper = pc.fill_null(pc.match_substring_regex(column, NUMBER), True)
        wrong = len(column) - int(pc.sum(proper).as_py() or 0)
        column = pc.if_else(proper, column, None) if wrong else column
        column = pc.replace_substring_regex(column, r"^\+", "")
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    elif pa.types.is_temporal(column.type):
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64), wrong


def as_texts(column: Any) -> Objects:
    short = pc.utf8_slice_codeunits(pc.fill_null(column.cast(pa.string()), ""), 0, TEXT_LIMIT)
    return np.asarray(short.to_numpy(zero_copy_only=False), dtype=object)


def as_groups(column: Any, name: str, codes: Codes) -> Floats:
    """Codes of a sensitive column's values as words, whatever their type."""
    return as_numbers(column.cast(pa.string()), "sensitive:" + name, "category", codes)[0]

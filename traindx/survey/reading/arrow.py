"""CSV and Parquet through pyarrow, block by block."""

import csv
import gzip
import re
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from traindx.readers.tables.layout import is_number, unique
from traindx.survey.api import Any, Iterator, ReadError, Table, Wanted, rows_a_chunk
from traindx.survey.tabular import table

HEAD = 1 << 18  # bytes that are looked at to find out the layout
BLOCK = 1 << 22  # bytes of a block of CSV
DELIMITERS = ",;\t|"
NULLS = [
    "",
    "NA",
    "N/A",
    "#N/A",
    "NULL",
    "null",
    "None",
    "none",
    "NaN",
    "nan",
    "NAN",
    "?",
    "-",
    "<NA>",
    "n/a",
]


def open_parquet(path: Path, wanted: Wanted) -> Table:
    """A Parquet file; columns of lists and structs are left out. Raises ReadError."""
    try:
        with pq.ParquetFile(path) as file:
            rows, schema = file.metadata.num_rows, file.schema_arrow
    except (pa.ArrowException, OSError) as error:
        raise ReadError(str(path), f"is no whole Parquet file: {first_line(error)}") from error
    flat = [f.name for f in schema if not pa.types.is_nested(f.type) and not pa.types.is_binary(f.type)]
    nested = [f.name for f in schema if f.name not in flat]

    def blocks() -> Iterator[Any]:
        try:
            with pq.ParquetFile(path) as file:
                yield from file.iter_batches(batch_size=rows_a_chunk(len(flat)), columns=flat)
        except (pa.ArrowException, OSError) as error:
            raise ReadError(str(path), f"is damaged: {first_line(error)}") from error

    made = table(str(path), "parquet", flat, blocks, wanted, origin="file", rows=rows)
    if nested:
        made.notes.append(f"columns of lists, structs or bytes were left out: {len(nested)}")
    return made


def open_csv(path: Path, wanted: Wanted) -> Table:
    """A CSV file with any of the usual delimiters, also .gz. Raises ReadError."""
    head = head_of(path)
    if b"\x00" in head:
        raise ReadError(str(path), "holds bytes that no text has", hint="save it as UTF-8")
    encoding = "utf8" if decodes(head) else "latin-1"
    layout = Layout(head.decode("utf-8" if encoding == "utf8" else encoding, "replace"), str(path))
    ragged: list[int] = []

    def blocks() -> Iterator[Any]:
        ragged.clear()
        try:
            yield from layout.batches(path, encoding, ragged)
        except (pa.ArrowException, OSError, EOFError) as error:
            raise ReadError(str(path), f"cannot be read as a table: {first_line(error)}") from error

    made = table(str(path), "csv", layout.names, blocks, wanted, origin="file")
    made.facts["rows_malformed"] = ragged
    return made


class Layout:
    """Delimiter, decimal mark and column names of a CSV file, from its beginning."""

    def __init__(self, head: str, path: str) -> None:
        lines = [line for line in head.splitlines()[:50] if line.strip()]
        if not lines:
            raise ReadError(path, "is empty")
        self.delimiter = max(DELIMITERS, key=lambda d: consistent(lines, d))
        rows = list(csv.reader(lines[:20], delimiter=self.delimiter))
        comma = self.delimiter == ";" and any(re.fullmatch(r"-?\d+,\d+", c) for row in rows for c in row)
        self.decimal = "," if comma else "."
        self.header = not all(is_number(c.strip(), comma) for c in rows[0])
        given = (c.strip().lstrip("\ufeff") if self.header else "" for c in rows[0])
        self.names = list(unique([name or f"column {i}" for i, name in enumerate(given)]))

    def batches(self, path: Path, encoding: str, ragged: list[int]) -> Iterator[Any]:
        def skip(row: Any) -> str:
            ragged.append(row.number or -1)
            return "skip"

        convert = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(self.names, pa.string()), strings_can_be_null=True, null_values=NULLS
        )
        read = pa_csv.ReadOptions(
            block_size=BLOCK,
            column_names=self.names,
            skip_rows=int(self.header),
            encoding=encoding,
            use_threads=False,
        )
        parse = pa_csv.ParseOptions(
            delimiter=self.delimiter, invalid_row_handler=skip, newlines_in_values=True
        )
        compression = "gzip" if is_gzipped(path) else None
        with (
            pa.input_stream(str(path), compression=compression) as stream,
            pa_csv.open_csv(stream, read, parse, convert) as r,
        ):
            for block in r:
                yield with_points(block) if self.decimal == "," else block


def with_points(block: Any) -> Any:
    """A block whose numbers have decimal commas, with points."""
    pattern = r"^(\s*[-+]?\d+),(\d+)"
    return pa.RecordBatch.from_arrays(
        [pc.replace_substring_regex(c, pattern, r"\1.\2") for c in block.columns], names=block.schema.names
    )


def head_of(path: Path) -> bytes:
    try:
        with gzip.open(path, "rb") if is_gzipped(path) else path.open("rb") as stream:
            return stream.read(HEAD)
    except (OSError, EOFError, zlib.error) as error:
        raise ReadError(str(path), f"cannot be read: {first_line(error)}") from error


def is_gzipped(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def decodes(head: bytes) -> bool:
    """Whether bytes are UTF-8, but for a character that is cut at their end."""
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3 and len(head) == HEAD
    return True


def consistent(lines: list[str], delimiter: str) -> float:
    """How well a delimiter splits every line into the same number of cells, more than one."""
    counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
    same = counts.count(counts[0]) / len(counts)
    return same * (counts[0] > 1) + 1e-3 * counts[0] * (counts[0] > 1)


def first_line(error: Exception) -> str:
    """The first line of an error without the cells that pyarrow quotes in it."""
    return re.sub(r":? ?'[^']*'", "", str(error).splitlines()[0] if str(error) else type(error).__name__)[
        :160
    ]

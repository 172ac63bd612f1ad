"""What most measures and readers of a survey need, for one import: `from traindx.survey.api import Measured,
Table`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traindx.errors import ConfigError, ReadError
from traindx.survey.gather import Gathered, Progress, Sample
from traindx.survey.labels import Task, similar_labels, spellings
from traindx.survey.table import (
    MOST_FIELDS,
    Chunk,
    Codes,
    Field,
    Kind,
    Measured,
    Objects,
    Table,
    Wanted,
    escape_name,
    indices,
    list_names,
    rows_a_chunk,
)
from traindx.vocabulary import Fact, Floats

__all__ = [
    "MOST_FIELDS",
    "Any",
    "Chunk",
    "Codes",
    "ConfigError",
    "Fact",
    "Field",
    "Floats",
    "Gathered",
    "Iterator",
    "Kind",
    "Mapping",
    "Measured",
    "NDArray",
    "Objects",
    "Progress",
    "ReadError",
    "Sample",
    "Sequence",
    "Table",
    "Task",
    "Wanted",
    "escape_name",
    "indices",
    "list_names",
    "np",
    "rows_a_chunk",
    "similar_labels",
    "spellings",
]

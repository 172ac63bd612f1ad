"""`wandb-summary.json`: the last value of every name of a W&B run, and nothing else.

One point per name cannot show a curve; the log says so in an event, so that rules answer
"not evaluated" for a stated reason.
"""

import json

from traindx.readers.api import Event, Iterator, NotALog, RawLog, ReadError, Source, column, np
from traindx.readers.tables.columns import number

NAME = "wandb-summary"
MOST = 0.95
BEGINS = (b"{",)
HOLDS = (b"_step|_runtime|_timestamp|_wandb",)
OWN_KEYS = (b'"_step"', b'"_runtime"', b'"_timestamp"', b'"_wandb"')
CLOCKS = frozenset({"_step", "_runtime", "_timestamp", "_wandb"})
WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}
MOST_NAMES = 20_000


def sniff(source: Source) -> float:
    """One JSON object, not lines of them, with at least two of the keys that W&B adds itself."""
    head = source.head.lstrip()
    if not head.startswith(b"{") or b"log_history" in head or b"\n{" in head.rstrip():
        return 0.0
    return 0.95 if sum(key in head for key in OWN_KEYS) >= 2 else 0.0


def read(source: Source) -> list[RawLog]:
    """One value per name, at the step of the last row."""
    found = _parse(source)
    step = number(found.get("_step")) or 0.0
    clock = number(found.get("_timestamp"))
    times = None if clock is None else [clock]
    numbers = list(_numbers(found))[:MOST_NAMES]
    if not numbers:
        raise NotALog(
            source.name,
            "is a W&B summary without a number",
            hint="give the run's `.wandb` file or `output.log`",
        )
    message = (
        "only the final value of each name is here; curves are in the run's `.wandb` file or `output.log`"
    )
    return [
        RawLog(
            source.name,
            NAME,
            columns={name: column([value], [0], [step], times) for name, value in numbers},
            axis_kind="step",
            events=[Event("note", message, step, code="summary-only")],
        )
    ]


def _parse(source: Source) -> dict[str, object]:
    try:
        found = json.loads(source.read_bytes().decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}"
        raise ReadError(
            source.name, f"is not whole JSON: {error.msg}", where=where, hint="the file may be cut off"
        ) from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, endless nesting
        raise ReadError(source.name, "holds JSON that cannot be read") from error
    except (OSError, EOFError) as error:
        raise ReadError(source.name, f"cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise NotALog(source.name, "is JSON, but no W&B summary")
    return found


def _numbers(found: dict[str, object], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    """Names and numbers; nested mappings joined by dots, media (with a `_type`) left out. A name
    with a declared summary holds `min`, `max`, `last` ...: these are names of their own."""
    for key, value in found.items():
        name = prefix + key
        if key in CLOCKS:
            continue
        if isinstance(value, str) and value in WORDS:
            yield name, WORDS[value]
        elif isinstance(value, dict) and "_type" not in value and depth < 4:
            yield from _numbers(value, name + ".", depth + 1)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name, number(value) or 0.0

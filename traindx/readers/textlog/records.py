"""Records that special forms deliver: a few fields with values, on one line of the log."""

from array import array

from traindx.readers.textlog.grammar import Field

MOST_KINDS = 2000  # different sets of fields kept


class Records:
    """Rows grouped by their fields: `kinds[fields] = (lines[n], values[n * k])`. `late` are sets
    of fields whose step is that of the next step line, not of the last one."""

    def __init__(self) -> None:
        self.kinds: dict[tuple[Field, ...], tuple[array[int], array[float]]] = {}
        self.late: set[tuple[Field, ...]] = set()

    def put(self, fields: tuple[Field, ...], values: list[float], row: int, *, late: bool = False) -> None:
        kept = self.kinds.get(fields)
        if kept is None:
            if len(self.kinds) >= MOST_KINDS:
                return
            kept = self.kinds[fields] = (array("q"), array("d"))
            if late:
                self.late.add(fields)
        kept[0].append(row)
        kept[1].extend(values)

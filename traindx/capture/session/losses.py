"""The losses of the micro-batches since the last step, by the line that they come from."""

from typing import Any

KEPT = 64  # values of a line that are kept while it is not known what a step is


class Losses:
    """The first line's loss is `train/loss`, those of others are named by their line."""

    def __init__(self) -> None:
        self._values: dict[str, list[Any]] = {}
        self._names: dict[str, str] = {}

    def add(self, value: Any, where: str, again: bool = False) -> None:
        """`again`: the optimizer tries other weights within a step; the first loss is that of the step."""
        values = self._values.setdefault(where, [])
        if not (again and values):
            values.append(value)

    def forget(self) -> None:
        self._values = {}

    def latest(self) -> dict[str, Any]:
        """The last value of each line; older ones are freed."""
        self._values = {where: values[-KEPT:] for where, values in self._values.items()}
        return {self._name(where): values[-1] for where, values in self._values.items()}

    def means(self) -> dict[str, Any]:
        """Each loss over the micro-batches since the last call, by its signal."""
        given, self._values = self._values, {}
        return {self._name(where): sum(values) / len(values) for where, values in given.items()}

    def _name(self, where: str) -> str:
        name = self._names.get(where)
        if name is None:
            plain = "".join(c if c.isalnum() or c in ".:-" else "-" for c in where)
            name = self._names[where] = f"train/{plain}_loss" if self._names else "train/loss"
        return name

"""The batches that Keras draws from its data, read on their way to the compiled step."""

from collections import deque
from collections.abc import Callable
from typing import Any

import keras
from keras.src.trainers.epoch_iterator import EpochIterator

from traindx.capture.process.patches import Patches

WAITING = 64  # batches that are kept until they are taken
MADE = 4  # iterators that are distinguished
Batch = tuple[Any, Any, Any]  # the data that it is of, inputs, targets


class Batches:
    """Every `EpochIterator` that is made from now on reports what it draws. Each has its own adapter of
    data; nothing is drawn that would not have been, and nothing otherwise. TensorFlow draws in threads of
    its own: what is drawn waits to be taken."""

    def __init__(self) -> None:
        self._patches = Patches()
        self._waiting: deque[Batch] = deque(maxlen=WAITING)
        self.made: deque[Any] = deque(maxlen=MADE)  # the iterators that were made last
        self.wanted = True
        self._patches.around(EpochIterator, "__init__", self._wrapped)

    def remove(self) -> None:
        self._patches.undo()
        self.wanted = False
        self.forget()

    def forget(self) -> None:
        """Forget what was drawn, and what drew it."""
        self._waiting.clear()
        self.made.clear()

    def take(self) -> list[Batch]:
        """What was drawn since the last call."""
        taken: list[Batch] = []
        while self._waiting:
            taken.append(self._waiting.popleft())
        return taken

    def _wrapped(self, original: Callable[..., None], iterator: Any, *args: Any, **named: Any) -> None:
        original(iterator, *args, **named)
        self.made.append(iterator)
        if keras.backend.backend() == "tensorflow":
            adapter, made = iterator.data_adapter, iterator.data_adapter.get_tf_dataset
            adapter.get_tf_dataset = lambda: self._of_dataset(iterator, made())
        else:
            inner = iterator._get_iterator
            iterator._get_iterator = lambda: (self._heard(iterator, data) for data in inner())

    def _heard(self, iterator: Any, data: Any) -> Any:
        if self.wanted and isinstance(data, tuple | list) and data:
            self._waiting.append((iterator, data[0], data[1] if len(data) > 1 else None))
        return data

    def _of_dataset(self, iterator: Any, dataset: Any) -> Any:
        """The same data set, whose elements are reported to Python as they are drawn."""
        from keras.src.utils.module_utils import tensorflow

        if not hasattr(dataset, "map"):
            return dataset

        def report(*data: Any) -> Any:
            element = (
                data if isinstance(dataset.element_spec, tuple) else data[0]
            )  # of a tuple `map` hands out the parts
            flat = [
                part
                for part in keras.tree.flatten(data)
                if hasattr(part, "dtype") and hasattr(part, "shape")
            ]
            if len(flat) != len(keras.tree.flatten(data)):
                return element  # parts that may be missing, or are not dense

            def keep(*values: Any) -> None:
                self._heard(iterator, keras.tree.pack_sequence_as(data, list(values)))

            tensorflow.numpy_function(keep, flat, [])
            return element

        return dataset.map(report)

"""When to try again what a disk refused: soon, then less and less often, said once."""

from __future__ import annotations

import time
from pathlib import Path

from traindx.capture.process.guard import say

FIRST, LONGEST = 1.0, 60.0  # seconds until the second try, and at most between two


class Patience:
    """One for all that a process writes into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._wait, self._next = FIRST, 0.0
        self._said = False

    def may_try(self) -> bool:
        return time.monotonic() >= self._next

    def refused(self, error: OSError | MemoryError) -> None:
        """Something could not be written."""
        self._next = time.monotonic() + self._wait
        self._wait = min(2 * self._wait, LONGEST)
        if not self._said:
            self._said = True
            why = getattr(error, "strerror", None) or str(error) or "out of memory"
            say(
                f"{self.folder} cannot be written ({why}); the training goes on, and so do the attempts to write"
            )

    def taken(self) -> None:
        """Something was written."""
        self._wait, self._next = FIRST, 0.0

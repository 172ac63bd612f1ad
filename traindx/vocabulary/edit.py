"""An edit of the user's source: the changed files, or what to write where."""

import msgspec


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """`before` and `after` hold the texts of the files that change, by their path in the project (with
    slashes); `words` says of each change where it is and what it does. No files: all is as asked already."""

    before: dict[str, str]
    after: dict[str, str]
    words: tuple[str, ...] = ()


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """No edit was certain: `write` is what a person should write at `file`:`line` (0 where the line is not
    known, "" where not even the file is), `why` the reason for leaving it to them."""

    file: str
    line: int
    write: str
    why: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.file and self.line else self.file

    @property
    def lines(self) -> tuple[str, str]:
        """What to write instead of a patch, and why there is none."""
        where = f" in {self.place}" if self.place else ""
        return f"Write{where}: {self.write}", f"Reason: {self.why}"

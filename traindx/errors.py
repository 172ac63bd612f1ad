"""What can go wrong, as one tree.

TraindxError                     everything traindx raises on purpose
├── ReadError                    a log could not be read at all (exit status 2)
│   └── NotALog                  the bytes are readable, but hold no training log
├── ConfigError                  an option, threshold or mapping that makes no sense
├── UnknownPage                  `explain` was asked for something that is not there
├── ExperimentFailed             a script could not be run as an experiment, or showed nothing to judge
└── MissingExtra                 an optional dependency is needed and not installed
"""


class TraindxError(Exception):
    """Base of every error that traindx raises on purpose."""


class ReadError(TraindxError):
    """A log could not be read.

    `path` is what was asked for, `where` the place in it (line, byte, record; may be empty),
    `why` the reason in one clause, `hint` what the user can do about it. `final`: the format was recognized, so
    no other reader needs to try.
    """

    def __init__(self, path: str, why: str, *, where: str = "", hint: str = "", final: bool = False) -> None:
        self.path, self.where, self.why, self.hint, self.final = path, where, why, hint, final
        place = f"{path}, {where}" if where else path
        super().__init__(f"{place}: {why}" + (f" ({hint})" if hint else ""))


class NotALog(ReadError):
    """The input was read, and nothing in it looks like the record of a training run."""


class ConfigError(TraindxError):
    """An option, threshold or mapping that cannot be used; the message says which and why."""


class UnknownPage(TraindxError):
    """No rule, cause, fix or pattern has this code or slug."""


class ExperimentFailed(TraindxError):
    """A script could not be run as an experiment, or left no record; the message says why."""


class MissingExtra(TraindxError):
    """An optional dependency is needed; the message names the extra to install."""

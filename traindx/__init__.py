"""traindx: says what is wrong with a neural-network training run, why, and what to do.

    run = traindx.read("runs/exp1")
    diagnosis = traindx.diagnose(run)
    print(diagnosis.to_text())

The names below are imported when they are first used, so that `import traindx` costs nothing.
"""

from typing import TYPE_CHECKING, Any

from traindx.version import VERSION

if TYPE_CHECKING:
    from traindx.config import Config
    from traindx.errors import ConfigError, MissingExtra, NotALog, ReadError, TraindxError
    from traindx.live.checks import watch
    from traindx.pipeline import Diagnosis, check, diagnose, read, read_all
    from traindx.survey.inspection import check_data
    from traindx.vocabulary import Run, Series

__version__ = VERSION

__all__ = [
    "Config",
    "ConfigError",
    "Diagnosis",
    "MissingExtra",
    "NotALog",
    "ReadError",
    "Run",
    "Series",
    "TraindxError",
    "check",
    "check_data",
    "diagnose",
    "read",
    "read_all",
    "watch",
]

HOMES = {
    "traindx.config": ("Config",),
    "traindx.errors": ("ConfigError", "MissingExtra", "NotALog", "ReadError", "TraindxError"),
    "traindx.survey.inspection": ("check_data",),
    "traindx.live.checks": ("watch",),
    "traindx.pipeline": (
        *("Diagnosis", "check", "diagnose", "read", "read_all"),
        *("load_ipython_extension", "unload_ipython_extension"),
    ),
    "traindx.vocabulary.run": ("Run", "Series"),
}

# Integrations with frameworks: modules that are imported when they are first named (`traindx.optax.monitor()`).
CALLBACKS = ("catboost", "hf", "keras", "lightgbm", "lightning", "optax", "xgboost")


def __getattr__(name: str) -> Any:
    import importlib

    if name in CALLBACKS:
        return importlib.import_module(f"traindx.{name}")
    for home, names in HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'traindx' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

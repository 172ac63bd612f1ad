"""What can be seen of each framework's trainings, by families of signals (`traindx/capture/signals`). The table of
docs/frameworks.md is made of it, and tests hold it against records."""

from __future__ import annotations

from collections.abc import Mapping

from traindx.capture.signals import catalogue

EVERYWHERE = ("loss", "clock")
COMPILED = (
    *EVERYWHERE,
    "schedule",
    "gradients",
    "zeros",
    "updates",
    "weights",
    "activations",
    "answers",
    "memory",
)

SHOWN: Mapping[str, tuple[str, ...]] = {
    "torch": tuple(family.kind for family in catalogue()),  # signals are made there first
    "keras": (*COMPILED, "quantized", "quantization gap"),
    "jax": COMPILED,
    "xgboost": EVERYWHERE,
    "lightgbm": EVERYWHERE,
    "catboost": EVERYWHERE,
    "sklearn": EVERYWHERE,
}
TITLES: Mapping[str, str] = {
    "torch": "PyTorch, Lightning, Hugging Face",
    "keras": "Keras 3 on TensorFlow, JAX, PyTorch",
    "jax": "JAX with optax: Flax, Equinox, plain trees",
    "xgboost": "XGBoost", "lightgbm": "LightGBM", "catboost": "CatBoost", "sklearn": "scikit-learn's networks",
}  # fmt: skip
HOW: Mapping[str, str] = {
    "torch": "`traindx run`, `traindx.watch`, `traindx check`, `fix`, `investigate`, `--with`, notebooks",
    "keras": "`traindx run`, `traindx.watch`, `traindx.keras.Watch`, `traindx check`, `fix`, `investigate`, `--with`",
    "jax": "`traindx run`; `traindx.watch` with `traindx.optax.monitor` (loss and gradient norms)",
    "xgboost": "`traindx run`, `traindx.xgboost.Watch`", "lightgbm": "`traindx run`, `traindx.lightgbm.Watch`",
    "catboost": "`traindx run`, `traindx.catboost.Watch`", "sklearn": "`traindx run`",
}  # fmt: skip


def families(signals: set[str]) -> dict[str, set[str]]:
    """Of the signals of a record (panels by their first part), those of each family."""
    return {
        family.kind: {
            name for name in signals if any(name == known.partition("/<")[0] for known in family.signals)
        }
        for family in catalogue()
    }

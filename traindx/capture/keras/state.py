"""The values of variables during an epoch. On JAX the variables do not hold them then, and syncing is
expensive."""

from collections.abc import Sequence
from typing import Any

KINDS = ("trainable_variables", "non_trainable_variables", "optimizer_variables", "metrics_variables")


def values_of(model: Any, variables: Sequence[Any]) -> list[Any]:
    """Tensors of the backend, one for each of a model's or its optimizer's variables."""
    if getattr(model, "_jax_state_synced", True) or not getattr(model, "_jax_state", None):
        return [variable.value for variable in variables]
    held = {id(variable): value for variable, value in mapped_variables(model)}
    return [held.get(id(variable), variable._value) for variable in variables]


def mapped_variables(model: Any) -> list[tuple[Any, Any]]:
    """Variables with their values, of those whose values are elsewhere."""
    if getattr(model, "_jax_state_synced", True) or not getattr(model, "_jax_state", None):
        return []
    pairs: list[tuple[Any, Any]] = []
    for kind in KINDS:
        variables = model.optimizer.variables if kind == "optimizer_variables" else getattr(model, kind)
        values = model._jax_state.get(kind)
        if values is not None and len(values) == len(variables):
            pairs += zip(variables, values, strict=True)
    return pairs

"""How a step changes weights, seen through windows: against sums by hand, and where weights are not finite."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.capture.arrays.windows import Windows
from traindx.capture.signals import updates
from traindx.capture.signals.family import Modules

KERNEL, BIAS = np.arange(1.0, 9.0, dtype=np.float32).reshape(2, 4), np.ones(4, np.float32)


def window_changes(after: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Panels of a step from KERNEL and BIAS, which are one module, to others."""
    held = [[KERNEL, BIAS], list(after)]
    seen = Windows(lambda turn: [values.reshape(-1) for values in held.pop(0)], lambda: np.zeros(2))
    seen.before()
    modules = Modules("layer", np.array([0, 0]), np.array([8.0, 4.0]))
    return {name: values for name, _, values in updates.panels(modules, seen.end(2))}


def test_a_module_is_measured_by_all_its_parameters() -> None:
    found = window_changes([KERNEL + 0.5, BIAS])
    size = np.sqrt((KERNEL**2).sum() + (BIAS**2).sum())
    np.testing.assert_allclose(found["update_ratio"], [np.sqrt(8 * 0.25) / size], rtol=1e-6)
    np.testing.assert_allclose(found["update_zero_fraction"], [0.5])  # of two parameters one did not change


def test_a_module_with_weights_that_are_not_finite_is_not_measured_by_its_bias() -> None:
    for broken in (np.nan, np.inf):
        found = window_changes([np.full_like(KERNEL, broken), BIAS * 0.999])
        assert np.isnan(found["update_ratio"]).all()
        assert np.isnan(found["update_zero_fraction"]).all()

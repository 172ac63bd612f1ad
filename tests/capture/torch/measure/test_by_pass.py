"""Every observer of forward passes belongs to a family of signals that turns its readings into panels."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from traindx.capture.signals import families_by_kind
from traindx.capture.torch.measure.by_pass import observers


def test_each_observer_has_a_family_with_panels() -> None:
    found = observers(lambda what, error: None)
    assert "attention" in found
    for kind, observer in found.items():
        family = families_by_kind().get(kind)
        missing = f"by_pass/{kind}.py needs traindx/capture/signals/{kind}.py with a FAMILY of this kind and its panels"
        assert family is not None, missing
        assert family.panels is not None, missing
        observer.arm([])
        observer.disarm()
        assert observer.take() == {}

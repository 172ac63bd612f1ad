"""Whatever a test of this folder records, nothing of it hangs in PyTorch afterwards: what is left there
would be part of every later training of the process."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def nothing_hangs() -> Iterator[None]:
    yield
    optimizers, hooks = (
        sys.modules.get("torch.optim.optimizer"),
        sys.modules.get("traindx.capture.torch.hooks"),
    )
    if optimizers is not None:
        assert not optimizers._global_optimizer_pre_hooks
        assert not optimizers._global_optimizer_post_hooks
    if hooks is not None:
        assert not hooks.CALLS

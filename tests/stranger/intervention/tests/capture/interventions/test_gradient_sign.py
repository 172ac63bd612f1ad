"""The signs of gradients."""

import pytest

torch = pytest.importorskip("torch")

from tests.capture.interventions.altering import run, same, weights  # noqa: E402


def train(sign: bool = False) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(4, 3)).sum().backward()
        for p in model.parameters() if sign else ():
            p.grad.sign_()
        optimizer.step()
    return weights(model)


def test_the_same_as_in_the_script() -> None:
    changed = run(train, "gradient_sign=on")
    assert same(changed.value, train(sign=True))
    assert changed.touches == {"gradient_sign=on": {"steps": 3}}

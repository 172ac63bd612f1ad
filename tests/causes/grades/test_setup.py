"""What kind of model it is, by the kinds of its modules."""

from __future__ import annotations

import pytest

from tests import make
from traindx.causes.grades.setup import model_kind
from traindx.features.shared import Features
from traindx.vocabulary.setup import Setup


@pytest.mark.parametrize(
    ("modules", "kind"),
    [
        ("embedding, lstm, linear", "recurrent"),
        ("recurrent", "recurrent"),  # of JAX, by its scan
        ("multiheadattention, linear", "attention"),
        ("conv2d, relu, linear", "convolution"),
        ("linear, relu, linear", "dense"),
        ("", None),
    ],
)
def test_the_kind_of_a_model(modules: str, kind: str | None) -> None:
    setup = Setup().with_facts({"modules": modules} if modules else {}, "capture")
    run = make.run({"train/loss": make.healthy_loss(40)}, setup=setup)
    assert model_kind(run, Features(run)) == kind

"""Columns that hold one number of every layer."""

import numpy as np
import pytest

from traindx.readers.names.modules import by_layer, named_layer
from traindx.readers.raw import column

ROWS = np.arange(5)


def columns(*names: str, values: object = (1.0, 0.5, 0.4, 0.3, 0.2)) -> dict:
    return {name: column(values, ROWS) for name in names}


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("grad_2.0_norm/layer1.0.weight", ("grad_norm", "layer1.0.weight")),  # Lightning's grad_norm
        ("grad_norm/layers.0", ("grad_norm", "layers.0")),
        ("layer1_grad_norm", ("grad_norm", "layer1")),
        ("gradients/layer0/norm", ("grad_norm", "layer0")),
        ("Gradients/conv1.weight", ("grad_norm", "conv1.weight")),
        ("model/layers.3.mlp grad norm", ("grad_norm", "layers.3.mlp")),
        ("param_norm/encoder.layers.0", ("weight_norm", "encoder.layers.0")),
        ("weights/fc1/norm", ("weight_norm", "fc1")),
        ("layer2/dead_neurons", ("act_zero_fraction", "layer2")),
        ("activations/conv2/std", ("act_std", "conv2")),
    ],
)
def test_a_name_of_a_layer_is_read(name, means):
    assert named_layer(name) == means


@pytest.mark.parametrize(
    "name",
    [
        "grad_norm",
        "global_grad_norm",
        "grad_norm_ema",
        "actor_grad_norm",
        "grad_norm_clipped",
        "grad_scale",
        "grad/mean",
        "grads/conv1/std",
        "grad_2.0_norm_total",
        "layernorm_1",
        "norm1",
    ],
)
def test_a_norm_of_the_whole_is_of_no_layer(name):
    assert not named_layer(name)[1]


def test_layers_are_taken_in_the_order_of_the_log():
    found = by_layer(columns("loss", "grad/fc2", "grad/conv10", "grad/conv9"))
    assert list(found.values()) == ["grad_norm/fc2", "grad_norm/conv10", "grad_norm/conv9"]


def test_two_networks_are_not_layers():
    assert by_layer(columns("grad_norm_net1", "grad_norm_net2", "loss")) == {}


def test_a_bias_does_not_count_beside_its_weight():
    found = by_layer(columns("grad/a.1.weight", "grad/a.1.bias", "grad/a.2.weight", "grad/a.3.bias"))
    assert found == {
        "grad/a.1.weight": "grad_norm/a.1",
        "grad/a.2.weight": "grad_norm/a.2",
        "grad/a.3.bias": "grad_norm/a.3.bias",
    }


def test_what_cannot_be_a_norm_or_a_share_is_none():
    assert by_layer(columns("grad/l1", "grad/l2", "grad/l3", values=(-1.0, 1.0, 0.0, 0.5, 0.2))) == {}
    assert (
        by_layer(columns("dead_units/l1", "dead_units/l2", "dead_units/l3", values=(3.0, 4.0, 5, 6, 7)))
        == {}
    )

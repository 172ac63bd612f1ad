"""Flax NNX: modules, `nnx.jit`, `nnx.Optimizer`."""

from __future__ import annotations

from itertools import pairwise

import jax
import optax
from flax import nnx

from benchmarks.frames.cells import CLASSES, FEATURES, Cell, arrays
from benchmarks.frames.jax_loop import loss_of, optimizer

ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jax.nn.tanh, "sigmoid": jax.nn.sigmoid}


class Net(nnx.Module):
    def __init__(self, cell: Cell, rngs: nnx.Rngs) -> None:
        sizes = (FEATURES, *cell.hidden)
        glorot = nnx.initializers.glorot_uniform()
        start = glorot if cell.scale == 1 else (lambda *given: cell.scale * glorot(*given))
        bias = nnx.initializers.constant(cell.bias)
        self.hidden = nnx.List(
            [nnx.Linear(a, b, kernel_init=start, bias_init=bias, rngs=rngs) for a, b in pairwise(sizes)]
        )
        self.norms = nnx.List([nnx.LayerNorm(size, rngs=rngs) for size in cell.hidden if cell.norm])
        self.dropout = nnx.Dropout(cell.dropout, rngs=rngs) if cell.dropout else None
        self.last = nnx.Linear(sizes[-1], 1 if cell.loss == "numbers" else CLASSES, rngs=rngs)
        self.activation, self.answer = cell.activation, cell.answer

    def __call__(self, x):
        for i, layer in enumerate(self.hidden):
            x = layer(x)
            x = getattr(jax.nn, self.activation)(self.norms[i](x) if len(self.norms) else x)
            x = self.dropout(x) if self.dropout is not None else x
        return getattr(jax.nn, self.answer)(self.last(x)) if self.answer else self.last(x)


def train(cell: Cell) -> None:
    data = arrays(cell)
    model = Net(cell, nnx.Rngs(0))
    transformation = optimizer(cell, len(data.x))
    if cell.frozen:
        labels = lambda tree: jax.tree_util.tree_map_with_path(  # noqa: E731
            lambda path, _: "train" if "last" in jax.tree_util.keystr(path) else "freeze", tree
        )
        transformation = optax.multi_transform(
            {"train": transformation, "freeze": optax.set_to_zero()}, labels
        )
    trained = nnx.Optimizer(model, transformation, wrt=nnx.Param)

    @nnx.jit
    def step(model, trained, x, y):
        loss, grads = nnx.value_and_grad(lambda model: loss_of(cell, model(x), y))(model)
        trained.update(model, grads)
        return loss

    @nnx.jit
    def evaluate(model, x, y):
        return loss_of(cell, model(x), y)

    for epoch in range(cell.epochs):
        model.train()
        for rows in data.batches(cell, epoch):
            step(model, trained, data.x[rows], data.y[rows])
        model.eval()
        float(evaluate(model, data.held_x, data.held_y))

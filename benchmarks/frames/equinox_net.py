"""Equinox: one sample at a time under `vmap`, `eqx.filter_jit`, optax."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from benchmarks.frames.cells import CLASSES, FEATURES, Cell, arrays
from benchmarks.frames.jax_loop import loss_of, optimizer


class Net(eqx.Module):
    hidden: list
    norms: list
    dropout: eqx.nn.Dropout
    last: eqx.nn.Linear
    activation: str = eqx.field(static=True)
    answer: str = eqx.field(static=True)

    def __init__(self, cell: Cell, key) -> None:
        sizes = (FEATURES, *cell.hidden)
        keys = jax.random.split(key, len(sizes))
        start = jax.nn.initializers.glorot_uniform()
        self.hidden = []
        for a, b, own in zip(sizes, sizes[1:], keys, strict=False):
            layer = eqx.nn.Linear(a, b, key=own)
            layer = eqx.tree_at(lambda m: m.weight, layer, cell.scale * start(own, (a, b)).T)
            self.hidden.append(eqx.tree_at(lambda m: m.bias, layer, jnp.full(b, cell.bias)))
        self.norms = [eqx.nn.LayerNorm(size) for size in cell.hidden if cell.norm]
        self.dropout = eqx.nn.Dropout(cell.dropout)
        self.last = eqx.nn.Linear(sizes[-1], 1 if cell.loss == "numbers" else CLASSES, key=keys[-1])
        self.activation, self.answer = cell.activation, cell.answer

    def __call__(self, x, key=None):
        for i, layer in enumerate(self.hidden):
            x = layer(x)
            x = getattr(jax.nn, self.activation)(self.norms[i](x) if self.norms else x)
            if key is not None:
                key, own = jax.random.split(key)
                x = self.dropout(x, key=own)
        return getattr(jax.nn, self.answer)(self.last(x)) if self.answer else self.last(x)


def train(cell: Cell) -> None:
    data = arrays(cell)
    model = Net(cell, jax.random.key(0))
    transformation = optimizer(cell, len(data.x))
    if cell.frozen:
        labels = lambda tree: jax.tree_util.tree_map_with_path(  # noqa: E731
            lambda path, _: "train" if "last" in jax.tree_util.keystr(path) else "freeze", tree
        )
        transformation = optax.multi_transform(
            {"train": transformation, "freeze": optax.set_to_zero()}, labels
        )
    state = transformation.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(model, state, x, y, key):
        def loss(model):
            keys = jax.random.split(key, len(x))
            outputs = jax.vmap(model)(x, keys) if cell.dropout else jax.vmap(model)(x)
            return loss_of(cell, outputs, y)

        value, grads = eqx.filter_value_and_grad(loss)(model)
        updates, state = transformation.update(grads, state, eqx.filter(model, eqx.is_inexact_array))
        return eqx.apply_updates(model, updates), state, value

    @eqx.filter_jit
    def evaluate(model, x, y):
        return loss_of(cell, jax.vmap(model)(x), y)

    key = jax.random.key(1)
    for epoch in range(cell.epochs):
        for rows in data.batches(cell, epoch):
            key, own = jax.random.split(key)
            model, state, _ = step(model, state, data.x[rows], data.y[rows], own)
        float(evaluate(model, data.held_x, data.held_y))

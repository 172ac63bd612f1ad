"""What the loops of JAX share: optimizers, schedules, losses."""

from __future__ import annotations

import jax.numpy as jnp
import optax

from benchmarks.frames.cells import Cell


def optimizer(cell: Cell, samples: int) -> optax.GradientTransformation:
    rate = (
        optax.cosine_decay_schedule(cell.rate, cell.epochs * (samples // cell.batch))
        if cell.cosine
        else cell.rate
    )
    return optax.adam(rate) if cell.optimizer == "adam" else optax.sgd(rate, 0.9)


def loss_of(cell: Cell, outputs, y):
    if cell.loss == "numbers":
        return optax.squared_error(outputs, y).mean()
    return optax.softmax_cross_entropy_with_integer_labels(outputs, jnp.asarray(y)).mean()

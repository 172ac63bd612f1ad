"""Keras: `fit`, on whatever backend."""

from __future__ import annotations

import keras

from benchmarks.frames.cells import CLASSES, FEATURES, Cell, arrays


class Scaled(keras.initializers.GlorotUniform):
    """Glorot's start, times a factor."""

    def __init__(self, scale: float) -> None:
        super().__init__(seed=0)
        self.factor = scale

    def __call__(self, shape, dtype=None):
        return self.factor * super().__call__(shape, dtype)


def train(cell: Cell) -> None:
    keras.utils.set_random_seed(0)
    data = arrays(cell)
    layers: list[keras.Layer] = [keras.Input((FEATURES,))]
    for size in cell.hidden:
        start = keras.initializers.GlorotUniform() if cell.scale == 1 else Scaled(cell.scale)
        bias = keras.initializers.Constant(cell.bias)
        if cell.norm:
            layers += [
                keras.layers.Dense(size),
                keras.layers.BatchNormalization(),
                keras.layers.Activation(cell.activation),
            ]
        else:
            layers += [
                keras.layers.Dense(size, cell.activation, kernel_initializer=start, bias_initializer=bias)
            ]
        layers += [keras.layers.Dropout(cell.dropout)] if cell.dropout else []
    numbers = cell.loss == "numbers"
    model = keras.Sequential([*layers, keras.layers.Dense(1 if numbers else CLASSES, cell.answer or None)])
    if cell.frozen:
        for layer in model.layers[:-1]:
            layer.trainable = False
    steps = cell.epochs * (len(data.x) // cell.batch)
    rate = keras.optimizers.schedules.CosineDecay(cell.rate, steps) if cell.cosine else cell.rate
    optimizer = keras.optimizers.Adam(rate) if cell.optimizer == "adam" else keras.optimizers.SGD(rate, 0.9)
    loss = "mse" if numbers else keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=[] if numbers else ["accuracy"])
    held = (data.held_x, data.held_y)
    model.fit(data.x, data.y, batch_size=cell.batch, epochs=cell.epochs, validation_data=held, verbose=0)

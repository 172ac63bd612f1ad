"""Train with Keras and its TensorBoard callback (train/ and validation/ folders, tensors), and write
scalars of every number type with tf.summary.

pip install tensorflow-cpu tensorboard; python tests/logs/make/tensorboard_keras.py
"""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf
from places import fresh, oracle
from tb_oracle import found_below

folder = fresh("tensorboard_keras")
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
inputs = rng.standard_normal((240, 8)).astype("float32")
labels = (inputs[:, 0] + inputs[:, 1] > 0).astype("int32")
model = keras.Sequential(
    [keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2, activation="softmax")]
)
model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy", metrics=["accuracy"])
board = keras.callbacks.TensorBoard(
    str(folder / "fit"), histogram_freq=1, write_graph=False, update_freq="epoch"
)
model.fit(inputs, labels, validation_split=0.25, epochs=6, batch_size=20, verbose=0, callbacks=[board])

Metadata = tf.compat.v1.SummaryMetadata
scalars = Metadata(plugin_data=Metadata.PluginData(plugin_name="scalars"))
with tf.summary.create_file_writer(str(folder / "types"), filename_suffix=".v2").as_default():
    for step in (0, 1, 127, 128, 20000, 3_000_000_000):
        for dtype in (
            tf.float32,
            tf.float64,
            tf.float16,
            tf.bfloat16,
            tf.int32,
            tf.int64,
            tf.uint8,
            tf.bool,
        ):
            tf.summary.write(
                f"number/{dtype.name}", tf.cast(step % 100 + 1, dtype), step=step, metadata=scalars
            )
        tf.summary.scalar("zero", 0.0, step=step)
        tf.summary.write("vector", tf.constant([1.0, 2.0]), step=step)
oracle("tensorboard_keras", found_below(folder))

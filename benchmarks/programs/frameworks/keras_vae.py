"""A variational autoencoder: a train step of its own with a gradient tape, and three losses tracked."""

import hashlib

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(5)


class Sampling(layers.Layer):
    def __init__(self):
        super().__init__()
        self.seed = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        mean, log_var = inputs
        return mean + ops.exp(0.5 * log_var) * keras.random.normal(ops.shape(mean), seed=self.seed)


inputs = keras.Input((16,))
z = layers.Dense(32, activation="relu")(inputs)
mean, log_var = layers.Dense(2)(z), layers.Dense(2)(z)
encoder = keras.Model(inputs, [mean, log_var, Sampling()([mean, log_var])])
decoder = keras.Sequential(
    [keras.Input((2,)), layers.Dense(32, activation="relu"), layers.Dense(16, activation="sigmoid")]
)


class Vae(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.total = keras.metrics.Mean(name="loss")
        self.parts = [keras.metrics.Mean(name="reconstruction"), keras.metrics.Mean(name="kl")]

    @property
    def metrics(self):
        return [self.total, *self.parts]

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(data)
            again = ops.mean(
                ops.sum(keras.losses.binary_crossentropy(data[..., None], self.decoder(z)[..., None]), axis=-1)
            )
            kl = ops.mean(ops.sum(-0.5 * (1 + log_var - ops.square(mean) - ops.exp(log_var)), axis=1))
            total = again + kl
        grads = tape.gradient(total, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights, strict=False))
        for metric, value in zip(self.metrics, (total, again, kl), strict=False):
            metric.update_state(value)
        return {metric.name: metric.result() for metric in self.metrics}


x = (np.random.default_rng(0).random((512, 16)) > np.linspace(0.1, 0.9, 16)).astype("float32")
model = Vae()
model.compile(optimizer=keras.optimizers.Adam())
print(model.fit(x, epochs=4, batch_size=64, verbose=0).history)
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())

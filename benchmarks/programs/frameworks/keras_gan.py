"""A generator against a discriminator: two optimizers in one train step."""

import hashlib

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(6)
WIDTH = 4
judge = keras.Sequential([keras.Input((8,)), layers.Dense(32), layers.LeakyReLU(negative_slope=0.2), layers.Dense(1)])
maker = keras.Sequential([keras.Input((WIDTH,)), layers.Dense(32, activation="relu"), layers.Dense(8)])


class Gan(keras.Model):
    def __init__(self):
        super().__init__()
        self.judge, self.maker = judge, maker
        self.seed = keras.random.SeedGenerator(1337)

    def compile(self, judge_optimizer, maker_optimizer, loss):
        super().compile()
        self.judge_optimizer, self.maker_optimizer, self.loss_of = judge_optimizer, maker_optimizer, loss
        self.judge_loss, self.maker_loss = keras.metrics.Mean(name="d_loss"), keras.metrics.Mean(name="g_loss")

    @property
    def metrics(self):
        return [self.judge_loss, self.maker_loss]

    def train_step(self, real):
        count = ops.shape(real)[0]
        made = self.maker(keras.random.normal((count, WIDTH), seed=self.seed))
        both = ops.concatenate([made, real], axis=0)
        labels = ops.concatenate([ops.ones((count, 1)), ops.zeros((count, 1))], axis=0)
        labels += 0.05 * keras.random.uniform(ops.shape(labels), seed=self.seed)
        with tf.GradientTape() as tape:
            judged = self.loss_of(labels, self.judge(both))
        grads = tape.gradient(judged, self.judge.trainable_weights)
        self.judge_optimizer.apply_gradients(zip(grads, self.judge.trainable_weights, strict=False))
        noise = keras.random.normal((count, WIDTH), seed=self.seed)
        with tf.GradientTape() as tape:
            fooled = self.loss_of(ops.zeros((count, 1)), self.judge(self.maker(noise)))
        grads = tape.gradient(fooled, self.maker.trainable_weights)
        self.maker_optimizer.apply_gradients(zip(grads, self.maker.trainable_weights, strict=False))
        self.judge_loss.update_state(judged)
        self.maker_loss.update_state(fooled)
        return {"d_loss": self.judge_loss.result(), "g_loss": self.maker_loss.result()}


real = np.random.default_rng(0).normal(2, 0.5, (512, 8)).astype("float32")
gan = Gan()
gan.compile(keras.optimizers.Adam(3e-4), keras.optimizers.Adam(3e-4), keras.losses.BinaryCrossentropy(from_logits=True))
print(gan.fit(real, epochs=4, batch_size=64, verbose=0).history)
print(hashlib.sha256(b"".join(w.tobytes() for w in gan.get_weights())).hexdigest())

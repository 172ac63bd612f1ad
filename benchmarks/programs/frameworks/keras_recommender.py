"""Ratings by embeddings of users and films: a subclassed model, a penalty on the embeddings."""

import hashlib

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(8)


class Recommender(keras.Model):
    def __init__(self, users, films, width):
        super().__init__()
        penalty = keras.regularizers.l2(1e-6)
        self.user = layers.Embedding(users, width, embeddings_initializer="he_normal", embeddings_regularizer=penalty)
        self.film = layers.Embedding(films, width, embeddings_initializer="he_normal", embeddings_regularizer=penalty)
        self.user_bias, self.film_bias = layers.Embedding(users, 1), layers.Embedding(films, 1)

    def call(self, inputs):
        user, film = inputs[:, 0], inputs[:, 1]
        product = ops.sum(self.user(user) * self.film(film), axis=1, keepdims=True)
        return ops.nn.sigmoid(product + self.user_bias(user) + self.film_bias(film))


chance = np.random.default_rng(2)
pairs = np.stack([chance.integers(0, 60, 3000), chance.integers(0, 40, 3000)], 1)
tastes, kinds = chance.normal(size=(60, 3)), chance.normal(size=(40, 3))
y = 1 / (1 + np.exp(-(tastes[pairs[:, 0]] * kinds[pairs[:, 1]]).sum(1)))
model = Recommender(60, 40, 8)
model.compile(loss=keras.losses.BinaryCrossentropy(), optimizer=keras.optimizers.Adam(learning_rate=0.001))
found = model.fit(pairs[:2700], y[:2700], batch_size=64, epochs=3, verbose=0, validation_data=(pairs[2700:], y[2700:]))
print(found.history)
print(model.predict(pairs[:4], verbose=0).tolist())
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest())

"""A network of scikit-learn: `fit` with early stopping, then batches by `partial_fit`."""

import numpy as np
from sklearn.neural_network import MLPClassifier

chance = np.random.default_rng(3)
x = chance.normal(size=(500, 10))
y = (x @ chance.normal(size=(10, 3))).argmax(1)
first = MLPClassifier((24,), max_iter=40, early_stopping=True, random_state=4, learning_rate_init=5e-3)
first.fit(x[:400], y[:400])
print(first.n_iter_, first.loss_curve_, first.score(x[400:], y[400:]))
second = MLPClassifier((24,), random_state=5, learning_rate_init=5e-3)
for epoch in range(6):
    for at in range(0, 400, 50):
        second.partial_fit(x[at : at + 50], y[at : at + 50], classes=[0, 1, 2])
    print(epoch, second.loss_)
print([float(w.sum()) for w in second.coefs_])

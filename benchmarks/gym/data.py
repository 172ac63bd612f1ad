"""Data as source text: each piece leaves x_train, y_train, x_val, y_val, x_test and y_test as arrays.

The test rows are put aside first and touched by nothing that a fault does to training or validation.
"""

from __future__ import annotations

SPLIT = """
order = np.random.RandomState(SPLIT).permutation(len(x))
x, y = x[order], y[order]
x_test, y_test = x[:TEST], y[:TEST]
x_val, y_val = x[TEST:TEST + VAL], y[TEST:TEST + VAL]
x_train, y_train = x[TEST + VAL:], y[TEST + VAL:]
"""


def bundled(loader: str, test: int, val: int) -> str:
    """One of scikit-learn's own sets, split."""
    load = f"from sklearn.datasets import {loader}\n\nx, y = {loader}(return_X_y=True)"
    return load + split(test, val)


def split(test: int, val: int) -> str:
    return SPLIT.replace("SPLIT", "0").replace("TEST + VAL", str(test + val)).replace("TEST", str(test))


def generated(call: str, test: int, val: int) -> str:
    """One of scikit-learn's generators, split."""
    name = call.split("(")[0]
    return f"from sklearn.datasets import {name}\n\nx, y = {call}" + split(test, val)


STANDARDIZE = """
mean, std = x_train.mean(0), x_train.std(0) + 1e-8
x_train, x_val, x_test = (x_train - mean) / std, (x_val - mean) / std, (x_test - mean) / std
"""
STANDARDIZE_TARGET = """
y_mean, y_std = y_train.mean(), y_train.std()
y_train, y_val, y_test = (y_train - y_mean) / y_std, (y_val - y_mean) / y_std, (y_test - y_mean) / y_std
"""
SIXTEENTHS = "x_train, x_val, x_test = x_train / 16.0, x_val / 16.0, x_test / 16.0"
SQUARE = "x_train, x_val, x_test = (a.reshape(-1, 1, 8, 8) / 16.0 for a in (x_train, x_val, x_test))"

DIGITS = bundled("load_digits", 400, 300)
CANCER = bundled("load_breast_cancer", 170, 110)
WINE = bundled("load_wine", 50, 35)
DIABETES = bundled("load_diabetes", 110, 80)
CLUSTERS = generated(
    "make_classification(4000, 20, n_informative=12, n_classes=5, class_sep=1.6, flip_y=0.0, random_state=1)",
    800,
    600,
)
OVERLAPPING = generated(
    "make_classification(3000, 20, n_informative=6, n_classes=2, class_sep=0.7, flip_y=0.05, random_state=2)",
    800,
    600,
)
FRIEDMAN = generated("make_friedman1(2500, 10, noise=1.0, random_state=3)", 500, 400)
CIRCLES = generated("make_circles(1500, noise=0.1, factor=0.5, random_state=4)", 400, 300)
MOONS = generated("make_moons(2000, noise=0.2, random_state=5)", 500, 400)
LABEL_SETS = generated(
    "make_multilabel_classification(2500, 20, n_classes=6, n_labels=2, random_state=6)", 500, 400
)
PICTURES = DIGITS + "y_train, y_val, y_test = x_train / 16.0, x_val / 16.0, x_test / 16.0\n"

WAVES = """
rng = np.random.RandomState(7)
y = rng.randint(0, 4, 2400)
t = np.arange(32)
x = np.sin(t[None] * (0.25 + 0.2 * y[:, None]) + rng.uniform(0, 6.28, (2400, 1))) + 0.5 * rng.randn(2400, 32)
x = x[:, :, None]
""" + split(500, 400)
RECALL = """
rng = np.random.RandomState(8)
y = rng.randint(0, 4, 2400)
x = rng.randn(2400, 16, 4) * 0.3
x[np.arange(2400), 2, y] += 2.0
""" + split(500, 400)
BLOBS_IN_IMAGES = """
rng = np.random.RandomState(9)
grid = np.stack(np.meshgrid(np.arange(16), np.arange(16)), 0)
centre, radius = rng.uniform(4, 12, (900, 2, 1, 1)), rng.uniform(2, 5, (900, 1, 1))
y = (np.sqrt(((grid[None] - centre) ** 2).sum(1)) < radius).astype(float)[:, None]
x = y * rng.uniform(0.5, 1.0, (900, 1, 1, 1)) + 0.5 * rng.randn(900, 1, 16, 16)
""" + split(200, 150)
TEXTURES = """
rng = np.random.RandomState(10)
y = rng.randint(0, 6, 1800)
angle = y * np.pi / 6
u, v = np.meshgrid(np.arange(12), np.arange(12))
phase = rng.uniform(0, 6.28, (1800, 1, 1))
x = np.sin(np.cos(angle)[:, None, None] * u + np.sin(angle)[:, None, None] * v + phase)
x = (x + 0.7 * rng.randn(1800, 12, 12))[:, None]
""" + split(400, 300)
SENTENCES = """
words = "the cat dog bird sees likes chases a red big small tree house and runs sleeps".split()
rng = np.random.RandomState(11)


def sentence():
    noun = lambda: [rng.choice(["the", "a"])] + list(rng.choice(["red", "big", "small"], rng.randint(0, 2))) + [
        rng.choice(["cat", "dog", "bird", "tree", "house"])]
    return noun() + ([rng.choice(["sees", "likes", "chases"])] + noun() if rng.rand() < 0.7 else
                     [rng.choice(["runs", "sleeps"])]) + ["and"]


text = " ".join(" ".join(sentence()) for _ in range(3500))
chars = sorted(set(text))
ids = np.array([chars.index(c) for c in text])
cut = len(ids) // 33 * 33
rows = ids[:cut].reshape(-1, 33)
x, y = rows[:, :-1], rows[:, 1:]
""" + split(300, 300)
PARITY = """
rng = np.random.RandomState(12)
numbers = rng.permutation(4096)[:3000]
x = 2.0 * ((numbers[:, None] >> np.arange(12)) % 2) - 1.0
y = (x[:, 0] * x[:, 1] * x[:, 2] > 0).astype(int)
""" + split(500, 400)

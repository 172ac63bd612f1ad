"""Data that public programs read, made from what packages ship: no download."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np

CORPUS = (
    "os.py",
    "ast.py",
    "inspect.py",
    "typing.py",
    "argparse.py",
    "tarfile.py",
    "subprocess.py",
    "decimal.py",
)


def digits(train: int = 5000, test: int = 1000, seed: int = 0) -> dict[str, np.ndarray]:
    """Images of 28 x 28 and labels in MNIST's four files: scikit-learn's digits of 8 x 8 enlarged, each drawn several
    times, moved by up to two pixels; no digit is in both parts."""
    from sklearn.datasets import load_digits

    chance = np.random.default_rng(seed)
    images, labels = load_digits(return_X_y=True)
    order = chance.permutation(len(images))
    parts = {"train": (order[300:], train), "t10k": (order[:300], test)}
    made = {}
    for part, (pool, count) in parts.items():
        chosen = chance.choice(pool, count)
        large = np.kron(images[chosen].reshape(-1, 8, 8) * 15.9, np.ones((3, 3))).astype(np.uint8)
        frames = np.zeros((count, 28, 28), np.uint8)
        for frame, image in zip(frames, large, strict=True):
            row, column = chance.integers(0, 5, 2)
            frame[row : row + 24, column : column + 24] = image
        made[f"{part}-images-idx3-ubyte"] = frames
        made[f"{part}-labels-idx1-ubyte"] = labels[chosen].astype(np.uint8)
    return made


def write_digits(root: Path) -> None:
    """As torchvision's MNIST and FashionMNIST look for them below their root."""
    for name, array in digits().items():
        head = struct.pack(f">{1 + array.ndim}i", 0x800 + array.ndim, *array.shape)
        for kind in ("MNIST", "FashionMNIST"):
            folder = root / kind / "raw"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(head + array.tobytes())
            (folder / f"{name}.gz").write_bytes(gzip.compress(head + array.tobytes(), 1))


def text(most: int = 400_000) -> str:
    """A corpus: sources of Python's own library."""
    library = Path(gzip.__file__).parent
    return "".join((library / name).read_text(encoding="utf-8") for name in CORPUS)[:most]


def write_words(path: Path) -> None:
    """Text of a few thousand different words, one sentence a line, split into the usual three files."""
    import re

    words = re.findall(r"[a-z]+|[.,():]", text().lower())
    lines = [" ".join(words[i : i + 20]) for i in range(0, len(words) - 20, 20)]
    cuts = {"train.txt": lines[: -len(lines) // 5], "valid.txt": lines[-len(lines) // 5 : -len(lines) // 10],
            "test.txt": lines[-len(lines) // 10 :]}  # fmt: skip
    path.mkdir(parents=True, exist_ok=True)
    for name, part in cuts.items():
        (path / name).write_text("\n".join(part) + "\n", encoding="utf-8")


def write_text(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(), encoding="utf-8")


def write_characters(folder: Path) -> None:
    """nanoGPT's files: ids of characters, and what they mean."""
    import pickle

    letters = sorted(set(text()))
    ids = np.array([letters.index(c) for c in text()], np.uint16)
    folder.mkdir(parents=True, exist_ok=True)
    cut = int(0.9 * len(ids))
    ids[:cut].tofile(folder / "train.bin")
    ids[cut:].tofile(folder / "val.bin")
    meta = {
        "vocab_size": len(letters),
        "itos": dict(enumerate(letters)),
        "stoi": {c: i for i, c in enumerate(letters)},
    }
    (folder / "meta.pkl").write_bytes(pickle.dumps(meta))


def write_arrays(path: Path) -> None:
    """The four arrays of Keras's mnist.npz."""
    made = digits()
    np.savez(
        path, x_train=made["train-images-idx3-ubyte"], y_train=made["train-labels-idx1-ubyte"],
        x_test=made["t10k-images-idx3-ubyte"], y_test=made["t10k-labels-idx1-ubyte"],
    )  # fmt: skip


def write_binary(path: Path) -> None:
    """Black and white digits, as arrays of 784 zeros and ones."""
    made = digits()
    parts = {"train_data": made["train-images-idx3-ubyte"], "valid_data": made["t10k-images-idx3-ubyte"]}
    np.savez(path, **{name: (a.reshape(len(a), -1) > 127).astype(np.float32) for name, a in parts.items()})


def write_ratings(path: Path) -> None:
    """MovieLens's file of 300 users and 200 films: a rating follows from how strict the user is, how
    good the film is, four hidden tastes and some noise."""
    chance = np.random.default_rng(0)
    users, films = chance.normal(size=(300, 4)), chance.normal(size=(200, 4))
    pairs = chance.choice(300 * 200, 20_000, replace=False)
    user, film = pairs // 200, pairs % 200
    own = chance.normal(size=300)[user] + chance.normal(size=200)[film]
    score = own + 0.5 * (users[user] * films[film]).sum(1) + 0.5 * chance.normal(size=len(pairs))
    stars = np.clip(np.round(3.5 + score / 2), 1, 5).astype(int)
    lines = (f"{p // 200 + 1}::{p % 200 + 1}::{s}::0\n" for p, s in zip(pairs, stars, strict=True))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")


def write_masks(folder: Path) -> None:
    """Ninety pictures of 64 x 64 with a disc of one colour on noise, and the masks of the discs."""
    from PIL import Image

    chance = np.random.default_rng(0)
    rows, columns = np.mgrid[:64, :64]
    for kind in ("imgs", "masks"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for number in range(90):
        radius, (row, column) = chance.integers(6, 16), chance.integers(16, 48, 2)
        disc = (rows - row) ** 2 + (columns - column) ** 2 <= radius**2
        colours = np.where(disc[..., None], chance.integers(120, 220, 3), 60) + chance.normal(
            0, 25, (64, 64, 3)
        )
        Image.fromarray(np.clip(colours, 0, 255).astype(np.uint8)).save(folder / "imgs" / f"{number}.png")
        Image.fromarray(disc.astype(np.uint8) * 255).save(folder / "masks" / f"{number}.png")


def write_series(path: Path) -> None:
    """Three hourly series of 3,000 hours: days, weeks, a slow drift and noise."""
    chance = np.random.default_rng(0)
    hours = np.arange(3000)
    head, columns = "date", []
    for shift, name in enumerate(("first", "second", "OT")):
        head += f",{name}"
        day, week = np.sin(2 * np.pi * (hours / 24 + shift / 3)), np.sin(2 * np.pi * hours / 168)
        columns.append(
            day + 0.5 * week + 0.01 * chance.normal(size=3000).cumsum() + 0.1 * chance.normal(size=3000)
        )
    days = np.datetime64("2020-01-01T00") + hours
    rows = (f"{d},{a:.4f},{b:.4f},{c:.4f}" for d, a, b, c in zip(days, *columns, strict=True))
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def write_citations(folder: Path) -> None:
    """Cora's two files: 1,500 papers on seven topics, with words of their topic, that mostly cite their own topic."""
    chance = np.random.default_rng(0)
    topics, usual = chance.integers(0, 7, 1500), chance.random((7, 300)) < 0.1
    words = chance.random((1500, 300)) < np.where(usual[topics], 0.1, 0.02)
    words[np.arange(1500), chance.integers(0, 300, 1500)] = True  # no paper is without a word
    lines = (
        f"{i}\t" + "\t".join(map(str, row.astype(int))) + f"\ttopic{topics[i]}"
        for i, row in enumerate(words)
    )
    pairs = chance.integers(0, 1500, (40_000, 2))
    pairs = pairs[(topics[pairs[:, 0]] == topics[pairs[:, 1]]) | (chance.random(len(pairs)) < 0.03)][:4000]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cora.content").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "cora.cites").write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")


def write_pictures(root: Path) -> None:
    """CIFAR-10's batches of 32 x 32: digits in one of ten colours on noise, 300 a batch."""
    import pickle

    chance = np.random.default_rng(0)
    made = digits(1500, 300)
    folder = root / "cifar-10-batches-py"
    folder.mkdir(parents=True, exist_ok=True)
    tints = chance.integers(120, 255, (10, 3))
    names = [f"data_batch_{i}" for i in range(1, 6)]
    parts = {name: ("train", slice(300 * i, 300 * i + 300)) for i, name in enumerate(names)}
    for name, (part, rows) in {**parts, "test_batch": ("t10k", slice(0, 300))}.items():
        images = np.pad(made[f"{part}-images-idx3-ubyte"][rows], ((0, 0), (2, 2), (2, 2))) / 255
        labels = made[f"{part}-labels-idx1-ubyte"][rows]
        colours = images[:, None] * tints[labels][:, :, None, None]
        coloured = np.clip(colours + chance.normal(20, 20, colours.shape), 0, 255).astype(np.uint8)
        batch = {"data": coloured.reshape(len(labels), -1), "labels": labels.tolist()}
        (folder / name).write_bytes(pickle.dumps(batch))
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": list("0123456789")}))


WRITERS = {"digits": write_digits, "words": write_words, "text": write_text, "characters": write_characters,
           "arrays": write_arrays, "binary": write_binary, "ratings": write_ratings,
           "series": write_series, "citations": write_citations,
           "pictures": write_pictures, "masks": write_masks}  # fmt: skip

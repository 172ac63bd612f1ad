"""The features of a sample as a matrix that a classifier can take: numbers standardized, words as
indicators, text as weighted counts of hashed words."""

from __future__ import annotations

import re
import zlib

import numpy as np
from numpy.typing import NDArray

from traindx.survey.gather import Sample
from traindx.survey.table import Field, Floats, Objects

Matrix = NDArray[np.float32]

LEVELS = 20  # most frequent values of a category that get an indicator
HASHED = 2048  # columns that words of text are hashed to
CLIP = 8.0  # spreads
WORD = re.compile(r"\w+")


def matrix(fields: tuple[Field, ...], sample: Sample, rows: NDArray[np.intp], most: int) -> Matrix:
    """`x[m, q]` of the rows asked for; of too many numbers evenly spread ones. No column is constant."""
    parts: list[Matrix] = []
    plain = [i for i, f in enumerate(fields) if f.kind == "number"]
    plain = plain[:: -(-len(plain) // most) or 1]
    if plain:
        parts.append(standardized(sample.features[rows][:, plain]))
    parts += [indicators(sample.features[rows, i]) for i, f in enumerate(fields) if f.kind == "category"][
        :most
    ]
    parts += [hashed_words(text[rows]) for text in sample.texts]
    if not parts:
        return np.zeros((len(rows), 0), dtype=np.float32)
    made = np.concatenate(parts, axis=1)
    return np.asarray(made[:, made.max(0) > made.min(0)]) if len(made) else made


def standardized(values: Floats) -> Matrix:
    """Mean 0 and spread 1, the median where a value is missing, far values pulled in, and an indicator of
    what was missing."""
    bad = ~np.isfinite(values)
    holed = np.where(bad, np.nan, values)
    with np.errstate(all="ignore"):
        middle = np.array(
            [np.median(c[~b]) if (~b).any() else 0.0 for c, b in zip(holed.T, bad.T, strict=True)]
        )
    filled = np.where(bad, middle, values)
    spread = filled.std(0)
    scaled = np.clip((filled - filled.mean(0)) / np.where(spread > 0, spread, 1.0), -CLIP, CLIP)
    return np.concatenate([scaled, bad[:, bad.any(0)]], axis=1).astype(np.float32)


def indicators(codes: Floats) -> Matrix:
    values, counts = np.unique(codes[np.isfinite(codes)], return_counts=True)
    top = values[np.argsort(-counts, kind="stable")][:LEVELS]
    return np.asarray(codes[:, None] == top[None, :], dtype=np.float32)


def hashed_words(texts: Objects) -> Matrix:
    """`x[m, HASHED]`: log(1 + count) x log inverse document frequency of each word, rows of length
    sqrt(HASHED) / 8 (comparable to standardized numbers)."""
    counts = np.zeros((len(texts), HASHED), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in WORD.findall(str(text).lower()):
            counts[row, zlib.crc32(word.encode("utf-8", "surrogatepass")) % HASHED] += 1
    frequency = (counts > 0).sum(0)
    weighted = np.log1p(counts) * np.log((1 + len(texts)) / (1 + frequency))
    length = np.linalg.norm(weighted, axis=1, keepdims=True)
    return np.asarray(weighted / np.where(length > 0, length, 1.0) * np.sqrt(HASHED) / 8, dtype=np.float32)

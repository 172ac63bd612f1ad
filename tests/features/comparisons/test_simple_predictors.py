"""Simple predictors against what theory says they reach."""

from __future__ import annotations

import math

import numpy as np

from traindx.features.comparisons import simple_predictors


def rows(n: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, width))


def test_a_linear_relation_is_found_and_another_is_left_to_neighbours() -> None:
    x = rows(900, 3)
    straight = simple_predictors.explained_variances(x, x @ np.array([[1.0], [-2.0], [0.5]]))
    assert straight is not None
    assert straight.linear > 0.99
    either = (x[:, 0] * x[:, 1] > 0).astype(
        np.int64
    )  # a line cuts off a corner at best, neighbourhoods decide
    found = simple_predictors.class_accuracies(x[:, :2], either)
    assert found is not None
    assert found.linear < 0.75
    assert found.neighbours > 0.9


def test_labels_that_hang_on_nothing_are_guessed() -> None:
    x, labels = rows(900, 4), np.random.default_rng(1).integers(0, 3, 900)
    found = simple_predictors.class_accuracies(x, labels)
    assert found is not None
    assert found.held == 300
    error = math.sqrt(1 / 3 * 2 / 3 / 300)
    assert all(abs(level - 1 / 3) < 4 * error for level in found[:3])


def test_more_values_than_samples_and_constant_ones() -> None:
    """The two ways to solve the ridge agree, and columns without spread are left out."""
    x, z = rows(60, 5), rows(20, 5, seed=2)
    y = x[:, :1] + 1
    weights = np.linalg.solve(x.T @ x + simple_predictors.RIDGE * 60 * np.eye(5), x.T @ (y - y.mean(0)))
    assert np.allclose(simple_predictors.linear(x, y, z), z @ weights + y.mean(0))
    wide = np.hstack([rows(90, 200), np.ones((90, 3))])
    found = simple_predictors.explained_variances(wide, wide[:, :1])
    assert found is not None
    assert 0 < found.linear < 1


def test_entropies_of_a_chain_of_tokens() -> None:
    """Each token follows one other with chance 0.9: the entropy of the next is that of the chain."""
    r, chain = np.random.default_rng(3), [0]
    for _ in range(20000):
        chain.append((chain[-1] + 1) % 8 if r.random() < 0.9 else int(r.integers(0, 8)))
    tokens = np.array(chain)
    found = simple_predictors.token_entropies(tokens[:-1], tokens[1:])
    p = np.full(8, 0.1 / 8)
    p[0] += 0.9
    assert found is not None
    assert abs(found[0] - math.log(8)) < 0.02
    assert abs(found[1] + float((p * np.log(p)).sum())) < 0.02


def test_too_few_points_give_nothing() -> None:
    assert simple_predictors.class_accuracies(rows(20, 2), np.arange(20) % 2) is None
    assert simple_predictors.class_accuracies(rows(200, 2), np.zeros(200, np.int64)) is None
    assert (
        simple_predictors.class_accuracies(rows(200, 2), np.arange(200)) is None
    )  # every sample its own class
    assert simple_predictors.explained_variances(rows(200, 2), np.ones((200, 1))) is None
    assert simple_predictors.token_entropies(np.zeros(10, np.int64), np.zeros(10, np.int64)) is None

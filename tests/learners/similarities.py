"""Indefinite similarities for tests: dynamic time warping, edit distance, and the TL1 and sigmoid kernels."""

import numpy as np


def cylinder_bell_funnel(n, length, rng):
    """Series (n, length) of three classes, like CBF of the UCR archive (Saito 1994), and their classes."""
    t = np.arange(length)
    classes = rng.integers(0, 3, n)
    start = rng.integers(length // 8, length // 4, n)[:, None]
    stop = start + rng.integers(length // 4, 3 * length // 4, n)[:, None]
    inside = (t >= start) & (t <= stop)
    rise = (t - start) / (stop - start)
    shapes = np.stack([np.ones((n, length)), rise, 1 - rise])[classes, np.arange(n)]
    height = 6 + rng.standard_normal((n, 1))
    return height * inside * shapes + rng.standard_normal((n, length)), classes


def warping_distances(X, Y):
    """Dynamic time warping distances (n, m) with absolute differences, all pairs at once."""
    cost = np.full((len(X), len(Y), X.shape[1] + 1, Y.shape[1] + 1), np.inf)
    cost[:, :, 0, 0] = 0
    for i in range(X.shape[1]):
        for j in range(Y.shape[1]):
            before = np.minimum(np.minimum(cost[:, :, i, j], cost[:, :, i, j + 1]), cost[:, :, i + 1, j])
            cost[:, :, i + 1, j + 1] = np.abs(np.subtract.outer(X[:, i], Y[:, j])) + before
    return cost[:, :, -1, -1]


def warping(X, Y):
    """The similarity exp(-d / 100) of warping distances: indefinite, as they are no metric."""
    return np.exp(-warping_distances(X, Y) / 100)


def edit_distance(a, b):
    """Levenshtein's distance of two strings."""
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (x != y)))
        previous = row
    return previous[-1]


def mutated_words(n, rng):
    """Strings of different lengths, each two letters changed, dropped or doubled from one of two words."""
    classes = rng.integers(0, 2, n)
    words = []
    for c in classes:
        word = list(("kitchenware", "saturdays")[c])
        for _ in range(2):
            place = rng.integers(len(word))
            word[place : place + 1] = [[], [word[place]] * 2, ["x"]][rng.integers(3)]
        words.append("".join(word))
    return words, classes


def edit_similarity(A, B):
    """1 - distance / 8 for lists of strings, as a matrix."""
    return np.array([[1 - edit_distance(a, b) / 8 for b in B] for a in A])


def tl1(X, Y):
    """The truncated 1-norm kernel max(0, 0.7 d - ||x - y||_1) (Huang et al. 2018)."""
    return np.maximum(0, 0.7 * X.shape[1] - np.abs(X[:, None] - Y[None]).sum(axis=2))


def sigmoid(X, Y):
    """tanh(<x, y> - 1)."""
    return np.tanh(X @ Y.T - 1)

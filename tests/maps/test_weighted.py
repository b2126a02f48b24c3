"""Leverage and surrogate-leverage features beyond their law: limits, blocks of rows, kinds of targets."""

import tracemalloc

import numpy as np
import pytest

import rflib.maps.leverage
from rflib.frequencies.draw import sample_frequencies
from rflib.kernels import Gaussian
from rflib.maps import LeverageRFF, SurrogateLeverageRFF
from rflib.maps.seeds import as_generator
from rflib.measures.exact_measures import exact_measure


def pool(X, n, seed, directions="iid"):
    """The frequencies that a map with this seed draws first."""
    measure = exact_measure(Gaussian(), X.shape[1])
    return sample_frequencies(measure, n, directions=directions, radii="iid", rng=as_generator(seed)).vectors


def test_a_large_ridge_gives_equal_weights(X):
    """Leverage then tends to the norm of cosine and sine together, which is the same for all frequencies."""
    m = LeverageRFF(Gaussian(), 20, pool=40, ridge=1e9, random_state=0).fit(X)
    assert np.allclose(m.weights_, 1 / 10)


@pytest.mark.parametrize("cls", [LeverageRFF, SurrogateLeverageRFF])
def test_weights_are_the_pools_over_their_probabilities(cls, X, y):
    m = cls(Gaussian(), 12, pool=30, random_state=5).fit(X, y)
    vectors = pool(X, 30, 5)
    Z = np.hstack([np.cos(X @ vectors.T), np.sin(X @ vectors.T)]) / np.sqrt(30)
    if cls is LeverageRFF:
        scores = np.diag(Z.T @ Z @ np.linalg.inv(Z.T @ Z + 1e-3 * len(X) * np.eye(60)))
    else:
        scores = (Z.T @ (2 * y - 1)) ** 2
    p = scores[:30] + scores[30:]
    chosen = [int(np.flatnonzero((vectors == v).all(axis=1))[0]) for v in m.frequencies_]
    assert np.allclose(m.weights_, (1 / 30) / (p / p.sum())[chosen] / 6)


def test_reference_surrogate_by_brute_force(X, y):
    m = SurrogateLeverageRFF(Gaussian(), 8, variant="reference", random_state=2).fit(X, y)
    vectors = pool(X, 4, 2)
    Z = np.hstack([np.cos(X @ vectors.T), np.sin(X @ vectors.T)])
    p = (Z.T @ (2 * y - 1)) ** 2
    weight = np.sqrt(p.sum() / p)
    order = np.argsort(weight)
    both = np.vstack([vectors, vectors])[order]
    expected = np.hstack([np.cos(X @ both[:4].T), np.sin(X @ both[4:].T)]) * weight[order] / 2
    assert np.allclose(m.transform(X), expected)


@pytest.mark.parametrize("cls", [LeverageRFF, SurrogateLeverageRFF])
@pytest.mark.parametrize("options", [{"pool": 30}, {"variant": "reference"}])
def test_scores_do_not_depend_on_blocks_of_rows(cls, options, X, y, monkeypatch):
    def fitted():
        return cls(Gaussian(), 20, random_state=1, **options).fit(X, y).transform(X)

    Z = fitted()
    monkeypatch.setattr(rflib.maps.leverage, "_BLOCK_ELEMENTS", 210)
    assert np.allclose(fitted(), Z, rtol=1e-8)


def test_orthogonal_pool(X):
    m = LeverageRFF(Gaussian(), 12, pool=24, directions="orthogonal", random_state=3).fit(X)
    vectors = pool(X, 24, 3, "orthogonal")
    assert all((vectors == v).all(axis=1).any() for v in m.frequencies_)
    block = vectors[:6] / np.linalg.norm(vectors[:6], axis=1, keepdims=True)
    assert np.allclose(block @ block.T, np.eye(6))


def weights_for(X, y):
    return SurrogateLeverageRFF(Gaussian(), 16, pool=20, random_state=0).fit(X, y).weights_


def test_names_and_order_of_classes_do_not_matter(X, y):
    assert np.allclose(weights_for(X, y), weights_for(X, 1 - y))
    assert np.allclose(weights_for(X, y), weights_for(X, np.array(["no", "yes"])[y]))
    three = np.digitize(X[:, 0], [-0.3, 0.3])
    assert np.allclose(weights_for(X, three), weights_for(X, 2 - three))
    assert not np.allclose(weights_for(X, y), weights_for(X, three))


def test_real_targets_are_centred_and_their_unit_does_not_matter(X):
    assert np.allclose(weights_for(X, X[:, 0]), weights_for(X, 7 - 3 * X[:, 0]))


def test_targets_are_labels_or_numbers_as_the_task_says(X):
    """Whole numbers are numbers unless their type is an integer; the task decides where types cannot."""

    def weights(y, task="auto"):
        return SurrogateLeverageRFF(Gaussian(), 16, pool=20, task=task, random_state=0).fit(X, y).weights_

    three = np.digitize(X[:, 0], [-0.3, 0.3])
    labels, numbers = weights(three, "classification"), weights(three, "regression")
    assert not np.allclose(labels, numbers)
    for y, expected in (
        (three, labels),
        (three.astype(str), labels),
        (three.astype(np.uint8), labels),
        (three.astype(float), numbers),
    ):
        assert np.array_equal(weights(y), expected)
    amounts = np.arange(len(X))[np.argsort(X[:, 0])]
    assert np.array_equal(weights(amounts), weights(amounts, "regression"))
    two = np.where(X[:, 0] > 0.2, 1.0, -1.0)
    assert np.array_equal(weights(two), weights(two.astype(int), "classification"))
    with pytest.raises(ValueError, match="task='regression' needs targets that are numbers"):
        weights(three.astype(str), "regression")


def test_many_labels_take_no_matrix_of_rows_by_labels(monkeypatch):
    monkeypatch.setattr(rflib.maps.leverage, "_BLOCK_ELEMENTS", 1 << 16)
    n = 4000
    X, y = np.random.default_rng(0).standard_normal((n, 2)), np.arange(n) // 2
    tracemalloc.start()
    SurrogateLeverageRFF(Gaussian(), 8, task="classification", random_state=0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * 2000 * 8 / 10


@pytest.mark.parametrize("variant", ["resampled", "reference"])
def test_constant_real_targets(variant, X):
    with pytest.raises(ValueError, match="No frequency has a positive score: are all targets zero"):
        SurrogateLeverageRFF(variant=variant).fit(X, np.full(len(X), 0.5))


def test_equal_rows_with_balanced_labels():
    with pytest.raises(ValueError, match=r"No frequency has a positive score: .* or are all rows equal"):
        SurrogateLeverageRFF(Gaussian(), 32, random_state=0).fit(np.ones((20, 3)), np.arange(20) % 2)


@pytest.mark.parametrize("value", [60, 7.5, "60"])
def test_a_pool_that_cannot_be_used(value, X):
    with pytest.raises(ValueError, match="pool"):
        LeverageRFF(n_components=20, pool=value, variant="reference").fit(X)

"""The ridge with the least error on held-out rows, beside scikit-learn's ridge regression for each ridge."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from rflib.learners.held_out_ridge import RIDGES, Rows, held_out_ridge, ridge_of_halves


@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_ridge_is_the_best_one_of_scikit_learns(is_weighted):
    rng = np.random.default_rng(0)
    X, targets = rng.standard_normal((120, 30)), rng.standard_normal((120, 2))
    targets[:, 0] += X[:, 0]
    weights = rng.integers(1, 4, 120).astype(float) if is_weighted else None
    train, held = (
        Rows(X[part], targets[part], None if weights is None else weights[part])
        for part in (slice(80), slice(80, None))
    )
    found = held_out_ridge(lambda rows: rows, train, held)
    total = 80 if weights is None else train.weights.sum()
    own = np.ones(80) if weights is None else train.weights
    mean = np.average(train.targets, axis=0, weights=own)
    errors = []
    for ridge in RIDGES:
        model = Ridge(ridge * total, fit_intercept=False, tol=1e-12)
        model.fit(train.X, train.targets - mean, sample_weight=own)
        values = model.predict(held.X) + mean
        errors.append(np.average(((values - held.targets) ** 2).sum(axis=1), weights=held.weights))
        if ridge == found.ridge:
            np.testing.assert_allclose(found.values, values, atol=1e-9)
            np.testing.assert_allclose(found.coef.T, model.coef_, atol=1e-9)
    assert found.ridge == RIDGES[np.argmin(errors)]
    np.testing.assert_allclose(np.average(found.errors, weights=held.weights), min(errors))


def test_features_are_made_of_blocks_of_rows(monkeypatch):
    monkeypatch.setattr("rflib.learners.held_out_ridge._BLOCK_ELEMENTS", 40)
    X = np.random.default_rng(0).standard_normal((50, 8))
    heights = []

    def features(rows):
        heights.append(len(rows))
        return np.cos(rows)

    train, held = Rows(X[:30], X[:30, :1]), Rows(X[30:], X[30:, :1])
    blocks = held_out_ridge(features, train, held)
    assert max(heights) == 5
    monkeypatch.undo()
    np.testing.assert_allclose(blocks.values, held_out_ridge(np.cos, train, held).values, atol=1e-9)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_ridge_of_halves_is_that_of_two_folds(is_weighted, dtype, monkeypatch):
    monkeypatch.setattr("rflib.learners.held_out_ridge._BLOCK_ELEMENTS", 800)  # several blocks
    rng = np.random.default_rng(0)
    Z, targets = rng.standard_normal((201, 30)).astype(dtype), rng.standard_normal((201, 2))
    targets[:, 0] += Z[:, 0]
    weights = rng.integers(1, 4, 201).astype(float) if is_weighted else None
    own = np.ones(201) if weights is None else weights
    parts = np.arange(201) % 2 == 0
    errors = np.zeros(len(RIDGES))
    for fit in (parts, ~parts):
        mean = np.average(targets[fit], axis=0, weights=own[fit])
        for i, ridge in enumerate(RIDGES):
            model = Ridge(ridge * own[fit].sum(), fit_intercept=False).fit(
                np.float64(Z[fit]), targets[fit] - mean, sample_weight=own[fit]
            )
            left = (targets[~fit] - mean - model.predict(np.float64(Z[~fit]))) ** 2
            errors[i] += own[~fit] @ left.sum(axis=1)
    ridge, moments = ridge_of_halves(Z, targets, weights, RIDGES)
    assert ridge == RIDGES[np.argmin(errors)]
    gram = np.float64(Z).T @ (own[:, None] * np.float64(Z))
    np.testing.assert_allclose(np.tril(moments.gram), np.tril(gram), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(moments.z_sum, own @ np.float64(Z), rtol=1e-5, atol=1e-4)

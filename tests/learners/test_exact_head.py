"""ExactHead beside direct solutions in double precision."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import log_loss

from rflib.kernels import Gaussian, Matern
from rflib.learners import exact_head
from rflib.learners.exact_head import ExactHead, best_factor


def rings(n, seed, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)).astype(np.float32)
    radius = np.hypot(*X.T) + noise * rng.standard_normal(n)
    return X, np.digitize(radius, [0.9, 1.6])


def solved(K, ridge, targets, mean):
    return np.linalg.solve(K + np.diag(ridge), targets - mean)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_the_direct_solution(is_weighted, n_classes, monkeypatch):
    monkeypatch.setattr(exact_head, "_HEIGHT", 37)  # several blocks
    X, y = rings(150, 0)
    y = np.minimum(y, n_classes - 1)
    weights = np.random.default_rng(1).integers(0, 3, 150).astype(float) if is_weighted else None
    kernel = Matern(1.5, 0.8)
    head = ExactHead(kernel, 1e-3).fit(X, y, weights)
    own = np.ones(150) if weights is None else weights
    used = own > 0
    targets = 2 * np.eye(n_classes)[y] - 1
    mean = own @ targets / own.sum()
    rows, ridge = X[used].astype(float), 1e-3 * own.sum() / own[used]
    dual = solved(kernel(rows), ridge, targets[used], mean)
    fresh = rings(80, 2)[0]
    expected = kernel(fresh.astype(float), rows) @ dual + mean
    np.testing.assert_allclose(head.values(fresh), expected, atol=1e-3)
    np.testing.assert_array_equal(head.predict(fresh), expected.argmax(axis=1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_conjugate_gradients_find_the_same(n_classes, monkeypatch):
    monkeypatch.setattr(exact_head, "_LANDMARKS", 40)  # so that there is something to do
    monkeypatch.setattr(exact_head, "_TOLERANCE", 1e-4)
    monkeypatch.setattr(exact_head, "_HEIGHT", 37)
    X, y = rings(200, 0)
    y = np.minimum(y, n_classes - 1)
    direct = ExactHead(Matern(1.5, 0.8), 1e-4).fit(X, y)
    monkeypatch.setattr(exact_head, "_FEWEST", -1000)
    head = ExactHead(Matern(1.5, 0.8), 1e-4).fit(X, y)
    fresh = rings(80, 2)[0]
    np.testing.assert_allclose(head.values(fresh), direct.values(fresh), atol=0.01)
    K, codes = Matern(1.5, 0.8)(head.X_fit_.astype(float)), head.dual_coef_.shape[1]
    place = {row.tobytes(): i for i, row in enumerate(X)}
    targets = 2 * np.eye(codes)[y[[place[row.tobytes()] for row in head.X_fit_]]] - 1
    dual = solved(K[:150, :150], np.full(150, 0.02), targets[:150], head.intercept_)
    errors = targets[150:] - head.intercept_ - K[150:, :150] @ dual
    np.testing.assert_allclose(head.error_, (errors**2).sum(axis=1).mean(), rtol=0.01)


def test_the_factor_predicts_each_row_by_those_before_it():
    X, y = rings(120, 0)
    head = ExactHead(Gaussian(0.7), 1e-2).fit(X, y)
    rows = head.X_fit_.astype(float)
    place = {row.tobytes(): i for i, row in enumerate(X)}
    codes = y[[place[row.tobytes()] for row in head.X_fit_]]
    targets, K = 2 * np.eye(3)[codes] - 1, Gaussian(0.7)(rows)
    values = np.array(
        [
            K[i, :i] @ solved(K[:i, :i], np.full(i, 1.2), targets[:i], head.intercept_) + head.intercept_
            for i in range(90, 120)
        ]
    )
    np.testing.assert_allclose(head.error_, ((values - targets[90:]) ** 2).sum(axis=1).mean(), rtol=1e-3)
    loss = minimize_scalar(lambda s: log_loss(codes[90:], softmax(s * values)), bounds=(0.01, 100)).x
    np.testing.assert_allclose(head.factor_, loss, rtol=0.02)


def softmax(scores):
    found = np.exp(scores - scores.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def test_held_out_probabilities_of_noisy_labels_are_near_the_truth():
    """The mean distance is .05 here; the bound is twice that of other seeds."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 2))
    truth = 1 / (1 + np.exp(-2 * np.sin(2 * X[:, 0]) - X[:, 1]))
    y = np.where(rng.random(1500) < truth, "yes", "no")
    head = ExactHead(Matern(1.5, 2.0), 0.03).fit(X[:1000], y[:1000])
    assert np.abs(head.predict_proba(X[1000:])[:, 1] - truth[1000:]).mean() < 0.12


@pytest.mark.parametrize("fewest", [-1000, 4000])
def test_a_ridge_below_rounding_is_made_larger(fewest, monkeypatch):
    monkeypatch.setattr(exact_head, "_FEWEST", fewest)
    X, y = rings(300, 0)
    head = ExactHead(Gaussian(100.0), 1e-14).fit(X, y)
    assert np.isfinite(head.decision_function(X)).all()


def test_the_best_factor_has_the_least_log_loss():
    rng = np.random.default_rng(0)
    scores, codes, weights = rng.standard_normal((200, 3)), rng.integers(0, 3, 200), rng.random(200)
    scores[np.arange(200), codes] += 1
    factor, loss = best_factor(scores, codes, weights)
    losses = [
        log_loss(codes, softmax(s * scores), sample_weight=weights)
        for s in (factor * 0.98, factor, factor * 1.02)
    ]
    assert losses[1] <= min(losses)
    np.testing.assert_allclose(loss, losses[1])

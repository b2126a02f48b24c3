"""Newton's method: the objective of liblinear and of L-BFGS, reached to the tolerance asked for."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_diabetes, load_digits
from sklearn.exceptions import ConvergenceWarning

from rflib.kernels import Gaussian
from rflib.learners import newton
from rflib.learners.svm import LinearSVM, LinearSVR
from rflib.maps import ORF

TOL = 1e-4


def features(n_components, rows, dtype=np.float64):
    X, y = load_digits(return_X_y=True)
    return ORF(Gaussian(30.0), n_components=n_components, random_state=0).fit_transform(
        X[:rows].astype(dtype)
    ), y[:rows]


def objective(Z, y, coef, C):
    """The squared hinge's objective for each row of weights, one-vs-rest over the sorted labels."""
    labels = np.unique(y)
    signs = np.where(y[:, None] == (labels if len(labels) > 2 else labels[1:]), 1.0, -1.0)
    loss = np.maximum(0, 1 - signs * (Z @ coef.T)) ** 2
    return (coef**2).sum(axis=1) / 2 + C * loss.sum(axis=0)


def least_objective(Z, y, C):
    """The minimum for two classes by another method: L-BFGS to machine precision."""
    sign = np.where(y == y.max(), 1.0, -1.0)

    def value_and_gradient(w):
        excess = np.maximum(0, 1 - sign * (Z @ w))
        return w @ w / 2 + C * excess @ excess, w - 2 * C * (sign * excess) @ Z

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 50}
    return minimize(
        value_and_gradient, np.zeros(Z.shape[1]), jac=True, method="L-BFGS-B", options=options
    ).fun


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1000.0])
@pytest.mark.parametrize(("n_components", "rows"), [(64, 1797), (300, 900), (500, 300)])
def test_reaches_liblinears_objective(n_components, rows, C, dtype):
    Z, y = features(n_components, rows, dtype)
    ours = LinearSVM(C=C, solver="newton", tol=TOL).fit(Z, y)
    theirs = LinearSVM(C=C, tol=1e-6).fit(Z, y)
    exact = Z.astype(np.float64)
    least = objective(exact, y, theirs.coef_, C)
    assert np.all(objective(exact, y, ours.coef_, C) <= (1 + TOL) * least)
    assert np.mean(ours.predict(Z) == theirs.predict(Z)) > 0.99


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_gap_is_a_bound(C, tol):
    Z, y = features(200, 900)
    y = y > 4
    ours = objective(Z, y, LinearSVM(C=C, solver="newton", tol=tol).fit(Z, y).coef_, C)[0]
    assert ours <= (1 + 1.01 * tol) * least_objective(Z, y, C)


@pytest.mark.parametrize("rows", [1, 5, 400])
def test_direct_and_conjugate_gradient_steps_end_alike(rows, monkeypatch):
    Z, y = features(100, 400)
    y = y % 2
    expected = LinearSVM(C=10.0, solver="newton", tol=1e-10).fit(Z, y).coef_
    monkeypatch.setattr(newton, "_FEW_ROWS", rows)
    found = LinearSVM(C=10.0, solver="newton", tol=1e-10).fit(Z, y).coef_
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 20.0])
@pytest.mark.parametrize("C", [0.01, 1000.0])
def test_regression_equals_liblinear(C, epsilon, fit_intercept):
    X, y = load_diabetes(return_X_y=True)
    settings = {"C": C, "epsilon": epsilon, "fit_intercept": fit_intercept}
    ours = LinearSVR(**settings, solver="newton", tol=1e-12).fit(X, y)
    theirs = LinearSVR(**settings, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4 * np.abs(theirs.coef_).max())
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-4)


def test_values_within_the_tube_need_no_weights():
    X = np.random.default_rng(0).standard_normal((20, 3))
    np.testing.assert_array_equal(LinearSVR(solver="newton", epsilon=2.0).fit(X, np.ones(20)).coef_, 0)


def test_intercept_and_labels_in_any_order():
    Z, y = features(100, 600)
    names = np.array([f"digit {9 - digit}" for digit in y])[::-1]
    ours = LinearSVM(solver="newton", fit_intercept=True, tol=1e-10).fit(Z[::-1], names)
    theirs = LinearSVM(fit_intercept=True, tol=1e-10).fit(Z[::-1], names)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


def test_cross_validation_chooses_as_liblinear():
    Z, y = features(100, 600)
    ours = LinearSVM(C="cv", solver="newton", tol=1e-8).fit(Z, y)
    theirs = LinearSVM(C="cv", tol=1e-8).fit(Z, y)
    np.testing.assert_allclose(ours.cv_errors_, theirs.cv_errors_, atol=1 / 119)
    assert ours.C_ == theirs.C_


@pytest.mark.parametrize("settings", [{"loss": "hinge"}, {"dual": True}])
def test_only_squared_losses_in_the_primal(settings):
    with pytest.raises(ValueError, match="squared loss in the primal"):
        LinearSVM(solver="newton", **settings).fit(np.eye(4), [0, 1, 0, 1])


def test_says_when_it_stops_early():
    Z, y = features(64, 300)
    with pytest.warns(ConvergenceWarning, match="after 1 iterations. Raise max_iter"):
        LinearSVM(solver="newton", max_iter=1).fit(Z, y)
    with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
        assert LinearSVM(solver="newton", max_iter=2, tol=1e-30).fit(Z, y).n_iter_ == 2

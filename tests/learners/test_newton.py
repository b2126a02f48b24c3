"""Newton's method: the objective of liblinear and of L-BFGS, reached to the tolerance asked for."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_diabetes, load_digits
from sklearn.exceptions import ConvergenceWarning

from rflib.kernels import Gaussian
from rflib.learners import newton
from rflib.learners.row_sources import ArrayRows
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


def fitted(X, y, passes, **options):
    """Return a machine, its objective for the labels -1 and 1, and what it warned of."""
    model = LinearSVM(solver="newton", **options)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        model.fit_blocks(ArrayRows(X, y, block_size=7)) if passes else model.fit(X, y)
    values = X.astype(np.float64) @ model.coef_[0]
    loss = np.maximum(0, 1 - y * values) ** 2
    return model, model.coef_[0] @ model.coef_[0] / 2 + model.C_ * loss.sum(), [w.category for w in issued]


@pytest.mark.parametrize("passes", [False, True])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6, 1e18])
@pytest.mark.parametrize("tol", [1e-8, 1e-30])
def test_single_precision_ends_where_it_has_no_more_digits(passes, C, tol):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)).astype(np.float32)
    y = np.where(X[:, 0] + rng.standard_normal(60) > 0, 1.0, -1.0)
    model, found, issued = fitted(X, y, passes, C=C, tol=tol)
    least = fitted(X.astype(np.float64), y, False, C=C)[1]
    assert found <= (1 + 1e-4) * least
    assert model.n_iter_ <= 20
    assert issued in ([], [ConvergenceWarning])


@pytest.mark.parametrize("passes", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("size", "C"), [(1.0, 1e18), (1e8, 1.0), (1e15, 1e6)])
def test_repeated_rows_at_any_cost(passes, dtype, size, C):
    """The weights of least norm on the margin, to the digits of the rows."""
    rows = np.random.default_rng(0).standard_normal((3, 5))
    X, y = (np.repeat(rows, 4, axis=0) * size).astype(dtype), np.repeat([1.0, -1.0, 1.0], 4)
    model, _, issued = fitted(X, y, passes, C=C)
    expected = np.linalg.pinv(X.astype(np.float64)[::4]) @ y[::4]
    tolerance = 1e-5 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(model.coef_[0], expected, atol=tolerance * np.abs(expected).max())
    assert issued in ([], [ConvergenceWarning])


@pytest.mark.parametrize("passes", [False, True])
def test_opposite_labels_zeros_and_columns_of_any_size(passes):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), np.tile([1.0, -1.0], 15)
    assert not fitted(np.zeros((30, 3)), y, passes)[0].coef_.any()
    assert np.abs(fitted(np.repeat(X[:15], 2, axis=0) * 1e8, y, passes)[0].coef_).max() < 1e-20
    wide, plain = (fitted(np.column_stack([X, np.full(30, size)]), y, passes)[0] for size in (1e9, 1.0))
    np.testing.assert_allclose(wide.coef_[0, :3], plain.coef_[0, :3], atol=0.05)


@pytest.mark.parametrize("passes", [False, True])
def test_weights_at_a_tiny_cost_have_the_direction_of_the_gradient(passes):
    X, y = np.random.default_rng(0).standard_normal((30, 3)), np.tile([1.0, -1.0], 15)
    found = fitted(X, y, passes, C=1e-12)[0].coef_[0]
    np.testing.assert_allclose(found, 2e-12 * (y @ X), rtol=1e-6)


def test_the_warning_says_what_was_reached():
    X, y = np.random.default_rng(0).standard_normal((30, 3)).astype(np.float32), np.tile([1.0, -1.0], 15)
    with pytest.warns(
        ConvergenceWarning, match=r"gap of .* after \d+ iterations. Rounding errors in float32"
    ):
        LinearSVM(solver="newton", C=1e12, tol=1e-12).fit(X, y)


def test_features_whose_products_overflow_are_solved_or_named():
    X, y = 1e200 * np.random.default_rng(0).standard_normal((30, 3)), np.tile([1.0, -1.0], 15)
    assert np.isfinite(fitted(X, y, False)[0].coef_).all()
    with pytest.raises(ValueError, match=r"products of the features overflow\. Scale the features"):
        fitted(X, y, True)

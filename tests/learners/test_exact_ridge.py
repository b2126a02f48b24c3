"""Exact-kernel ridge regression: that of scikit-learn on definite kernels, its equations on indefinite ones."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.learners import KRR, KRRClassifier
from rflib.learners.exact_ridge import ExactKRR, ExactKRRClassifier

INDEFINITE = DeltaGaussian(coefficients=(1, -0.6), sigmas=(1, 3))


class EigenFeatures:
    """Signed features of a kernel matrix, exact on its own rows."""

    def __init__(self, K):
        values, vectors = np.linalg.eigh(K)
        self.Z, self.signature = vectors * np.sqrt(np.abs(values)), np.where(values < 0, -1.0, 1.0)


@pytest.mark.parametrize("ridge", ["n_lambda", "lambda"])
def test_krr_is_kernel_ridge(smooth_data, ridge):
    X, y = smooth_data
    ours = ExactKRR(Gaussian(sigma=2), alphas=0.01, ridge=ridge).fit(X, y)
    penalty = 0.01 * (len(y) if ridge == "n_lambda" else 1)
    theirs = KernelRidge(kernel="rbf", gamma=0.125, alpha=penalty).fit(X, y - y.mean())
    np.testing.assert_allclose(ours.predict(X[::-1]), theirs.predict(X[::-1]) + y.mean(), rtol=1e-8)


@pytest.mark.parametrize("kernel", [Gaussian(), INDEFINITE], ids=["definite", "indefinite"])
@pytest.mark.parametrize("ridge", ["n_lambda", "lambda"])
@pytest.mark.parametrize("n_alphas", [3, 18])
def test_krr_and_random_feature_krr_agree_on_exact_features(smooth_data, kernel, ridge, n_alphas):
    X, y = smooth_data
    features = EigenFeatures(kernel(X))
    alphas = np.logspace(-2, 0, n_alphas)
    exact = ExactKRR(kernel, alphas=alphas, ridge=ridge, cv=5).fit(X, y)
    featured = KRR(alphas=alphas, ridge=ridge, cv=5, signature=features.signature, signed="krein").fit(
        features.Z, y
    )
    assert exact.alpha_ == featured.alpha_
    np.testing.assert_allclose(exact.cv_errors_, featured.cv_errors_, rtol=1e-5)
    np.testing.assert_allclose(exact.predict(X), featured.predict(features.Z), rtol=1e-6)


@pytest.mark.parametrize("criterion", ["squared_error", "error_rate"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_classifiers_agree_on_exact_features(smooth_data, criterion, n_classes):
    X, y = smooth_data
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes)) + 10
    Z = EigenFeatures(Gaussian()(X)).Z
    exact = ExactKRRClassifier(Gaussian(), criterion=criterion).fit(X, labels)
    featured = KRRClassifier(criterion=criterion).fit(Z, labels)
    np.testing.assert_allclose(exact.cv_errors_, featured.cv_errors_, rtol=1e-8)
    np.testing.assert_allclose(exact.decision_function(X), featured.decision_function(Z), atol=1e-8)
    np.testing.assert_array_equal(exact.predict(X), featured.predict(Z))
    assert exact.score(X, labels) > 0.7


def test_several_targets(smooth_data):
    X, y = smooth_data
    both = ExactKRR(alphas=0.1).fit(X, np.column_stack([y, X[:, 2]]))
    np.testing.assert_allclose(both.predict(X)[:, 0], ExactKRR(alphas=0.1).fit(X, y).predict(X), rtol=1e-12)


def test_singular_system():
    with pytest.raises(ValueError, match="singular"):
        ExactKRR(lambda z: z, alphas=1.0, ridge="lambda").fit([[0.0], [1.0]], [0.0, 1.0])

"""Exact-kernel learners: equal to scikit-learn's on definite kernels, to their equations on indefinite ones."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR

from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.polynomial import SphericalPolynomial
from rflib.learners.exact import ExactKernelSVC, ExactKernelSVR, ExactKRR, ExactKRRClassifier
from rflib.learners.krr import KRR, KRRClassifier

INDEFINITE = DeltaGaussian(coefficients=(1, -0.6), sigmas=(1, 3))


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(120) + 3


class EigenFeatures:
    """Signed features of a kernel matrix, exact on its own rows."""

    def __init__(self, K):
        values, vectors = np.linalg.eigh(K)
        self.Z, self.signature = vectors * np.sqrt(np.abs(values)), np.where(values < 0, -1.0, 1.0)


def test_svc_and_svr_equal_scikit_learn(data):
    X, y = data
    labels = np.digitize(y, [2.5, 3.5])
    gaussian = {"kernel": "rbf", "gamma": 0.125, "C": 3}
    theirs = SVC(**gaussian).fit(X, labels)
    ours = ExactKernelSVC(Gaussian(sigma=2), C=3).fit(X, labels)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    regression = ExactKernelSVR(Gaussian(sigma=2), C=3, epsilon=0.2).fit(X, y)
    np.testing.assert_allclose(
        regression.predict(X), SVR(**gaussian, epsilon=0.2).fit(X, y).predict(X), atol=1e-6
    )


def test_svc_on_an_indefinite_kernel_ends_at_a_stationary_point(data):
    X, y = data
    signs = np.where(y > 3, 1, -1)
    K = INDEFINITE(X)
    assert np.linalg.eigvalsh(K)[0] < -0.5
    machine = ExactKernelSVC(INDEFINITE, C=1, tol=1e-6).fit(X, signs).machine_
    beta = np.zeros(len(X))
    beta[machine.support_] = machine.dual_coef_[0]
    margins = signs * (K @ beta + machine.intercept_[0])
    cost = signs * beta
    assert abs(beta.sum()) < 1e-9
    assert np.all(margins[cost < 1e-9] > 1 - 1e-5)
    assert np.all(margins[cost > 1 - 1e-9] < 1 + 1e-5)
    np.testing.assert_allclose(margins[(cost > 1e-9) & (cost < 1 - 1e-9)], 1, atol=1e-5)


@pytest.mark.parametrize("ridge", ["n_lambda", "lambda"])
def test_krr_is_kernel_ridge(data, ridge):
    X, y = data
    ours = ExactKRR(Gaussian(sigma=2), alphas=0.01, ridge=ridge).fit(X, y)
    penalty = 0.01 * (len(y) if ridge == "n_lambda" else 1)
    theirs = KernelRidge(kernel="rbf", gamma=0.125, alpha=penalty).fit(X, y - y.mean())
    np.testing.assert_allclose(ours.predict(X[::-1]), theirs.predict(X[::-1]) + y.mean(), rtol=1e-8)


@pytest.mark.parametrize("kernel", [Gaussian(), INDEFINITE], ids=["definite", "indefinite"])
@pytest.mark.parametrize("ridge", ["n_lambda", "lambda"])
@pytest.mark.parametrize("n_alphas", [3, 18])
def test_krr_and_random_feature_krr_agree_on_exact_features(data, kernel, ridge, n_alphas):
    X, y = data
    features = EigenFeatures(kernel(X))
    alphas = np.logspace(-2, 0, n_alphas)
    exact = ExactKRR(kernel, alphas=alphas, ridge=ridge).fit(X, y)
    featured = KRR(alphas=alphas, ridge=ridge, signature=features.signature, signed="krein").fit(
        features.Z, y
    )
    assert exact.alpha_ == featured.alpha_
    np.testing.assert_allclose(exact.cv_errors_, featured.cv_errors_, rtol=1e-5)
    np.testing.assert_allclose(exact.predict(X), featured.predict(features.Z), rtol=1e-6)


@pytest.mark.parametrize("criterion", ["squared_error", "error_rate"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_classifiers_agree_on_exact_features(data, criterion, n_classes):
    X, y = data
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes)) + 10
    Z = EigenFeatures(Gaussian()(X)).Z
    exact = ExactKRRClassifier(Gaussian(), criterion=criterion).fit(X, labels)
    featured = KRRClassifier(criterion=criterion).fit(Z, labels)
    np.testing.assert_allclose(exact.cv_errors_, featured.cv_errors_, rtol=1e-8)
    np.testing.assert_allclose(exact.decision_function(X), featured.decision_function(Z), atol=1e-8)
    np.testing.assert_array_equal(exact.predict(X), featured.predict(Z))
    assert exact.score(X, labels) > 0.7


def test_several_targets(data):
    X, y = data
    both = ExactKRR(alphas=0.1).fit(X, np.column_stack([y, X[:, 2]]))
    np.testing.assert_allclose(both.predict(X)[:, 0], ExactKRR(alphas=0.1).fit(X, y).predict(X), rtol=1e-12)


def test_singular_system():
    with pytest.raises(ValueError, match="singular"):
        ExactKRR(lambda z: z, alphas=1.0, ridge="lambda").fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("learner", [ExactKRR, ExactKernelSVR])
def test_a_callable_kernel_is_a_function_of_the_distance_as_in_the_maps(data, learner):
    named = learner(Gaussian(sigma=2)).fit(*data).predict(data[0])
    np.testing.assert_allclose(learner(lambda z: np.exp(-(z**2) / 8)).fit(*data).predict(data[0]), named)
    with pytest.raises(ValueError, match=f"{learner.__name__}: kernel must be .* function of one array"):
        learner(lambda X, Y: X @ Y.T).fit(*data)
    with pytest.raises(ValueError, match="A callable kernel is a function of the distance"):
        learner(lambda X, Y=None: np.add.outer(X, X)).fit(*data)


@pytest.mark.parametrize("learner", [ExactKernelSVC, ExactKRRClassifier])
def test_the_kernel_s_own_errors_come_through(data, learner):
    X, y = data
    with pytest.raises(ValueError, match="unit norm"):
        learner(SphericalPolynomial(a=4, p=3)).fit(X, y > 3)
    with pytest.raises(ValueError, match="NaN or infinity"):
        learner(lambda z: np.full_like(z, np.nan)).fit(X, y > 3)

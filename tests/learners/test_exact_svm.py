"""Exact-kernel SVMs: equal to scikit-learn's on definite kernels, stationary points on indefinite ones."""

import numpy as np
from sklearn.svm import SVC, SVR

from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.learners.exact_svm import ExactKernelSVC, ExactKernelSVR

INDEFINITE = DeltaGaussian(coefficients=(1, -0.6), sigmas=(1, 3))


def test_svc_and_svr_equal_scikit_learn(smooth_data):
    X, y = smooth_data
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


def test_svc_on_an_indefinite_kernel_ends_at_a_stationary_point(smooth_data):
    X, y = smooth_data
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

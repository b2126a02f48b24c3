"""Probabilities of the classifiers, by scikit-learn's calibration of their values, as the guide has it."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.kernel_approximation import PolynomialCountSketch

from rflib.kernels import Gaussian
from rflib.learners import KRRClassifier, LinearSVM
from rflib.maps import RFF

MAP = RFF(Gaussian(1.0), n_components=64, random_state=0)


@pytest.fixture(scope="module")
def drawn():
    """Labels drawn from known probabilities of three classes."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (6000, 2))
    odds = np.exp(np.column_stack([2 * np.sin(2 * X[:, 0]), 2 * X[:, 1], np.zeros(len(X))]))
    true = odds / odds.sum(axis=1, keepdims=True)
    return X, (rng.random((len(X), 1)) > true.cumsum(axis=1)).sum(axis=1), true


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "classifier",
    [KRRClassifier(feature_map=MAP, alphas=1e-4), LinearSVM(feature_map=MAP, solver="newton")],
    ids=["KRRClassifier", "LinearSVM"],
)
def test_calibrated_probabilities_are_near_the_true_ones(drawn, classifier, classes):
    X, y, true = drawn
    kept = y < classes
    X, y, true = X[kept], y[kept], true[kept, :classes] / true[kept, :classes].sum(axis=1, keepdims=True)
    learner = CalibratedClassifierCV(classifier, ensemble=False).fit(X[:2000], y[:2000])
    found = learner.predict_proba(X[2000:])
    assert np.sqrt(np.mean((found - true[2000:]) ** 2)) < 0.1
    for k in range(classes):
        assert abs(found[:, k].mean() - np.mean(y[2000:] == k)) < 4 * np.sqrt(0.25 / 2000)


def test_calibration_passes_weights_and_sparse_rows(drawn):
    X, y, _ = drawn
    X, y = sparse.csr_array(np.maximum(X[:300], 0)), y[:300]
    sketch = PolynomialCountSketch(n_components=16, random_state=0)
    for classifier in (KRRClassifier(feature_map=sketch, alphas=1e-2), LinearSVM(feature_map=sketch)):
        plain = CalibratedClassifierCV(classifier).fit(X, y).predict_proba(X)
        weighted = (
            CalibratedClassifierCV(classifier).fit(X, y, sample_weight=1.0 + 3 * (y == 0)).predict_proba(X)
        )
        assert weighted[:, 0].mean() > plain[:, 0].mean() + 0.1

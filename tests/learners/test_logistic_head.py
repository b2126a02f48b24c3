"""The logistic regression of KernelClassifier beside scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from rflib.learners.logistic_head import LogisticHead


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_those_of_scikit_learn(n_classes, weighted):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes] * [1, 0.1, 0.01, 1], y[y < n_classes]
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    alpha = 1e-3
    head = LogisticHead(alpha).fit(X, y, weights if weighted else None)
    # of two classes scikit-learn has one vector, the difference of two, whose squares are twice theirs together
    C = (2 if n_classes == 2 else 1) / (weights.sum() * alpha)
    other = LogisticRegression(C=C, solver="newton-cg", tol=1e-10, max_iter=10_000).fit(X, y, weights)
    np.testing.assert_allclose(head.predict_proba(X), other.predict_proba(X), atol=2e-3)
    np.testing.assert_array_equal(head.predict(X), other.predict(X))

"""HardMarginSVM: the shortest separating vector, certified by its optimality conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.svm import SVC

from rflib.learners.hard_margin import HardMarginSVM


def separable(seed, n, d, margin):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, d))
    direction = rng.standard_normal(d)
    direction /= np.linalg.norm(direction)
    y = np.where(Z @ direction > 0, 1, -1)
    return Z + margin * y[:, None] * direction, y


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 60),
    d=st.integers(1, 20),
    margin=st.floats(0.01, 2),
    scale=st.floats(1e-6, 1e6),
)
def test_solution_meets_the_kkt_conditions(seed, n, d, margin, scale):
    Z, y = separable(seed, n, d, margin)
    if len(set(y)) < 2:
        return
    model = HardMarginSVM().fit(scale * Z, y)
    w = model.coef_[0] * scale
    slack = y * (Z @ w) - 1
    assert slack.min() > -1e-8
    assert 1 / np.linalg.norm(w) >= margin - 1e-8
    # w is a non-negative combination of the support vectors
    support = slack < 1e-6
    _, residual = nnls((y[support, None] * Z[support]).T, w)
    assert residual < 1e-6 * np.linalg.norm(w)
    np.testing.assert_allclose(model.margin_[0], scale / np.linalg.norm(w), rtol=1e-12)
    assert model.score(scale * Z, y) == 1


def test_it_is_the_limit_of_the_soft_margin():
    Z, y = separable(0, 40, 5, 0.3)
    mirrored, labels = np.vstack([Z, -Z]), np.concatenate([y, -y])  # takes the intercept out of SVC
    soft = SVC(kernel="linear", C=1e6, tol=1e-10).fit(mirrored, labels)
    np.testing.assert_allclose(HardMarginSVM().fit(Z, y).coef_, soft.coef_, rtol=1e-6)


def test_several_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 10)
    Z = np.eye(3)[np.repeat([0, 1, 2], 10)] + 0.1 * rng.standard_normal((30, 3))
    model = HardMarginSVM().fit(Z, y)
    assert model.coef_.shape == (3, 3)
    assert model.score(Z, y) == 1


@pytest.mark.parametrize(
    ("Z", "y"),
    [
        (np.array([[1.0], [2.0]]), [0, 1]),
        (np.zeros((4, 2)), [0, 1, 0, 1]),
        (np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), [0, 1, 1]),
    ],
    ids=["same side", "zero", "duplicate"],
)
def test_data_that_are_not_separable(Z, y):
    with pytest.raises(ValueError, match="do not separate class 1 from the other"):
        HardMarginSVM().fit(Z, y)


def test_the_class_that_is_not_separated_is_named():
    Z = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="class 'middle' from the others"):
        HardMarginSVM().fit(Z, ["end", "middle", "start"])

"""Weights of the exact learners and the hard-margin SVM: equal to repeated rows, for all kernels and repairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from rflib.kernels.delta_gaussian import DeltaGaussian
from rflib.kernels.gaussian import Gaussian
from rflib.learners.exact_ridge import ExactKRR, ExactKRRClassifier
from rflib.learners.exact_svm import ExactKernelSVC, ExactKernelSVR
from rflib.learners.hard_margin import HardMarginSVM
from rflib.learners.repair import REPAIRS

N = 30
RNG = np.random.default_rng(4)
X, NEW = RNG.standard_normal((N, 3)), RNG.standard_normal((20, 3))
Y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(N) + 3
LABELS = np.digitize(Y, [2.5, 3.5])
HALVES = np.arange(N) % 2
INDEFINITE = DeltaGaussian(coefficients=(1, -0.6), sigmas=(1, 3))
KERNELS = st.sampled_from([Gaussian(), INDEFINITE, "precomputed"])


def has_all_classes(counts):
    return all(len({*LABELS[(half == HALVES) & (np.array(counts) > 0)]}) == 3 for half in (0, 1))


def scaled(repair, scale):
    """One factor for all weights; the square of a repeated similarity is in proportion to the number of copies."""
    return 1.0 if repair == "square" else scale


COUNTS = st.lists(st.integers(0, 3), min_size=N, max_size=N).filter(has_all_classes).map(np.array)


def fitted(learner, targets, rows, sample_weight=None):
    """Return the learner fitted to these rows of X, and the rows to predict; folds hold all copies of a row."""
    learner = clone(learner)
    if "cv" in learner.get_params():
        learner.set_params(cv=[np.flatnonzero(part) for part in (HALVES[rows] == 0, HALVES[rows] == 1)])
        learner.set_params(cv=[learner.cv, learner.cv[::-1]])
    known = learner.kernel == "precomputed"
    given = (INDEFINITE(X[rows]), INDEFINITE(NEW, X[rows])) if known else (X[rows], NEW)
    return learner.fit(given[0], targets[rows], sample_weight=sample_weight), given[1]


def weighted_and_repeated(learner, targets, counts, scale=1.0):
    every = np.arange(N)
    return fitted(learner, targets, every, scale * counts), fitted(learner, targets, np.repeat(every, counts))


@settings(max_examples=60)
@given(
    counts=COUNTS,
    scale=st.sampled_from([1.0, 0.3, 7.0]),
    kernel=KERNELS,
    repair=st.sampled_from(REPAIRS),
    alphas=st.sampled_from([0.2, (0.05, 0.5), tuple(np.logspace(-1, 1, 17))]),
    criterion=st.sampled_from([None, "squared_error", "error_rate"]),
)
def test_ridge_with_weights_is_that_of_repeated_rows(counts, scale, kernel, repair, alphas, criterion):
    """Also with one factor for all weights, as c is in proportion to their sum."""
    scale = scaled(repair, scale)
    shared = {"kernel": kernel, "alphas": alphas, "repair": repair}
    learner = ExactKRRClassifier(criterion=criterion, **shared) if criterion else ExactKRR(**shared)
    targets = LABELS if criterion else np.column_stack([Y, Y**2])
    (weighted, new), (repeated, others) = weighted_and_repeated(learner, targets, counts, scale)
    assert weighted.alpha_ == repeated.alpha_
    if np.size(alphas) > 1:
        np.testing.assert_allclose(weighted.cv_errors_, repeated.cv_errors_, rtol=1e-7)
    values = "decision_function" if criterion else "predict"
    np.testing.assert_allclose(
        getattr(weighted, values)(new), getattr(repeated, values)(others), rtol=1e-7, atol=1e-9
    )


def test_the_ridge_of_weights_is_c_where_it_is_lambda():
    counts = np.arange(N) % 4
    learner = ExactKRR(Gaussian(), alphas=0.3, ridge="lambda")
    (weighted, new), (repeated, _) = weighted_and_repeated(learner, Y, counts)
    np.testing.assert_allclose(weighted.predict(new), repeated.predict(new), rtol=1e-9)


@settings(max_examples=40)
@given(
    counts=COUNTS,
    scale=st.sampled_from([1.0, 0.3, 7.0]),
    kernel=KERNELS,
    repair=st.sampled_from(["clip", "flip", "shift", "square"]),
    regression=st.booleans(),
)
def test_svms_with_weights_are_those_of_repeated_rows(counts, scale, kernel, repair, regression):
    """Where there is one solution: of a definite kernel."""
    scale = scaled(repair, scale)
    kind, targets = (ExactKernelSVR, Y) if regression else (ExactKernelSVC, LABELS)
    learner = kind(kernel, repair=repair, tol=1e-8)
    every = np.arange(N)
    weighted, new = fitted(clone(learner).set_params(C=1 / scale), targets, every, scale * counts)
    repeated, others = fitted(learner, targets, np.repeat(every, counts))
    values = "predict" if regression else "decision_function"
    np.testing.assert_allclose(getattr(weighted, values)(new), getattr(repeated, values)(others), atol=1e-5)


@pytest.mark.parametrize(
    "learner",
    [
        ExactKRR(Gaussian("median"), alphas=0.1, repair="flip"),
        ExactKRRClassifier("precomputed", alphas=0.1),
        ExactKernelSVC("precomputed", repair="shift"),
        ExactKernelSVR(Gaussian("scale")),
    ],
    ids=repr,
)
def test_rows_of_weight_zero_are_left_out(learner):
    kept = np.flatnonzero(np.arange(N) % 3)
    weights = np.isin(np.arange(N), kept)
    given = X if learner.kernel != "precomputed" else INDEFINITE(X)
    new = NEW if learner.kernel != "precomputed" else INDEFINITE(NEW, X)
    without, others = fitted(learner, LABELS, kept)
    weighted = clone(learner).fit(given, LABELS, sample_weight=weights)
    np.testing.assert_allclose(weighted.predict(new), without.predict(others), rtol=1e-9)
    if learner.kernel != "precomputed":
        np.testing.assert_array_equal(weighted.X_fit_, X[kept])
        assert weighted.kernel_ == without.kernel_


@settings(max_examples=15)
@given(counts=COUNTS)
def test_hard_margin_is_that_of_the_rows_with_weight(counts):
    Z = np.hstack([X, np.eye(N)])
    weighted = HardMarginSVM().fit(Z, LABELS, sample_weight=counts / 3)
    rows = np.repeat(np.arange(N), counts)
    np.testing.assert_allclose(weighted.coef_, HardMarginSVM().fit(Z[rows], LABELS[rows]).coef_, atol=1e-8)


@pytest.mark.parametrize("learner", [ExactKRRClassifier(), ExactKernelSVC(), HardMarginSVM()], ids=repr)
def test_one_class_with_weight_is_too_few(learner):
    with pytest.raises(
        ValueError, match=f"^{type(learner).__name__} needs two classes or more, got one class: 1"
    ):
        learner.fit(X, LABELS, sample_weight=LABELS == 1)


def test_a_fold_without_weight():
    with pytest.raises(ValueError, match=r"^ExactKRR: all rows of a fold of cv have the weight zero\."):
        fitted(ExactKRR(), Y, np.arange(N), 1.0 - HALVES)

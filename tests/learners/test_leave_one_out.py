"""Leave-one-out by one decomposition: the errors of fits without each row, and those of scikit-learn's RidgeCV."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold, LeaveOneOut

from rflib.kernels import DeltaGaussian, Gaussian
from rflib.learners import KRR, ArrayRows, ExactKRR, ExactKRRClassifier, KRRClassifier
from rflib.maps import GORF, RFF

ALPHAS = np.geomspace(1e-5, 1, 4)
N = 30
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
Y = np.column_stack([np.sin(X[:, 0]) + 5, X[:, 1] * X[:, 2]]) + 0.1 * RNG.standard_normal((N, 2))
WEIGHTS = RNG.integers(0, 4, N) / 2
MORE, FEWER = (RFF(Gaussian(1.5), D, random_state=0) for D in (40, 12))
LEARNERS = [
    KRR(feature_map=FEWER, alphas=ALPHAS),
    KRR(feature_map=MORE, alphas=ALPHAS),
    KRR(feature_map=FEWER, alphas=ALPHAS, ridge="lambda", block_size=7),
    KRR(feature_map=GORF(DeltaGaussian(), 40, random_state=0), alphas=ALPHAS, signed="positive"),
    ExactKRR(Gaussian(1.5), alphas=ALPHAS),
    ExactKRR(DeltaGaussian(coefficients=(1, -0.6), sigmas=(1, 3)), alphas=ALPHAS[1:]),
]


def without_each_row(learner, y, weights):
    """Predictions of fits without each row of weight, (n_alphas, n, t); NaN for rows without."""
    own = np.ones(len(y)) if weights is None else weights
    found = np.full((len(learner.alphas), *y.shape), np.nan)
    for i, alpha in enumerate(learner.alphas):
        one = clone(learner).set_params(alphas=alpha)
        for row in np.flatnonzero(own):
            rest = own.copy()
            rest[row] = 0
            found[i, row] = one.fit(X, y, sample_weight=rest).predict(X[row : row + 1])[0]
    return found


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner)[:70])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_errors_and_predictions_are_those_of_fits_without_each_row(learner, weights):
    found = clone(learner).fit(X, Y, sample_weight=weights)
    expected = without_each_row(learner, Y, weights)
    own = np.ones(N) if weights is None else weights
    errors = np.nansum(own[:, None] * (Y - expected) ** 2, axis=1).mean(axis=1) / own.sum()
    np.testing.assert_allclose(found.cv_errors_[:, 0], errors, rtol=1e-6)
    best = np.argmin(errors)
    assert found.alpha_ == learner.alphas[best] and found.best_score_ == -found.cv_errors_[best, 0]
    np.testing.assert_allclose(found.loo_predictions_, expected[best], rtol=1e-6, atol=1e-7)
    one = clone(learner).fit(X, Y[:, 0], sample_weight=weights)
    assert one.loo_predictions_.shape == (N,)


def peer_residuals(Z, y, penalties, weights):
    """The residuals of left-out rows by RidgeCV without an intercept, (n_penalties, n, t)."""
    peer = RidgeCV(
        penalties, fit_intercept=False, store_cv_results=True, scoring="neg_mean_squared_error"
    ).fit(Z, y, sample_weight=weights)
    return y - np.moveaxis(peer.cv_results_.reshape(*y.shape, len(penalties)), 2, 0)


def expected_residuals(Z, y, penalties, weights):
    """Those of our intercept, the mean of the other rows' targets: they are linear in the targets."""
    own = np.ones(len(y)) if weights is None else weights
    means = (own @ y - own[:, None] * y) / (own.sum() - own)[:, None]
    ones = peer_residuals(Z, np.ones((len(y), 1)), penalties, weights)
    return peer_residuals(Z, y, penalties, weights) - means * ones


@pytest.mark.parametrize("columns", [40, 300])
@pytest.mark.parametrize("weighted", [False, True])
def test_ridgecv_has_the_same_errors(columns, weighted):
    Z = RNG.standard_normal((150, columns))
    y = 3 + Z[:, :3] + RNG.standard_normal((150, 3))
    weights = RNG.random(150) + 0.1 if weighted else None
    penalties = np.geomspace(1e-2, 1e3, 9)
    left = expected_residuals(Z, y, penalties, weights)
    found = KRR(alphas=penalties, ridge="lambda").fit(Z, y, sample_weight=weights)
    errors = np.average((left**2).mean(axis=2), axis=1, weights=weights)
    np.testing.assert_allclose(found.cv_errors_[:, 0], errors, rtol=1e-8)
    assert found.alpha_ == penalties[np.argmin(errors)]
    exact = ExactKRR("precomputed", alphas=penalties, ridge="lambda").fit(Z @ Z.T, y, sample_weight=weights)
    np.testing.assert_allclose(exact.cv_errors_, found.cv_errors_, rtol=1e-8)


@pytest.mark.parametrize("columns", [40, 300])
@pytest.mark.parametrize("criterion", ["squared_error", "error_rate"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_labels_are_targets_of_plus_and_minus_one(columns, criterion, n_classes):
    Z = RNG.standard_normal((150, columns))
    labels = np.digitize(Z[:, 0] + RNG.standard_normal(150), [[0.0], [-0.7, 0.0, 0.7]][n_classes == 4])
    targets = np.where(labels[:, None] == ([1] if n_classes == 2 else np.arange(n_classes)), 1.0, -1.0)
    penalties = np.geomspace(1e-1, 1e3, 5)
    left = expected_residuals(Z, targets, penalties, None)
    values = targets - left
    codes = (values[..., 0] > 0) if n_classes == 2 else values.argmax(axis=2)
    errors = (codes != labels).mean(axis=1) if criterion == "error_rate" else (left**2).mean(axis=(1, 2))
    for learner, rows in (
        (KRRClassifier(), Z),
        (ExactKRRClassifier("precomputed"), Z @ Z.T),
    ):
        found = learner.set_params(alphas=penalties, ridge="lambda", criterion=criterion).fit(rows, labels)
        np.testing.assert_allclose(found.cv_errors_[:, 0], errors, rtol=1e-8)
        assert found.alpha_ == penalties[np.argmin(errors)]
        assert found.loo_predictions_.shape == found.decision_function(rows).shape


@pytest.mark.parametrize("height", [7, 20])
def test_blocks_are_made_again_where_there_are_many(height):
    """Features of more than 4 D rows are not kept, and the blocks change nothing."""
    learner = KRR(feature_map=RFF(Gaussian(1.5), 6, random_state=0), alphas=ALPHAS)
    whole = clone(learner).fit(X, Y)
    found = learner.set_params(block_size=height).fit(X, Y)
    np.testing.assert_allclose(found.cv_errors_, whole.cv_errors_, rtol=1e-9)
    np.testing.assert_allclose(found.loo_predictions_, whole.loo_predictions_, rtol=1e-9)


def test_what_cv_means():
    """None is leave-one-out for rows in memory, and 5 folds for streams; what is given stays what it is."""
    learner = KRR(feature_map=FEWER, alphas=ALPHAS)
    streams = [clone(learner).fit_blocks(ArrayRows(X, Y)), clone(learner).partial_fit(X, Y)]
    assert [found.cv_errors_.shape for found in streams] == [(4, 5), (4, 5)]
    assert not hasattr(streams[0], "loo_predictions_")
    groups = np.arange(N) % 3
    for kind in (learner, LEARNERS[4]):
        one_by_one = clone(kind).set_params(cv=LeaveOneOut()).fit(X, Y)
        found = clone(kind).fit(X, Y)
        np.testing.assert_allclose(one_by_one.cv_errors_.mean(axis=1), found.cv_errors_[:, 0], rtol=1e-7)
        assert clone(kind).set_params(cv=GroupKFold(3)).fit(X, Y, groups=groups).cv_errors_.shape == (4, 3)
        with pytest.raises(ValueError, match="groups need a splitter"):
            clone(kind).fit(X, Y, groups=groups)
    assert ExactKRR(alphas=ALPHAS, repair="clip").fit(X, Y).cv_errors_.shape == (4, 5)
    assert KRR(signature=[1, -1, 1], signed="krein", alphas=ALPHAS).fit(X, Y).cv_errors_.shape == (4, 5)


def test_more_rows_forget_what_was_left_out():
    found = KRR(feature_map=FEWER, alphas=ALPHAS).fit(X, Y)
    found.partial_fit(X[:5], Y[:5])
    assert not hasattr(found, "loo_predictions_") and not hasattr(found, "best_score_")
    assert found.coef_.shape == (2, 12)

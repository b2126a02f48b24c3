"""Doubly stochastic gradients: unbiased steps, the exact minimiser in the limit, features that are never kept."""

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone

from rflib.kernels.gaussian import Gaussian
from rflib.learners.doubly_stochastic import (
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
)
from rflib.learners.exact_ridge import ExactKRR
from rflib.learners.stochastic_steps import drawn_places, ends
from rflib.maps.rff import RFF


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 2


def test_first_step_is_unbiased(data):
    """Mean over 200 seeds of f after one step against step * mean_i k(x, x_i) y_i, at 20 points.

    z-scores above 4.5 have a probability of 1.4e-4 in 20 tries.
    """
    X, y = data
    expected = 0.5 * Gaussian()(X[:20], X) @ (y - y.mean()) / len(y)
    draws = np.array(
        [
            DoublyStochasticRegressor(
                RFF(n_components=16), n_blocks=1, batch_size=8, step_size=0.5, random_state=seed
            )
            .fit(X, y)
            .predict(X[:20])
            - y.mean()
            for seed in range(200)
        ]
    )
    z = (draws.mean(axis=0) - expected) / (draws.std(axis=0, ddof=1) / np.sqrt(len(draws)))
    assert np.abs(z).max() < 4.5


def test_it_approaches_exact_kernel_ridge(data):
    X, y = data
    exact = ExactKRR(Gaussian(), alphas=0.01).fit(X, y).predict(X)

    learner = DoublyStochasticRegressor(
        RFF(n_components=512), n_blocks=40, batch_size=64, alpha=0.01, step_size=4
    )
    stages = [values for _, values in learner.fit(X, y).staged_predict(X)]
    distances = [np.sqrt(np.mean((stages[i] - exact) ** 2)) / exact.std() for i in (3, 9, 39)]
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 0.05


@pytest.mark.parametrize("n_blocks", [1, 3, 5])
def test_stages_are_the_predictions_of_shorter_runs(data, n_blocks):
    X, y = data
    settings = {"batch_size": 32, "alpha": 0.1, "step_size": 2}
    stages = list(
        DoublyStochasticRegressor(RFF(n_components=16), n_blocks=5, **settings).fit(X, y).staged_predict(X)
    )
    short = DoublyStochasticRegressor(RFF(n_components=16), n_blocks=n_blocks, **settings).fit(X, y)
    assert [examples for examples, _ in stages] == [32, 64, 96, 128, 160]
    np.testing.assert_allclose(stages[n_blocks - 1][1], short.predict(X), rtol=1e-12)


def test_the_last_stage_of_a_classifier_is_its_prediction(data):
    X, y = data
    model = DoublyStochasticClassifier(RFF(n_components=16), n_blocks=3).fit(X, np.digitize(y, [1, 3]))
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1][1], model.predict(X))


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_error"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classification(data, loss, n_classes):
    X, y = data
    names = np.array(["low", "mid", "top"])[:n_classes]
    labels = names[np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))]
    learner = DoublyStochasticClassifier(RFF(n_components=256), loss=loss, n_blocks=15, step_size=4)
    assert learner.fit(X, labels).score(X, labels) > 0.8
    assert learner.decision_function(X).shape == ((200,) if n_classes == 2 else (200, 3))


def test_log_loss_approaches_exact_kernel_logistic_regression(data):
    X, y = data
    signs = np.where(y > y.mean(), 1, -1)
    K, f = Gaussian()(X), np.zeros(len(X))
    for _ in range(20):  # Newton's method in function values
        p = 1 / (1 + np.exp(signs * f))
        weights = p * (1 - p)
        f = K @ np.linalg.solve(K + 0.02 * len(X) * np.diag(1 / weights), f + signs * p / weights)
    learner = DoublyStochasticClassifier(
        RFF(n_components=512), n_blocks=30, batch_size=64, alpha=0.02, step_size=12
    )
    values = learner.fit(X, signs).decision_function(X)
    assert np.sqrt(np.mean((values - f) ** 2)) < 0.08 * f.std()


def test_predictions_are_repeatable_and_survive_pickling(data):
    X, y = data
    learner = DoublyStochasticRegressor(n_blocks=5).fit(X, y)
    again = DoublyStochasticRegressor(n_blocks=5).fit(X, y)
    first = learner.predict(X)
    np.testing.assert_array_equal(first, again.predict(X))
    np.testing.assert_array_equal(first, pickle.loads(pickle.dumps(learner)).predict(X))
    assert not np.array_equal(
        first, DoublyStochasticRegressor(n_blocks=5, random_state=1).fit(X, y).predict(X)
    )


def test_features_are_not_stored():
    """Ten times the blocks raise the peak by their coefficients, and by less than one block of features."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((500, 3)), rng.standard_normal(500)

    def peak(n_blocks):
        learner = DoublyStochasticRegressor(RFF(n_components=256), n_blocks=n_blocks, batch_size=500)
        tracemalloc.start()
        learner.fit(X, y)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(1)
    assert peak(20) - peak(2) < 18 * 256 * 8 + 500 * 256 * 8 / 4


class Signed(TransformerMixin, BaseEstimator):
    """Columns +c, -c of one random direction, c and 2c in size."""

    def __init__(self, random_state=None, measure="auto"):
        self.random_state = random_state
        self.measure = measure

    def spectrum(self, X):
        return len(X)

    def fit(self, X, y=None):
        assert self.measure == len(X)
        self.weights_ = np.random.default_rng(self.random_state).standard_normal(X.shape[1])
        self.signature_ = np.array([1.0, -1.0])
        return self

    def transform(self, X):
        c = np.cos(X @ self.weights_)
        return np.column_stack([c, 2 * c])


def test_signed_features_and_shared_spectrum(data):
    X, y = data
    positive = DoublyStochasticRegressor(Signed(), n_blocks=3, batch_size=20, signed="positive").fit(X, y)
    associated = DoublyStochasticRegressor(Signed(), n_blocks=3, batch_size=20).fit(X, y)
    assert positive.coefs_.shape == associated.coefs_.shape == (3, 2, 1)
    assert positive.coefs_[:, 0].all() and not positive.coefs_[:, 1].any()
    np.testing.assert_allclose(associated.coefs_[:, 1], 2 * associated.coefs_[:, 0])


def test_a_map_without_a_seed(data):
    class Fixed(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return X

    with pytest.raises(ValueError, match="parameter random_state"):
        DoublyStochasticRegressor(Fixed()).fit(*data)


def test_a_step_that_is_too_large(data):
    X, y = data
    with pytest.raises(ValueError, match="Lower step_size"):
        DoublyStochasticRegressor(n_blocks=40, step_size=1e6, alpha=1e-8).fit(X, y)


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((240, 3))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(240) + 3


SMALL = RFF(Gaussian(), n_components=16)


def test_partial_fit_makes_a_step_with_every_batch_and_goes_on_from_fit(stream):
    X, y = stream
    learner = DoublyStochasticClassifier(SMALL, batch_size=50)
    whole = clone(learner).partial_fit(X[:200], y[:200] > 3, classes=[False, True])
    blocks = clone(learner)
    for start in range(0, 200, 50):
        rows = slice(start, start + 50)
        blocks.partial_fit(X[rows], y[rows] > 3, classes=[False, True])
    np.testing.assert_array_equal(blocks.coefs_, whole.coefs_)
    np.testing.assert_array_equal(blocks.rows_drawn_, [50, 100, 150, 200])
    assert [rows for rows, _ in whole.staged_predict(X)] == [50, 100, 150, 200]
    fitted = DoublyStochasticRegressor(SMALL, n_blocks=3, batch_size=50).fit(X, y)
    steps = fitted.coefs_.copy()
    fitted.partial_fit(X, y)
    assert len(fitted.coefs_) == 3 + 5
    shrunk = np.prod(1 - 1e-3 * fitted._steps().sizes(np.arange(3, 8)))
    np.testing.assert_allclose(fitted.coefs_[:3], steps * shrunk)


def test_a_stream_learns(stream):
    X, y = stream
    learner = DoublyStochasticRegressor(SMALL, batch_size=30)
    for _ in range(5):
        learner.partial_fit(X, y)
    assert learner.score(X, y) > 0.5
    labels = DoublyStochasticClassifier(SMALL, batch_size=30, step_size=4)
    for _ in range(5):
        labels.partial_fit(X, y > 3, classes=[False, True])
    assert labels.score(X, y > 3) > 0.8


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_error"])
def test_the_weights_of_a_stream_are_repeated_rows(stream, loss):
    X, y = stream
    counts = np.random.default_rng(0).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), counts)
    y = np.digitize(y, [2.5, 3.5])
    learner = DoublyStochasticClassifier(SMALL, loss=loss, batch_size=1000)
    weighted, repeated = clone(learner), clone(learner)
    for _ in range(3):
        weighted.partial_fit(X[:60], y[:60], classes=[0, 1, 2], sample_weight=counts)
        repeated.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    np.testing.assert_allclose(weighted.coefs_, repeated.coefs_, atol=1e-12)
    regressor = DoublyStochasticRegressor(SMALL, batch_size=1000)
    np.testing.assert_allclose(
        clone(regressor).partial_fit(X[:60], y[:60], sample_weight=counts).predict(X),
        clone(regressor).partial_fit(X[rows], y[rows]).predict(X),
    )


def test_fit_draws_rows_as_often_as_their_weights_say():
    """Each count within five standard deviations of a binomial one: false alarms in 1 of 100,000 runs."""
    weights = np.array([0, 1, 2.5, 0, 4, 0.5])
    places = ends(0, 6, weights)
    drawn = np.searchsorted(places, drawn_places(0, 1, 100_000, places[-1])[0], side="right")
    share = weights / weights.sum()
    counts = np.bincount(drawn, minlength=6)
    assert np.all(np.abs(counts - 1e5 * share) <= 5 * np.sqrt(1e5 * share * (1 - share)))


def test_rows_without_weight_do_not_count_in_fit(stream):
    X, y = stream
    weights = (np.arange(240) < 120).astype(float)
    spoilt = np.where(weights > 0, y, 1e6)
    learner = DoublyStochasticRegressor(SMALL, n_blocks=10, batch_size=100).fit(
        X, spoilt, sample_weight=weights
    )
    assert learner.score(X[:120], y[:120]) > 0.2
    assert learner.intercept_ == pytest.approx(y[:120].mean())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_the_logistic_loss_are_calibrated(n_classes):
    """Labels drawn from known probabilities: each fifth of the predicted ones is right within four deviations."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 1))
    true = np.column_stack([1 / (1 + np.exp(-X)) ** k for k in range(n_classes)])
    true /= true.sum(axis=1, keepdims=True)
    y = (rng.random((6000, 1)) > true.cumsum(axis=1)).sum(axis=1)
    learner = DoublyStochasticClassifier(SMALL, n_blocks=25, batch_size=500, step_size=8).fit(
        X[:3000], y[:3000]
    )
    found = learner.predict_proba(X[3000:])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.mean(found.argmax(axis=1) == learner.predict(X[3000:])) == 1
    for k in range(n_classes):
        for part in np.array_split(np.argsort(found[:, k]), 5):
            expected = found[part, k]
            deviation = np.sqrt(np.sum(expected * (1 - expected)))
            assert abs(np.sum(y[3000:][part] == k) - expected.sum()) < 4 * deviation + 0.03 * len(part)
    with pytest.raises(AttributeError, match="predict_proba"):
        learner.set_params(loss="hinge").predict_proba(X)

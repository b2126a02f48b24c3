"""LearnedMetric finds what a target depends on, and changes nothing where there is nothing to find."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from rflib.kernels import Gaussian, Polynomial
from rflib.learners import KRR, LearnedMetric
from rflib.maps import ORF, MercerFeatures, Nystroem, TensorSketch

SMALL = Nystroem(Gaussian("scale"), 128)
FEW = ORF(Gaussian("scale"), 32)
MERCER = MercerFeatures(Gaussian("scale"), 128, axes="principal", random_state=0)


def ridge_function(n, seed, d=10, noise=0.3):
    """Return rows, targets sin(2 <u, x>) with noise, and u, of which one coordinate alone is not enough."""
    rng = np.random.default_rng(seed)
    X, u = rng.standard_normal((n, d)), rng.standard_normal(d)
    u /= np.linalg.norm(u)
    return X, np.sin(2 * X @ u) + noise * rng.standard_normal(n), u


def angle(metric, u):
    """Return the angle between the first eigenvector of a metric and a unit vector, in degrees."""
    return np.degrees(np.arccos(abs(np.linalg.eigh(metric)[1][:, -1] @ u)))


@pytest.mark.parametrize("n", [400, 1600, 6400])
def test_the_direction_of_a_ridge_function_is_found_at_the_rate_of_a_parametric_one(n):
    angles = []
    for seed in range(3):
        X, y, u = ridge_function(n, seed)
        found = LearnedMetric(SMALL, n_rounds=3, diagonal=False, random_state=seed).fit(X, y)
        assert found.round_ > 0
        angles.append(angle(found.metric_, u))
    assert max(angles) < 320 / np.sqrt(n)


def test_columns_without_influence_lose_their_weight():
    X, _, _ = ridge_function(1000, 0)
    found = LearnedMetric(SMALL, random_state=0).fit(X, X[:, 2] * X[:, 5])
    assert set(np.argsort(-found.feature_importances_)[:2]) == {2, 5}
    assert found.feature_importances_[[2, 5]].sum() > 0.9


def test_ridge_regression_on_transformed_rows_is_much_better():
    X, y, _ = ridge_function(1500, 1)
    metric = LearnedMetric(SMALL, random_state=0).fit(X[:1000], y[:1000])
    model = KRR(feature_map=ORF(Gaussian("scale"), 256, random_state=0))
    without = model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
    with_metric = model.fit(metric.transform(X[:1000]), y[:1000]).score(metric.transform(X[1000:]), y[1000:])
    assert with_metric > without + 0.3
    assert metric.search_[0]["error"] > min(each["error"] for each in metric.search_) + 0.3


@pytest.mark.parametrize("feature_map", [None, MERCER], ids=["default", "Mercer"])
def test_a_rotation_of_the_rows_rotates_the_metric(feature_map):
    X, y, _ = ridge_function(400, 2, d=5)
    turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))
    model = LearnedMetric(feature_map, n_rounds=2, diagonal=False, random_state=0)
    known, turned = (clone(model).fit(rows, y) for rows in (X, X @ turn))
    assert known.round_ == turned.round_ > 0
    np.testing.assert_allclose(turned.metric_, turn.T @ known.metric_ @ turn, atol=1e-3 * known.metric_.max())


@pytest.mark.parametrize("diagonal", [True, False])
def test_the_unit_of_the_rows_and_of_the_targets_does_not_matter(diagonal):
    X, y, _ = ridge_function(500, 3)
    known, scaled = (
        LearnedMetric(SMALL, diagonal=diagonal, random_state=0).fit(rows, targets)
        for rows, targets in ((X, y), (X / 64, 8 * y - 3))
    )
    assert known.round_ == scaled.round_ > 0
    np.testing.assert_allclose(scaled.metric_, known.metric_, atol=1e-6 * known.metric_.max())


def test_a_target_of_noise_does_no_harm():
    worse = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((1300, 5)), rng.standard_normal(1300)
        metric = LearnedMetric(SMALL, n_rounds=2, random_state=seed).fit(X[:300], y[:300])
        model = KRR(feature_map=ORF(Gaussian("scale"), 128, random_state=seed))
        scores = [
            model.fit(rows[:300], y[:300]).score(rows[300:], y[300:]) for rows in (X, metric.transform(X))
        ]
        worse.append(scores[0] - scores[1])
    assert np.mean(worse) < 0.01
    assert max(worse) < 0.05


def test_the_round_with_the_least_error_is_kept():
    X, y = StandardScaler().fit_transform(load_diabetes().data), load_diabetes().target
    kept = set()
    for seed in range(4):
        found = LearnedMetric(SMALL, n_rounds=2, random_state=seed).fit(X, y)
        best = min(found.search_, key=lambda each: each["error"])
        assert found.round_ == best["round"]
        assert (found.root_.ndim == 1) == best["diagonal"]
        assert [each["round"] for each in found.search_] == [0, 1, 2, 1, 2]
        assert [each["diagonal"] for each in found.search_] == [True, False, False, True, True]
        assert found.search_[0]["standard_error"] == 0 < found.search_[1]["standard_error"]
        kept.add(tuple(best.values())[:2])
    assert len(kept) > 1


def test_importances_do_not_depend_on_the_units_of_columns():
    X, y, _ = ridge_function(500, 1, d=4)
    found = LearnedMetric(SMALL, random_state=0).fit(X, y)
    weights = np.diag(found.metric_) * X.var(axis=0)
    np.testing.assert_allclose(found.feature_importances_, weights / weights.sum())


def test_equal_seeds_give_equal_metrics_and_others_hold_other_rows_out():
    X, y, _ = ridge_function(400, 4)
    first, second, other = (LearnedMetric(SMALL, random_state=seed).fit(X, y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.metric_, second.metric_)
    assert first.search_[0]["error"] != other.search_[0]["error"]


def test_distances_of_transformed_rows_are_those_of_the_metric():
    X, y, _ = ridge_function(400, 5)
    found = LearnedMetric(SMALL, random_state=0).fit(X, y)
    left, right = X[:5] - X[5:10], found.transform(X[:5]) - found.transform(X[5:10])
    np.testing.assert_allclose((right**2).sum(axis=1), np.einsum("ij,jk,ik->i", left, found.metric_, left))


def test_sparse_rows_stay_sparse_and_have_the_metric_of_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 30)) * (rng.random((400, 30)) < 0.2)
    y = X[:, 3] + X[:, 8] * X[:, 3]
    found = LearnedMetric(SMALL, random_state=0).fit(csr_array(X), y)
    transformed = found.transform(csr_array(X))
    assert transformed.format == "csr"
    assert transformed.nnz <= np.count_nonzero(X)
    dense = LearnedMetric(SMALL, diagonal=True, random_state=0).fit(X, y)
    assert found.round_ == dense.round_ > 0
    np.testing.assert_allclose(found.metric_, dense.metric_, atol=1e-6 * dense.metric_.max())
    np.testing.assert_allclose(transformed.toarray(), dense.transform(X), atol=1e-6)
    with pytest.raises(
        ValueError, match=r"diagonal=False would make sparse rows dense\. Leave diagonal='auto'"
    ):
        LearnedMetric(SMALL, diagonal=False).fit(csr_array(X), y)


def test_labels_are_learned_as_one_class_against_the_others():
    X, _, u = ridge_function(600, 6)
    labels = np.array(["low", "middle", "top"])[np.digitize(X @ u, [-0.3, 0.3])]
    of_classes = np.where(labels[:, None] == np.unique(labels), 1.0, -1.0)
    found, same = (LearnedMetric(SMALL, random_state=0).fit(X, targets) for targets in (labels, of_classes))
    np.testing.assert_allclose(
        angle(found.metric_, u), angle(same.metric_, u), atol=3
    )  # classes are not equally frequent, and columns have the same variance
    assert angle(found.metric_, u) < 15


def test_counts_are_numbers_if_the_task_says_so():
    X, _, u = ridge_function(600, 7)
    counts = np.digitize(X @ u, np.linspace(-1, 1, 5))
    found = LearnedMetric(SMALL, task="regression", random_state=0).fit(X, counts)
    same = LearnedMetric(SMALL, random_state=0).fit(X, counts.astype(float))
    np.testing.assert_allclose(found.metric_, same.metric_)


@pytest.mark.parametrize(
    "n, y", [(30, np.arange(30.0)), (60, np.full(60, "one class")), (60, np.full(60, 0.3))]
)
def test_where_nothing_can_be_learned_the_rows_stay_as_they_are(n, y):
    X = np.random.default_rng(0).standard_normal((n, 3))
    found = LearnedMetric().fit(X, y)
    assert (found.round_, found.search_) == (0, [])
    np.testing.assert_array_equal(found.metric_, np.eye(3))
    np.testing.assert_array_equal(found.transform(X), X)


@pytest.mark.filterwarnings("error")
def test_odd_columns_and_more_columns_than_rows_are_taken():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 90))
    X[:, 0], X[:, 1] = 1.0, X[:, 2]
    y = X[:, 1] + 0.1 * rng.standard_normal(60)
    found = LearnedMetric(FEW, random_state=0).fit(X.astype(np.float32), y)
    assert np.isfinite(found.metric_).all()
    assert found.transform(X.astype(np.float32)).dtype == np.float32


def test_memory_does_not_grow_as_rows_times_features():
    X, y, _ = ridge_function(4000, 0, d=20)
    model = LearnedMetric(n_rounds=1, diagonal=False, random_state=0)
    tracemalloc.start()
    model.fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 4000 * 512 * 8  # the gradients of all features would take 20 times one of these


class Counting(ORF):
    """ORF that counts the rows whose gradients it computed."""

    counted = 0

    def gradient_products(self, X, weights):
        type(self).counted += len(X)
        return super().gradient_products(X, weights)


@pytest.mark.parametrize("n_targets, expected", [(1, 3000), (5, 2000)])
def test_gradients_cost_no_more_than_the_models(n_targets, expected):
    X = np.random.default_rng(0).standard_normal((4000, 32))
    Counting.counted = 0
    model = LearnedMetric(Counting(Gaussian("scale"), 32), n_rounds=1, diagonal=True, random_state=0)
    model.fit(X, X[:, :n_targets])
    assert Counting.counted == expected


def test_frames_keep_their_names():
    X, y, _ = ridge_function(60, 0, d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    found = LearnedMetric(FEW, random_state=0).set_output(transform="pandas").fit(frame, y)
    assert list(found.feature_names_in_) == ["a", "b", "c"]
    assert list(found.transform(frame).columns) == [f"learnedmetric{j}" for j in range(3)]
    with pytest.raises(ValueError, match="feature names should match"):
        found.transform(frame[["b", "a", "c"]])


@pytest.mark.parametrize(
    "parameters, error, message",
    [
        ({"feature_map": TensorSketch(Polynomial(2), 20)}, TypeError, "^TensorSketch: .* no gradients"),
        ({"feature_map": "ORF"}, ValueError, "feature_map must be None or a feature map of rflib, got 'ORF'"),
        ({"n_rounds": 0}, ValueError, "n_rounds must be an integer of at least 1"),
        ({"diagonal": "full"}, ValueError, "diagonal must be one of True, False, 'auto'"),
        ({"task": "labels"}, ValueError, "task must be one of"),
        ({"random_state": -1}, ValueError, "random_state must be"),
    ],
)
def test_a_parameter_that_is_not_valid_is_named_and_the_fitted_metric_stays(parameters, error, message):
    X, y, _ = ridge_function(60, 0, d=3)
    found = clone(LearnedMetric(FEW, random_state=0)).fit(X, y)
    before = found.metric_
    with pytest.raises(error, match=message):
        found.set_params(**parameters).fit(X, y)
    np.testing.assert_array_equal(found.metric_, before)


def test_a_fault_is_named_with_its_row():
    X, y, _ = ridge_function(60, 0, d=3)
    gap, missing = X.copy(), y.copy()
    gap[4, 2], missing[7] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"LearnedMetric: in row 4: .* column 2"):
        LearnedMetric().fit(gap, y)
    with pytest.raises(ValueError, match="LearnedMetric: in row 7: "):
        LearnedMetric().fit(X, missing)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        LearnedMetric().fit(X, None)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_numbers_whose_squares_are_none_are_refused(size):
    X = np.random.default_rng(0).standard_normal((50, 3))
    for what, rows in (("X", (X * size, X[:, 0])), ("y", (X, X[:, 0] * size))):
        with pytest.raises(
            ValueError, match=f"^LearnedMetric: in row .*largest number of {what} is .* Divide {what}"
        ):
            LearnedMetric().fit(*rows)

"""KernelRegressor and KernelClassifier on tables of every kind, without a parameter."""

import pickle
import re
from dataclasses import asdict
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from rflib.kernels import Matern
from rflib.learners import KRR, GridEdgeWarning, KernelClassifier, KernelRegressor, ParquetRows
from rflib.learners.exact_head import ExactHead
from rflib.learners.logistic_head import LogisticHead
from rflib.learners.table_encoding import Table, level_texts
from rflib.learners.table_ridge import TableRidge
from rflib.learners.table_search import Choice, Search, kernel_part, sample, steps, thresholds
from rflib.maps import Nystroem


def table(n=300, seed=0):
    """A table of every kind of column, and targets that depend on most of them."""
    rng = np.random.default_rng(seed)
    number, skewed, count = rng.standard_normal(n), np.exp(rng.standard_normal(n)), rng.integers(0, 4, n)
    flag, level = rng.random(n) < 0.4, rng.choice(["red", "green", "blue"], n)
    city = rng.choice([f"city {i}" for i in range(60)], n)
    height = {f"city {i}": np.sin(i) for i in range(60)}
    y = np.sin(2 * number) + np.log(skewed) + (level == "red") * flag + [height[each] for each in city]
    frame = pd.DataFrame(
        {"number": number, "skewed": skewed, "count": count, "flag": flag, "level": level, "city": city}
    )
    frame["kind"] = pd.Categorical(np.where(count > 2, "many", "few"))
    frame["gaps"] = np.where(rng.random(n) < 0.2, np.nan, number)
    frame["whole"] = pd.array(np.where(rng.random(n) < 0.2, None, count), dtype="Int64")
    frame.loc[rng.random(n) < 0.1, "level"] = None
    return frame, y


def labels_of(y):
    return np.where(y > np.quantile(y, 0.6), "high", np.where(y > np.quantile(y, 0.2), "middle", "low"))


@pytest.fixture(scope="module")
def fitted():
    X, y = table(600)
    return KernelRegressor().fit(X[:450], y[:450]), X, y


def test_a_table_of_every_kind_of_column_needs_no_parameter(fitted):
    regressor, X, y = fitted
    assert regressor.score(X[450:], y[450:]) > 0.75  # the mean has 0, a linear model of the numbers .35
    labels = labels_of(y)
    classifier = KernelClassifier().fit(X[:450], labels[:450])
    assert classifier.score(X[450:], labels[450:]) > 0.75
    assert list(classifier.classes_) == ["high", "low", "middle"]
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)


def test_the_fitted_pipeline_is_scikit_learns_own_and_predicts_alone(fitted):
    regressor, X, _ = fitted
    assert type(regressor.pipeline_) is Pipeline
    check_is_fitted(regressor.pipeline_)
    np.testing.assert_array_equal(regressor.pipeline_.predict(X), regressor.predict(X))
    again = pickle.loads(pickle.dumps(regressor.pipeline_))
    np.testing.assert_array_equal(again.predict(X), regressor.predict(X))
    names = regressor.pipeline_[0].get_feature_names_out()
    assert any("level" in name for name in names)


def test_the_search_is_a_table_of_errors_and_seconds(fitted, capsys):
    regressor, X, y = fitted
    tried = pd.DataFrame(regressor.search_)
    assert {"numbers", "metric", "map", "width", "error", "seconds"} <= set(tried)
    assert (tried["error"] > 0).all() and len(tried) >= 4
    assert set(tried["numbers"]) == {"standard", "quantile", "both"}
    KernelRegressor(verbose=True).fit(X[:100], y[:100])
    assert capsys.readouterr().out.count("error") >= 4


def test_the_same_seed_gives_the_same_result(fitted):
    regressor, X, y = fitted
    one, other = (clone(regressor).fit(X[:120], y[:120]) for _ in range(2))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_standard_deviations_hold_for_new_targets(fitted):
    regressor, X, y = fitted
    mean, deviation = regressor.predict(X[450:], return_std=True)
    assert mean.shape == deviation.shape == (150,)
    inside = np.abs(y[450:] - mean) < 1.96 * deviation
    assert inside.mean() > 0.85  # .95 of the model's own targets


def test_unseen_levels_and_new_gaps_are_predicted(fitted):
    regressor, X, _ = fitted
    rows = X[:5].copy()
    rows["city"] = "a new city"
    rows["level"] = "a new colour"
    rows["number"] = np.nan
    assert np.isfinite(regressor.predict(rows)).all()


def test_columns_in_another_order_are_refused_and_their_order_in_fit_matters_little(fitted):
    regressor, X, y = fitted
    with pytest.raises(ValueError, match="feature names should match"):
        regressor.predict(X[X.columns[::-1]])
    other = KernelRegressor().fit(X[X.columns[::-1]][:450], y[:450])
    assert abs(other.score(X[X.columns[::-1]][450:], y[450:]) - regressor.score(X[450:], y[450:])) < 0.05


@pytest.mark.parametrize(
    ("column", "fault"),
    [
        (pd.date_range("2024-01-01", periods=30), "column 'when' of X holds dates"),
        ([np.datetime64("2024-01-01").astype(object)] * 30, "column 'when' of X holds dates"),
        ([np.inf] + [0.0] * 29, "contains infinity in column 'when', row 0"),
        ([(1, 2)] * 30, "Columns must hold numbers, booleans, categories or texts"),
        (np.ones(30) * 1j, "Columns must hold numbers, booleans, categories or texts"),
    ],
)
def test_what_no_column_may_hold_is_named_with_the_remedy(column, fault):
    frame = pd.DataFrame({"x": np.arange(30.0), "when": column})
    with pytest.raises(ValueError, match=fault):
        KernelRegressor().fit(frame, np.arange(30.0))


def small():
    """A table of two numbers, and targets."""
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 2)), columns=["p", "q"])
    return X, X["p"].to_numpy() + 1


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            lambda X: X.assign(q=[{"a": 1}] * 30),
            "column 'q' of X is of type object .mixed.*convert or drop it",
        ),
        (lambda X: X.assign(q=[[1, 2]] * 30), "column 'q' of X is of type object .mixed"),
        (lambda X: X.assign(q=[b"a"] * 30), "column 'q' of X is of type object .bytes"),
        (lambda X: X.assign(q=pd.interval_range(0, 30)), "column 'q' of X is of type interval"),
        (
            lambda X: X * 1e200,
            "row 6: the largest number of column 'p' of X is .*e.200.* Divide column 'p' of X by",
        ),
        (lambda X: X.assign(q=X["q"] * 1e-200), "largest number of column 'q' of X is .*e-200"),
        (lambda X: X.to_numpy() * 1e200, "largest number of column 0 of X"),
        (lambda X: sparse.csr_array(X.to_numpy() * 1e200), "largest number of X is"),
        (lambda X: X["p"], r"got a Series\. Give X\.to_frame\(\)"),
        (lambda X: X.set_axis(["a", "a"], axis=1), "several columns of X are called 'a'. Rename them"),
        (lambda X: X[:0], r"0 sample\(s\)"),
        (lambda X: X[[]], r"0 feature\(s\)"),
        (lambda X: X.to_dict("list"), r"X is a dict\. Give pandas.DataFrame\(X\)"),
    ],
)
def test_what_is_no_table_of_numbers_and_texts_is_told_in_one_line(change, fault):
    X, y = small()
    with pytest.raises((TypeError, ValueError), match=f"^KernelRegressor: .*{fault}") as told:
        KernelRegressor().fit(change(X), y)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("about", "fault"),
    [
        ({"groups": [None, *"abc" * 9, "a", "b"]}, "in row 0: Input groups contains None. Complete it"),
        ({"groups": np.r_[np.arange(29) % 3, np.nan]}, "in row 29: Input groups contains NaN"),
        ({"groups": np.ones((30, 2))}, r"groups must have a label for each of the 30 rows.*\(30, 2\)"),
        ({"groups": [1] * 29}, "groups must have a label for each of the 30 rows"),
        ({"sample_weight": [-1] * 30}, "in row 0: sample_weight is -1"),
        ({"sample_weight": [1] * 3}, "sample_weight must have a number for each of the 30 rows"),
        ({"y": np.full(30, 1e200)}, r"in row 0: the largest number of y is 1e\+200.* Divide y by 1e\+200"),
        ({"y": np.full(30, 1e-200)}, "in row 0: the largest number of y"),
    ],
)
def test_what_is_wrong_beside_the_table_is_told_in_one_line(about, fault):
    X, y = small()
    with pytest.raises(ValueError, match=f"^KernelRegressor: {fault}"):
        KernelRegressor().fit(**{"X": X, "y": y} | about)


def test_columns_of_unusual_types_are_those_of_their_values():
    X, y = small()
    rare = np.where(np.arange(30) % 5, 0.0, np.arange(30))
    plain = X.assign(rare=rare, whole=[1.0, np.nan, 2.0] * 10)
    odd = plain.assign(
        rare=pd.arrays.SparseArray(rare),
        whole=pd.Series([Decimal(1), None, Decimal(2)] * 10, dtype=object),
    )
    expected = KernelRegressor().fit(plain, y).predict(plain)
    np.testing.assert_allclose(KernelRegressor().fit(odd, y).predict(odd), expected, rtol=1e-4)
    every = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(plain.fillna(0)), columns=plain.columns)
    assert KernelRegressor().fit(every, y).predict(every[:1]).shape == (1,)
    repeated = odd.set_index(np.zeros(30, int))
    np.testing.assert_allclose(KernelRegressor().fit(repeated, y).predict(repeated), expected, rtol=1e-4)


def test_columns_of_new_rows_hold_what_those_of_the_fit_held():
    X, y = small()
    model = KernelRegressor().fit(X, y)
    for column, fault in (
        ("a", "held numbers in fit"),
        (np.inf, "infinity"),
        (pd.Timestamp(0), "holds dates"),
    ):
        with pytest.raises(ValueError, match=f"KernelRegressor: .*'?q'?.*{fault}|{fault} in column 'q'"):
            model.predict(X.assign(q=column))
    assert np.isfinite(model.predict(X.assign(q=True))).all()


def test_arrays_take_missing_values_and_columns_without_any_value():
    X, y = make_friedman1(300, noise=0.3, random_state=0)
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    X[:, 9] = np.nan
    model = KernelRegressor().fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.6
    frame = pd.DataFrame({"x": y, "nothing": np.full(300, np.nan), "none": [None] * 300})
    assert KernelRegressor().fit(frame, y).score(frame, y) > 0.95


def test_columns_of_a_million_times_the_scale_predict_the_same():
    X, y = make_friedman1(200, noise=0.3, random_state=0)
    scales = np.array([1e6, 1, 1e-6, 1, 1, 1, 1e6, 1, 1, 1])
    one, other = (KernelRegressor().fit(rows[:150], y[:150]) for rows in (X, X * scales))
    np.testing.assert_allclose(
        other.predict(X[150:] * scales), one.predict(X[150:]), rtol=1e-3, atol=1e-3 * np.ptp(y)
    )


@pytest.mark.parametrize("n", [2, 3, 10, 19, 25])
def test_few_rows_are_enough(n):
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((n, 3)), rng.standard_normal(n)
    assert np.isfinite(KernelRegressor().fit(X, y).predict(X)).all()
    labels = np.arange(n) % 2
    assert set(KernelClassifier().fit(X, labels).predict(X)) <= {0, 1}


def test_one_row_and_one_class_are_refused_and_change_nothing():
    with pytest.raises(ValueError, match="n_samples=1"):
        KernelRegressor().fit([[1.0]], [1.0])
    X, y = table(60)
    model = KernelClassifier().fit(X, y > 0)
    before = model.predict(X)
    with pytest.raises(ValueError, match="class"):
        model.fit(X, np.zeros(60))
    np.testing.assert_array_equal(model.predict(X), before)


def test_constant_targets_are_predicted():
    X, _ = table(60)
    np.testing.assert_allclose(KernelRegressor().fit(X, np.full(60, 3.0)).predict(X), 3, rtol=1e-6)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 45))
    y = 3 * X[:, 0] + X[:, 1]
    model = KernelRegressor().fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) > -0.2
    labels = KernelClassifier().fit(X[:40], X[:40].sum(axis=1) > 0)
    assert set(labels.predict(X)) <= {True, False}


def test_duplicated_rows_with_one_target_are_no_harm():
    X, y = make_friedman1(150, noise=0.5, random_state=1)
    twice = np.repeat(X[:100], 3, axis=0), np.repeat(y[:100], 3)
    assert KernelRegressor().fit(*twice).score(X[100:], y[100:]) > 0.5


@pytest.mark.nightly
def test_a_rare_class_is_found_with_balanced_weights():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3))
    y = (X[:, 0] + 0.5 * rng.standard_normal(500) > 2.2).astype(int)
    assert 0.01 < y.mean() < 0.05
    plain, balanced = (KernelClassifier(class_weight=w).fit(X, y) for w in (None, "balanced"))
    recall = [(model.predict(X)[y == 1] == 1).mean() for model in (plain, balanced)]
    assert recall[1] > max(0.8, recall[0])
    once = np.where(np.arange(60) < 59, "often", "once")
    assert set(KernelClassifier().fit(X[:60], once).predict(X)) <= {"often", "once"}


def test_weights_leave_rows_out_and_prefer_others():
    X, y = make_friedman1(200, noise=0.1, random_state=0)
    broken = y.copy()
    broken[::2] += 100
    weight = np.tile([0.0, 1.0], 100)
    left_out, removed = KernelRegressor().fit(X, broken, weight), KernelRegressor().fit(X[1::2], y[1::2])
    np.testing.assert_allclose(left_out.predict(X), removed.predict(X))
    light = KernelRegressor().fit(X, broken, np.where(weight == 0, 1e-6, 1))
    assert np.abs(light.predict(X[1::2]) - y[1::2]).mean() < 5


def test_rows_of_a_group_are_held_out_together():
    """Each group has a level of its own, which says nothing about another group."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 20)
    X = np.column_stack([rng.standard_normal(30)[groups], rng.standard_normal(600)])
    y = 3 * rng.standard_normal(30)[groups] + X[:, 1]
    apart, together = KernelRegressor().fit(X, y), KernelRegressor().fit(X, y, groups=groups)
    errors = [min(r["error"] for r in model.search_) for model in (apart, together)]
    assert errors[0] < 0.5 < 0.8 < errors[1]
    assert together.pipeline_[-1].alpha_ > 10 * apart.pipeline_[-1].alpha_


def test_sparse_rows():
    X, y = load_breast_cancer(return_X_y=True)
    rows = sparse.csr_array(np.where(np.median(X, axis=0) < X, X, 0))
    model = KernelClassifier().fit(rows[:400], y[:400])
    assert model.score(rows[400:], y[400:]) > 0.9


def test_several_targets():
    X, y = load_diabetes(return_X_y=True)
    model = KernelRegressor().fit(X[:300], np.column_stack([y, -y])[:300])
    found = model.predict(X[300:])
    assert found.shape == (142, 2)
    np.testing.assert_allclose(found[:, 0], -found[:, 1], rtol=1e-6, atol=1e-6 * y.max())


def test_as_good_as_tuned_linear_regression_where_that_is_right():
    X, y = load_diabetes(return_X_y=True)
    scaler = StandardScaler().fit(X[:300])
    linear = RidgeCV(np.logspace(-3, 3, 13)).fit(scaler.transform(X[:300]), y[:300])
    model = KernelRegressor().fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > linear.score(scaler.transform(X[300:]), y[300:]) - 0.03


def test_probabilities_are_calibrated():
    """Of 2,000 labels drawn with known probabilities, those of ten bins are within four standard errors."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 2))
    truth = 1 / (1 + np.exp(-2 * np.sin(X[:, 0]) - X[:, 1]))
    y = rng.random(4000) < truth
    model = KernelClassifier().fit(X[:2000], y[:2000])
    found = model.predict_proba(X[2000:])[:, 1]
    assert np.abs(found - truth[2000:]).mean() < 0.05
    for part in np.array_split(np.argsort(found), 10):
        p = found[part].mean()
        assert abs(p - y[2000:][part].mean()) < 4 * np.sqrt(p * (1 - p) / len(part)) + 0.02


def test_a_linear_trend_goes_on_beyond_the_training_rows():
    x = np.linspace(-2, 2, 300)[:, None]
    y = 3 * x[:, 0] + np.sin(4 * x[:, 0])
    model = KernelRegressor().fit(x[60:240], y[60:240])
    assert np.abs(model.predict(x[:30]) - 3 * x[:30, 0]).max() < 3  # a kernel alone goes to the mean, 6 above


def test_seconds_limit_the_search_and_the_columns():
    X, y = make_friedman1(1000, noise=0.3, random_state=0)
    model = KernelRegressor(seconds=0.01).fit(X, y)
    assert len(model.search_) == 1
    assert model.pipeline_["map"]["kernel"]["columns"].n_components_ == 128
    with pytest.raises(ValueError, match="seconds"):
        KernelRegressor(seconds=0).fit(X, y)


@pytest.mark.parametrize("kind", [pytest.param("regression", marks=pytest.mark.nightly), "classification"])
def test_files_of_rows_are_fitted_as_rows_in_memory(tmp_path, kind):
    X, y = make_friedman1(500, noise=0.3, random_state=0)
    frame = pd.DataFrame(X).add_prefix("x")
    learner = KernelRegressor() if kind == "regression" else KernelClassifier()
    target = y if kind == "regression" else np.where(y > np.median(y), "high", "low")
    frame.assign(y=target).to_parquet(tmp_path / "rows.parquet")
    streamed = clone(learner).fit(ParquetRows(tmp_path / "rows.parquet", target="y", block_size=300))
    here = clone(learner).fit(frame, target)
    fresh, truth = make_friedman1(1000, noise=0.3, random_state=1)
    fresh = pd.DataFrame(fresh).add_prefix("x")
    truth = truth if kind == "regression" else np.where(truth > np.median(y), "high", "low")
    assert abs(streamed.score(fresh, truth) - here.score(fresh, truth)) < 0.04
    if kind == "classification":
        chances = streamed.predict_proba(fresh)[:, 1]
        assert abs(chances.mean() - (truth == "low").mean()) < 0.05
    with pytest.raises(ValueError, match="hold y"):
        clone(learner).fit(ParquetRows(tmp_path / "rows.parquet", target="y"), target)


def test_dask_dataframes_are_taken():
    dd = pytest.importorskip("dask.dataframe")
    X, y = make_friedman1(200, noise=0.3, random_state=0)
    frame = pd.DataFrame(X).add_prefix("x").assign(y=y)
    lazy = dd.from_pandas(frame, npartitions=3)
    model = KernelRegressor().fit(lazy.drop(columns="y"), lazy["y"])
    assert model.predict(lazy.drop(columns="y")).compute().shape == (200,)
    assert model.score(frame.drop(columns="y"), y) > 0.9


def test_jumps_at_thresholds_are_learned_by_steps():
    """One of the thresholds is among values that 6 % of the rows have."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 4))
    X[:, 3] = np.where(rng.random(400) < 0.06, rng.integers(1, 1000, 400), 0)
    y = (X[:, 0] > 0.3) + 2.0 * (X[:, 1] > 0.6) - (X[:, 2] > 0.5) + 3.0 * (X[:, 3] > 500)
    model = KernelRegressor().fit(X[:300], y[:300])
    assert "steps" in dict(model.pipeline_["map"].transformer_list)
    assert model.score(X[300:], y[300:]) > 0.9  # .8 without steps
    found = thresholds(X)
    assert [len(each) for each in found[:3]] == [32, 32, 32] and 16 < len(found[3]) < 64
    assert len(thresholds(np.column_stack([X, X[:, 0] ** 3]))[4]) == 0  # those of the first column do
    made = steps(X, found)
    np.testing.assert_array_equal(made[:, 0] > 0, X[:, 0] > found[0][0])
    assert (made**2).sum(axis=1).max() <= 1


def test_rows_are_sampled_by_their_weights():
    weights = np.tile([1e-9, 1.0], 500)
    assert (sample(weights, 300, 0) % 2 == 1).all()
    counts = [
        np.bincount(sample(np.repeat([1.0, 3.0], 500), 100, seed) // 500, minlength=2) for seed in range(50)
    ]
    share = np.sum(counts, axis=0)[1] / 5000
    assert 0.70 < share < 0.77  # about .74, as some are drawn already; four standard errors are .025


def test_beside_quantiles_an_outlier_is_not_far_away():
    X = np.random.default_rng(0).standard_normal((200, 2))
    encoder = Table.of(None, X).encoder("both", "regression", 0).fit(X)
    values = encoder.transform(np.array([[0.0, 1e6], [0.0, -1e6]]))
    assert np.abs(values).max() < 6
    near = encoder.transform(X)[:, :2] / StandardScaler().fit_transform(X)
    assert ((near > 0.7) & (near <= 1)).all()


def chessboard(n, seed):
    """The colours of the fields of a chessboard, which need more landmarks than trials and fits have."""
    X = np.random.default_rng(seed).uniform(0, 8, (n, 2))
    return X, np.where(np.floor(X).sum(axis=1) % 2 == 0, "black", "white")


@pytest.mark.parametrize("is_weighted", [False, True])
def test_an_exact_kernel_is_used_where_features_are_too_few(is_weighted):
    X, y = chessboard(2000 + 300 * is_weighted, 0)
    weight = np.where(np.arange(2300) < 300, 0.0, 2.0) if is_weighted else None
    model = KernelClassifier().fit(X, y, weight)
    assert isinstance(model.pipeline_[-1], ExactHead)
    fresh, truth = chessboard(1000, 1)
    assert model.score(fresh, truth) > 0.9
    np.testing.assert_array_equal(model.pipeline_.predict(fresh), model.predict(fresh))
    tried = pd.DataFrame(model.search_)
    exact = tried[tried["map"] == "exact"]
    assert len(set(exact["width"])) > 1 and len(set(exact["ridge"])) == 3
    chances = model.predict_proba(fresh)
    own = chances[np.arange(1000), np.searchsorted(model.classes_, truth)]
    assert -np.log(own).mean() < 0.3


def test_features_stay_where_an_exact_kernel_is_not_better():
    X = np.random.default_rng(0).standard_normal((400, 3))
    y = X[:, 0] + np.random.default_rng(1).standard_normal(400) > 0
    assert isinstance(KernelClassifier().fit(X, y).pipeline_[-1], LogisticHead)


def test_texts_of_categories_are_those_of_their_values():
    values = [1.0, 2.5, None, 1.0]
    frame = pd.DataFrame({"a": pd.Categorical(values), "b": pd.Series(values, dtype=object)})
    expected = [["1", "1"], ["2.5", "2.5"], ["", ""], ["1", "1"]]
    np.testing.assert_array_equal(level_texts(frame), expected)


@pytest.fixture(scope="module")
def mixed():
    """A table with a gap, levels of few and of many, and a metric that finds what matters, and its targets."""
    rng = np.random.default_rng(0)
    n = 1600
    X = pd.DataFrame(
        {
            "noise": rng.standard_normal(n),
            "hour": rng.uniform(0, 24, n),
            "kind": pd.Categorical(rng.choice(["a", "b", "c"], n)),
            "place": rng.choice([f"p{i}" for i in range(60)], n),
            "rare": rng.choice(["x", "y", *(f"z{i}" for i in range(40))], n, p=[0.45, 0.45, *[0.0025] * 40]),
            "few": rng.integers(0, 3, n).astype(float),
        }
    )
    X.loc[::50, "hour"] = np.nan
    y = np.sin(X["hour"].fillna(0) / 2) + 0.3 * (X["kind"] == "a") + 0.1 * rng.standard_normal(n)
    return X, y.to_numpy()


def test_a_fitted_learner_says_what_it_chose_by_the_names_of_the_columns(mixed):
    X, y = mixed
    for model in (
        KernelRegressor().fit(X, y),
        KernelClassifier().fit(X, y > 0),
        KernelClassifier().fit(X, np.digitize(y, [-0.4, 0.4])),
    ):
        assert set(model.importances_) == set(X)
        assert next(iter(model.importances_)) == "hour"
        assert sum(model.importances_.values()) == pytest.approx(1)
        assert sorted(model.importances_.values(), reverse=True) == list(model.importances_.values())
        best = min(model.search_, key=lambda tried: tried["error"])
        assert model.choice_["metric"] in ("full", "diagonal")
        assert set(best) - {"error", "seconds"} <= set(model.choice_) | {"ridge"}
    unnamed = KernelRegressor().fit(X[["noise", "hour"]].fillna(0).to_numpy(), y)
    assert next(iter(unnamed.importances_)) == 1


def test_steps_of_a_pipeline_have_names_and_the_true_number_of_columns(mixed):
    X, y = mixed
    model = KernelRegressor().fit(X, y)
    names = model.pipeline_[:-1].get_feature_names_out()
    assert len(names) == len(set(names)) == len(model.pipeline_[-1].coef_)
    columns = dict(model.pipeline_["map"].transformer_list)["kernel"]["columns"]
    n = model.choice_["n_columns"]
    assert columns.n_components == columns.n_components_ == n == sum("kernel__" in name for name in names)
    assert "linear__scaled__hour" in names
    assert len(re.sub(r"\s", "", repr(model.pipeline_))) < 1500
    for made in (model, pickle.loads(pickle.dumps(model)), clone(model.pipeline_)):
        assert "array(" not in repr(getattr(made, "pipeline_", made))


def test_encoded_columns_are_known_by_their_column_of_the_table(mixed):
    """A change of one column of the table changes the encoded columns that are said to be made of it, alone."""
    X, y = mixed
    model = KernelClassifier().fit(X, np.digitize(y, [-0.4, 0.4]))
    encoder = model.pipeline_["encode"]
    sources, rows = model._table.sources(encoder), encoder.transform(X)
    assert len(sources) == rows.shape[1]
    assert set(sources) == set(range(X.shape[1]))
    for j, name in enumerate(X):
        other = X.assign(**{name: X[name].sample(frac=1, random_state=0).to_numpy()})
        other[name] = other[name].astype(X[name].dtype)
        changed = (encoder.transform(other) != rows).any(axis=0)
        np.testing.assert_array_equal(sources[changed], j)
        assert changed[sources == j].all()


@pytest.mark.filterwarnings("ignore:SingleNystroem")
def test_deviations_grow_to_those_of_the_prior_far_from_the_training_rows():
    """Of 1,000 new rows, 95 % are within the interval, to 3.5 standard deviations (false alarms: .0005)."""
    X, y = make_friedman1(3000, noise=1.0, random_state=0)
    model = KernelRegressor().fit(X[:2000], y[:2000])
    mean, deviation = model.predict(X[2000:], return_std=True)
    assert 0.926 < np.mean(np.abs(y[2000:] - mean) < 1.96 * deviation) < 0.98
    head, kernel = model.pipeline_["head"], kernel_part(model.pipeline_["map"])
    for rows in (X[2000:2050], X[2000:2050] + 3, X[2000:2050] - 1e3):
        Z = model.pipeline_[:-1].transform(rows)
        near = kernel["metric"].transform(model.pipeline_["encode"].transform(rows))
        represented = kernel["columns"].kernel_matrix(near)
        spread = head._known_posterior().spread(Z)
        shares = 1 + (spread**2).sum(axis=0) + (1 - represented.diagonal()) / (head.alpha_ * 2000)
        found = model.predict(rows, return_std=True)[1]
        np.testing.assert_allclose(found**2, head.noise_variance_ * shares, rtol=1e-3)
    assert (found > 1.5 * deviation.mean()).all()


@pytest.mark.filterwarnings("ignore:Nystroem")
def test_ridge_on_columns_of_a_kernel_has_the_deviations_of_ridge_with_its_map_inside():
    X, y = make_friedman1(300, noise=1.0, random_state=0)
    feature_map = Nystroem(Matern(1.5, 1.0), 100, random_state=0).fit(X)
    inside = KRR(feature_map=FrozenEstimator(feature_map), alphas=0.01).fit(X, y)
    beside = TableRidge(alphas=0.01).fit(feature_map.transform(X), y)
    beside.n_kernel_columns_ = 100
    rows = np.vstack([X[:10], X[:10] + 2, X[:10] + 100])
    found = beside.predict(feature_map.transform(rows), return_std=True)[1]
    np.testing.assert_allclose(found, inside.predict(rows, return_std=True)[1], rtol=1e-6)
    np.testing.assert_allclose(found[20:] ** 2, beside.noise_variance_ * (1 + 1 / (0.01 * 300)), rtol=1e-6)


@pytest.mark.parametrize(("width", "before", "size"), [(0.0625, 0.125, "smallest"), (8.0, 4.0, "largest")])
def test_the_last_width_is_told_if_it_is_much_better(monkeypatch, width, before, size, recwarn):
    X, y = small()
    for error in (0.95, 0.85):
        assert not recwarn.list

        def best(search, error=error):
            search.records += [
                asdict(Choice(width=at)) | {"error": e} for at, e in ((before, 1.0), (width, error))
            ]
            return Choice(width=width)

        monkeypatch.setattr(Search, "best", best)
        model = KernelRegressor().fit(X, y)
        assert model.choice_["width"] == width
    (told,) = recwarn.list
    assert told.category is GridEdgeWarning
    assert str(told.message).startswith(
        f"KernelRegressor: the best width of the kernel is the {size} that is tried"
    )


def test_widths_beyond_the_best_one_are_tried(monkeypatch):
    for best in (0.125, 1.0, 4.0):
        tried = []

        def error(search, choice, best=best, tried=tried):
            tried.append(choice.width)
            return 1 + abs(np.log(choice.width / best))

        search = object.__new__(Search)
        monkeypatch.setattr(Search, "_error", error)
        assert search._best_width(Choice()).width == best
        assert {best / 2, best, 2 * best} <= set(tried)

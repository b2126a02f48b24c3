"""LinearSVM and LinearSVR with weights, with a feature map, on sparse rows, in threads, and what they print."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from rflib.kernels import DeltaGaussian, Gaussian
from rflib.learners import KRRClassifier
from rflib.learners.svm import LinearSVM, LinearSVR
from rflib.maps import GORF, RFF

# whole numbers, then others, which scikit-learn's build of liblinear takes
SCALES = (1.0, 0.5)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.standard_normal(60)


@settings(max_examples=30)
@given(
    counts=st.lists(st.integers(0, 3), min_size=60, max_size=60),
    scale=st.sampled_from(SCALES),
    dtype=st.sampled_from([np.float32, np.float64]),
    fit_intercept=st.booleans(),
    learner=st.sampled_from(
        [
            LinearSVM(tol=1e-10),
            LinearSVM(tol=1e-10, max_iter=1000),
            LinearSVM(tol=1e-9, solver="newton"),
            LinearSVR(tol=1e-10),
            LinearSVR(tol=1e-9, solver="newton"),
        ]
    ),
)
def test_weights_are_repeated_rows(data, counts, scale, dtype, fit_intercept, learner):
    X, score = data[0].astype(dtype), data[1]
    y = np.digitize(score, [-0.5, 0.5]) if is_classifier(learner) else score
    counts = np.array(counts)
    if len(np.unique(y[counts > 0])) < 2:
        return
    rows = np.repeat(np.arange(60), counts)
    learner = clone(learner).set_params(
        C=0.5, fit_intercept=fit_intercept, tol=1e-5 if dtype == np.float32 else learner.tol
    )
    weighted = clone(learner).set_params(C=0.5 / scale).fit(X, y, sample_weight=scale * counts)
    repeated = clone(learner).fit(X[rows], y[rows])
    tolerance = 1e-2 if dtype == np.float32 else 1e-5
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=tolerance * np.abs(repeated.coef_).max())
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=tolerance)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("solver", [{"tol": 1e-8}, {"solver": "newton", "tol": 1e-9}], ids=str)
@pytest.mark.parametrize("learner", [LinearSVM, LinearSVR])
def test_C_is_chosen_by_weighted_errors(data, learner, solver, scale):
    X, score = data
    y = np.digitize(score, [-0.5, 0.5]) if learner is LinearSVM else score
    counts = np.random.default_rng(1).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), counts)
    parts = np.arange(60) % 3
    splits, repeated_splits = (
        [(np.flatnonzero(p != fold), np.flatnonzero(p == fold)) for fold in range(3)]
        for p in (parts, parts[rows])
    )
    Cs = np.array([0.001, 0.1, 10])
    weighted = learner(C="cv", Cs=Cs / scale, cv=splits, **solver).fit(X, y, sample_weight=scale * counts)
    repeated = learner(C="cv", Cs=Cs, cv=repeated_splits, **solver).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.cv_errors_, repeated.cv_errors_, rtol=1e-4)
    assert weighted.C_ * scale == repeated.C_


@pytest.mark.parametrize("scale", SCALES)
def test_the_weighted_hinge_reaches_the_least_objective(data, scale):
    X, score = data
    signs, counts = np.where(score > 0, 1, -1), np.random.default_rng(1).integers(0, 4, 60)

    def objective(w):
        return w @ w / 2 + 0.6 * counts @ np.maximum(0, 1 - signs * (X @ w))

    exact = SVC(C=0.3, kernel="linear", tol=1e-8)
    exact.fit(np.vstack([X, -X]), np.concatenate([signs, -signs]), sample_weight=np.tile(counts, 2))
    ours = LinearSVM(C=0.6 / scale, loss="hinge", tol=1e-4).fit(X, signs, sample_weight=scale * counts)
    assert objective(ours.coef_[0]) == pytest.approx(objective(exact.coef_[0]), rel=1e-3)


def test_large_weights_are_not_repeated(data, monkeypatch):
    X, score = data
    monkeypatch.delattr("rflib.learners.linear_svm.LiblinearProblem")
    weights = np.full(60, 1e9)
    theirs = LinearSVC(C=1.0, fit_intercept=False, dual=False, tol=1e-8).fit(X, score > 0)
    ours = LinearSVM(C=1e-9, tol=1e-8).fit(X, score > 0, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)


@pytest.mark.parametrize("learner", [LinearSVM(), KRRClassifier(alphas=0.1)], ids=repr)
def test_a_class_without_weight_is_no_class(data, learner):
    X, score = data
    y = np.digitize(score, [-0.5, 0.5])
    weights = (y != 1).astype(float)
    weighted = learner.fit(X, y, sample_weight=weights)
    alone = clone(learner).fit(X[y != 1], y[y != 1])
    np.testing.assert_array_equal(weighted.classes_, [0, 2])
    np.testing.assert_allclose(weighted.decision_function(X), alone.decision_function(X), rtol=1e-9)
    with pytest.raises(ValueError, match="two classes or more, got one class: 1"):
        learner.fit(X, y, sample_weight=1 - weights)


def test_a_fold_without_weight_is_named(data):
    X, score = data
    with pytest.raises(ValueError, match=r"^LinearSVR: all rows of a fold of cv have the weight zero"):
        LinearSVR(C="cv").fit(X, score, sample_weight=np.arange(60) < 48)


@pytest.mark.parametrize("learner", [LinearSVM, LinearSVR])
@pytest.mark.parametrize("signed", ["associated", "positive"])
def test_a_feature_map_is_a_pipeline_with_its_signs(data, learner, signed):
    X, score = data
    y = score > 0 if learner is LinearSVM else score
    signed_map = GORF(DeltaGaussian(sigmas=(0.3, 2)), n_components=24, random_state=0)
    # With a map the order of X, not that of the features, is the one in which liblinear sees the rows.
    own = learner(feature_map=signed_map, signed=signed, C="cv", tol=1e-9).fit(X, y)
    assert own.n_features_in_ == 5
    fitted = clone(signed_map).fit(X)
    signs = {"signature": fitted.signature_} if signed == "positive" else {}
    by_hand = learner(signed=signed, C="cv", tol=1e-9, **signs).fit(fitted.transform(X), y)
    np.testing.assert_allclose(own.coef_, by_hand.coef_, atol=1e-7)
    np.testing.assert_allclose(own.predict(X), by_hand.predict(fitted.transform(X)), atol=1e-7)
    np.testing.assert_array_equal(own.signature_, fitted.signature_)
    if signed == "associated":
        piped = make_pipeline(signed_map, learner(C="cv", tol=1e-9)).fit(X, y)
        np.testing.assert_array_equal(piped.predict(X), by_hand.predict(fitted.transform(X)))
    with pytest.raises(ValueError, match="signature is for features; with a feature_map"):
        learner(feature_map=signed_map, signature=fitted.signature_).fit(X, y)


def test_rows_are_predicted_block_by_block(data, monkeypatch):
    X, score = data
    model = LinearSVR(feature_map=RFF(Gaussian(), n_components=16, random_state=0)).fit(X, score)
    expected = model.predict(X)
    monkeypatch.setattr(LinearSVR, "block_size", 7)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"solver": "newton"}, {"loss": "hinge"}], ids=str)
def test_folds_in_threads_are_the_same(data, settings):
    X, score = data
    model = LinearSVM(C="cv", Cs=(0.01, 0.1), random_state=np.random.RandomState(0), **settings)
    alone = clone(model).fit(X, score > 0)
    together = clone(model).set_params(n_jobs=4).fit(X, score > 0)
    np.testing.assert_array_equal(together.cv_errors_, alone.cv_errors_)
    np.testing.assert_array_equal(together.coef_, alone.coef_)


def test_verbose_prints_what_the_solver_says(data, capfd):
    X, score = data
    LinearSVM(verbose=True).fit(X, score > 0)
    assert "iter" in capfd.readouterr().out
    LinearSVM(verbose=True, solver="newton", C=2.0).fit(X, score > 0)
    assert "Newton, C = 2: " in capfd.readouterr().out
    LinearSVM(verbose=False).fit(X, score > 0)
    assert not capfd.readouterr().out


def test_the_warning_of_a_limit_names_the_parameters(data):
    X, score = data
    message = r"^LinearSVM: 50 iterations did not reach tol=0.0001. Raise max_iter"
    with pytest.warns(ConvergenceWarning, match=message):
        LinearSVM(C=1000, loss="hinge", max_iter=50).fit(X, score > 0)

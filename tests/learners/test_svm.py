"""LinearSVM and LinearSVR: minimisers of their objectives, equal to liblinear called by others."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.svm import LinearSVR as SklearnSVR

from rflib.kernels import Gaussian
from rflib.learners import KRR
from rflib.learners.row_hashes import row_hashes
from rflib.learners.row_sources import ArrayRows
from rflib.learners.svm import LinearSVM, LinearSVR
from rflib.maps import Nystroem


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 8))
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.standard_normal(150)


def squared_hinge_gradient(w, Z, signs, C):
    return w - 2 * C * (np.maximum(0, 1 - signs * (Z @ w)) * signs) @ Z


@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_squared_hinge_has_a_zero_gradient(data, C):
    X, score = data
    signs = np.where(score > 0, 1, -1)
    w = LinearSVM(C=C, tol=1e-8).fit(X, signs).coef_[0]
    scale = np.linalg.norm(squared_hinge_gradient(np.zeros(8), X, signs, C))
    assert np.linalg.norm(squared_hinge_gradient(w, X, signs, C)) < 1e-8 * scale


def test_one_vs_rest_has_a_zero_gradient_for_each_class(data):
    X, score = data
    y = np.digitize(score, [-0.5, 0.5])[::-1]  # the first row's class is not the first
    model = LinearSVM(C=10, tol=1e-8).fit(X, y)
    for k, w in enumerate(model.coef_):
        signs = np.where(y == k, 1, -1)
        scale = np.linalg.norm(squared_hinge_gradient(np.zeros(8), X, signs, 10))
        assert np.linalg.norm(squared_hinge_gradient(w, X, signs, 10)) < 1e-8 * scale


def test_squared_epsilon_insensitive_has_a_zero_gradient(data):
    X, y = data
    w = LinearSVR(C=1000, epsilon=0.1, tol=1e-8).fit(X, y).coef_
    residual = y - X @ w
    excess = np.sign(residual) * np.maximum(0, np.abs(residual) - 0.1)
    assert np.linalg.norm(w - 2000 * excess @ X) < 1e-7 * np.linalg.norm(2000 * y @ X)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_scikit_learn_svc(data, fit_intercept, n_classes):
    X, score = data
    names = np.array(["x", "a", "m"])
    y = names[np.digitize(score, [0] if n_classes == 2 else [-0.5, 0.5])]
    theirs = LinearSVC(C=0.3, fit_intercept=fit_intercept, tol=1e-8, dual=False).fit(X, y)
    ours = LinearSVM(C=0.3, fit_intercept=fit_intercept, tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_ * np.ones_like(ours.intercept_), atol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_equals_scikit_learn_svr(data):
    X, y = data
    theirs = SklearnSVR(
        C=0.3, epsilon=0.1, loss="squared_epsilon_insensitive", tol=1e-10, dual=False, max_iter=10_000
    ).fit(X, y + 2)
    for dual in (False, True):
        ours = LinearSVR(C=0.3, epsilon=0.1, dual=dual, fit_intercept=True, tol=1e-8).fit(X, y + 2)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
        assert abs(ours.intercept_ - float(np.squeeze(theirs.intercept_))) < 1e-6


def test_hinge_reaches_the_least_objective(data):
    X, score = data
    signs = np.where(score > 0, 1, -1)

    def objective(w):
        return w @ w / 2 + 0.6 * np.maximum(0, 1 - signs * (X @ w)).sum()

    exact = SVC(C=0.3, kernel="linear", tol=1e-8).fit(np.vstack([X, -X]), np.concatenate([signs, -signs]))
    ours = LinearSVM(C=0.6, loss="hinge", tol=1e-3).fit(X, signs)
    # the mirrored rows take the intercept out of SVC and count every row twice
    assert abs(exact.intercept_[0]) < 1e-6
    assert objective(ours.coef_[0]) == pytest.approx(objective(exact.coef_[0]), rel=1e-3)


def test_epsilon_insensitive_reaches_the_least_objective(data):
    X, y = data

    def objective(w):
        return w @ w / 2 + 0.6 * np.maximum(0, np.abs(y - X @ w) - 0.1).sum()

    exact = SVR(C=0.3, epsilon=0.1, kernel="linear", tol=1e-8).fit(
        np.vstack([X, -X]), np.concatenate([y, -y])
    )
    ours = LinearSVR(C=0.6, loss="epsilon_insensitive", tol=1e-3).fit(X, y)
    assert objective(ours.coef_) == pytest.approx(objective(exact.coef_[0]), rel=1e-3)


def test_primal_and_dual_agree_and_the_dual_is_repeatable(data):
    X, score = data
    y = score > 0
    primal = LinearSVM(C=0.1, tol=1e-8).fit(X, y)
    dual = LinearSVM(C=0.1, tol=1e-8, dual=True).fit(X, y)
    np.testing.assert_allclose(dual.coef_, primal.coef_, atol=1e-6)
    hinge = LinearSVM(C=0.1, loss="hinge").fit(X, y).coef_
    LinearSVM(C=0.2, loss="hinge", random_state=3).fit(X, y)
    np.testing.assert_array_equal(LinearSVM(C=0.1, loss="hinge").fit(X, y).coef_, hinge)


def test_equals_liblinear_own_interface(data):
    liblinearutil = pytest.importorskip("liblinear.liblinearutil")
    X, score = data
    y = np.where(score > 0, 1, -1)
    order = np.argsort(row_hashes(X, 0))
    model = liblinearutil.train(y[order], X[order], "-s 2 -c 1000 -q")
    theirs = np.array(model.get_decfun(0)[0])
    ours = LinearSVM(C=1000, tol=0.01).fit(X, y)
    np.testing.assert_array_equal(ours.coef_[0], theirs)
    regression = liblinearutil.train(score[order], X[order], "-s 11 -c 1000 -p 0.1 -q")
    np.testing.assert_array_equal(
        LinearSVR(C=1000, tol=1e-4).fit(X, score).coef_, np.array(regression.get_decfun(0)[0])
    )


@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        (LinearSVM, {}),
        (LinearSVM, {"dual": True, "fit_intercept": True}),
        (LinearSVM, {"loss": "hinge", "C": 0.01}),
        (LinearSVR, {}),
        (LinearSVR, {"loss": "epsilon_insensitive", "C": 0.01}),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_of_the_rows_does_not_matter_and_weights_are_repeated_rows(data, learner, settings, dtype):
    """To the bit, at the default tol, where liblinear itself gives other numbers from the sixth digit on."""
    rng = np.random.default_rng(0)
    chosen = np.repeat(np.arange(100), rng.integers(0, 4, 100))
    X, score = data[0].astype(dtype), data[1]
    y = np.digitize(score, [-0.5, 0.5]) if learner is LinearSVM else score
    y[:20] = y[20:40]  # rows that are equal, with targets that are not
    X[:20] = X[40:60]
    model = learner(**settings).fit(X[chosen], y[chosen])
    shuffled = rng.permutation(chosen)
    counts = np.bincount(chosen, minlength=150)
    others = (
        learner(**settings).fit(X[shuffled], y[shuffled]),
        learner(**settings).fit(X, y, sample_weight=counts),
        learner(**settings).fit(X[::-1], y[::-1], sample_weight=counts[::-1]),
    )
    for other in others:
        np.testing.assert_array_equal(other.coef_, model.coef_)
        np.testing.assert_array_equal(other.intercept_, model.intercept_)


def test_C_by_cross_validation_is_grid_search(data):
    X, score = data
    y = np.digitize(score, [-0.5, 0.5])
    Cs = [0.001, 0.01, 1.0]
    folds = StratifiedKFold(4)
    search = GridSearchCV(LinearSVM(tol=1e-8), {"C": Cs}, cv=folds).fit(X, y)
    ours = LinearSVM(C="cv", Cs=Cs[::-1], cv=folds, tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(ours.Cs_, Cs)
    np.testing.assert_allclose(
        1 - ours.cv_errors_.mean(axis=1), search.cv_results_["mean_test_score"], rtol=1e-12
    )
    assert search.best_params_ == {"C": ours.C_}
    np.testing.assert_allclose(ours.coef_, search.best_estimator_.coef_, rtol=1e-6, atol=1e-9)


def test_C_by_cross_validation_in_regression(data):
    X, y = data
    Cs = [0.001, 0.01, 1.0]
    search = GridSearchCV(LinearSVR(tol=1e-8), {"C": Cs}, cv=KFold(4), scoring="neg_mean_squared_error").fit(
        X, y
    )
    ours = LinearSVR(C="cv", Cs=Cs, cv=4, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        -ours.cv_errors_.mean(axis=1), search.cv_results_["mean_test_score"], rtol=1e-6
    )
    assert search.best_params_ == {"C": ours.C_}


def test_float32_features(data):
    X, score = data
    y = score > 0
    double, single = LinearSVM().fit(X, y), LinearSVM().fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, double.coef_, atol=1e-5)
    assert single.decision_function(X.astype(np.float32)).dtype == np.float32


def test_a_run_cut_short_warns_and_the_iterations_are_counted(data):
    X, score = data
    y = score > 0
    with pytest.warns(ConvergenceWarning, match="limit of iterations"):
        LinearSVM(loss="hinge", C=1e6, tol=1e-12).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # liblinear itself goes over to the primal
        LinearSVM(dual=True, C=1e6).fit(X, y)
    assert 1 < LinearSVM().fit(X, y).n_iter_ < 30


def test_nothing_to_do_is_one_iteration(data):
    X, score = data
    flat = LinearSVR(epsilon=100).fit(X, score)
    assert flat.n_iter_ == 1
    assert not flat.coef_.any()


def test_threads_do_not_mix_their_messages(data):
    X, score = data
    y = score > 0
    alone = [LinearSVM(C=C).fit(X, y) for C in (0.01, 1.0, 100.0)] * 4
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda C: LinearSVM(C=C).fit(X, y), [0.01, 1.0, 100.0] * 4))
    for one, other in zip(alone, together, strict=True):
        assert one.n_iter_ == other.n_iter_
        np.testing.assert_array_equal(one.coef_, other.coef_)


def test_no_primal_solver_for_the_hinge(data):
    X, score = data
    with pytest.raises(ValueError, match="LinearSVM: loss='hinge' is solved in the dual only"):
        LinearSVM(loss="hinge", dual=False).fit(X, score > 0)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("counts", [(40, 40, 1), (40, 40, 40, 1), (40, 1)])
def test_a_class_that_a_fold_does_not_train_on(counts):
    """The rare class is in one fold only, so that the others' classes are what is left to choose from."""
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.eye(len(counts))[y] + 0.3 * np.random.default_rng(0).standard_normal((len(y), len(counts)))
    settings = {"C": "cv", "Cs": [1.0, 10.0], "tol": 1e-8}
    errors = [
        LinearSVM(**settings, **solver).fit(X, y).cv_errors_
        for solver in ({}, {"solver": "newton"}, {"max_iter": 5000})
    ]
    np.testing.assert_array_equal(errors[0], errors[1])
    np.testing.assert_array_equal(errors[0], errors[2])
    assert errors[0].max() < 0.3


def test_max_iter_brings_the_hinge_to_its_minimum_at_a_large_C(data):
    X, score = data
    signs = np.where(score > 0, 1, -1)

    def objective(model):
        w = model.coef_[0]
        return w @ w / 2 + 1000 * np.maximum(0, 1 - signs * (X @ w)).sum()

    with pytest.warns(ConvergenceWarning, match="own limit of iterations.* set max_iter"):
        stopped = LinearSVM(C=1000, loss="hinge").fit(X, signs)
    with pytest.warns(ConvergenceWarning):
        assert LinearSVM(C=1000, loss="hinge", max_iter=50).fit(X, signs).n_iter_ == 50
    enough = LinearSVM(C=1000, loss="hinge", max_iter=1_000_000).fit(X, signs)
    theirs = LinearSVC(C=1000, loss="hinge", fit_intercept=False, max_iter=1_000_000, random_state=0)
    assert objective(enough) == pytest.approx(objective(theirs.fit(X, signs)), rel=1e-4)
    assert objective(enough) < 0.9 * objective(stopped)
    # the mirrored rows take the intercept out of SVC and count every row twice
    exact = SVC(C=500, kernel="linear").fit(np.vstack([X, -X]), np.concatenate([signs, -signs]))
    assert objective(enough) == pytest.approx(objective(exact), rel=1e-2)


@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        (LinearSVM, {"loss": "hinge"}),
        (LinearSVM, {"dual": True}),
        (LinearSVM, {}),
        (LinearSVR, {"loss": "epsilon_insensitive"}),
        (LinearSVR, {"dual": True}),
        (LinearSVR, {}),
    ],
    ids=str,
)
def test_a_limit_of_iterations_that_is_not_reached_changes_nothing(data, learner, settings):
    X, score = data
    y = np.digitize(score, [-0.5, 0.5])[::-1] if learner is LinearSVM else score
    settings = {"C": 0.1, "tol": 1e-5, "fit_intercept": True, **settings}
    own, limited = learner(**settings).fit(X, y), learner(max_iter=100_000, **settings).fit(X, y)
    np.testing.assert_allclose(limited.coef_, own.coef_, atol=1e-3)
    np.testing.assert_allclose(limited.intercept_, own.intercept_, atol=1e-3)


@pytest.mark.parametrize("max_iter", [None, 2000])
def test_threads_do_not_share_their_random_numbers(max_iter):
    """Sixteen threads at once, four times: without a lock several fits differ from the fit alone."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 8))
    y, barrier = X[:, 0] + rng.standard_normal(1000) > 0, threading.Barrier(16)

    def fit(_):
        barrier.wait()
        return LinearSVM(C=0.01, loss="hinge", max_iter=max_iter).fit(X, y).coef_

    alone = LinearSVM(C=0.01, loss="hinge", max_iter=max_iter).fit(X, y).coef_
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(fit, range(64)))
    assert sum(not np.array_equal(coef, alone) for coef in together) == 0


@pytest.mark.parametrize(
    "fit",
    [
        lambda rows: Nystroem(Gaussian(2.0), 100).fit(rows),
        lambda rows: KRR(alphas=1e-20, gram_dtype="float32").fit_blocks(ArrayRows(rows, rows[:, 0])),
        lambda rows: LinearSVM(C=1e9, max_iter=2).fit(rows, rows[:, 0] > 0),
        lambda rows: LinearSVM(C="cv", max_iter=2).fit(rows, rows[:, 0] > 0),
    ],
)
def test_warnings_of_fits_point_here(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "Liblinear failed")  # of scikit-learn
        fit(np.random.default_rng(0).standard_normal((60, 3)))
    assert [warning.filename for warning in caught if "GridEdge" not in str(warning.category)] == [__file__]

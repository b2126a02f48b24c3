"""Any similarity, by a function of rows or precomputed, and its repairs: against brute force and scikit-learn."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem as SklearnNystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

from rflib.kernels import Gaussian, Similarity
from rflib.learners import KRR, ExactKernelSVC, ExactKernelSVR, ExactKRR, ExactKRRClassifier, SpectrumRepair
from rflib.learners.svm import LinearSVR
from rflib.maps import RFF, SRF, Nystroem

from .similarities import (
    cylinder_bell_funnel,
    edit_similarity,
    mutated_words,
    sigmoid,
    tl1,
    warping,
)

REPAIRS = ("none", "clip", "flip", "shift", "square")


def similarity_problems():
    """Names to training and test similarities, labels, and the rows with their function where there are any."""
    rng = np.random.default_rng(0)
    series, classes = cylinder_bell_funnel(90, 24, rng)
    problems = {"dtw": (series, classes, warping)}
    X = rng.uniform(-1, 1, (90, 4))
    problems["tl1"] = X, (X[:, 0] * X[:, 1] > 0).astype(int), tl1
    problems["sigmoid"] = 2 * X, (X[:, 0] > X[:, 1] ** 2).astype(int), sigmoid
    found = {}
    for name, (rows, labels, function) in problems.items():
        train, test = rows[:60], rows[60:]
        found[name] = (function(train, train), function(test, train), labels, (train, test, function))
    words, classes = mutated_words(90, rng)
    found["edit"] = (
        edit_similarity(words[:60], words[:60]),
        edit_similarity(words[60:], words[:60]),
        classes,
        None,
    )
    return found


PROBLEMS = similarity_problems()


def by_definition(K, rows, repair):
    """The repaired matrix and rows from all eigenvectors."""
    values, U = np.linalg.eigh(K)
    if repair == "shift":
        return K - min(values.min(), 0) * np.eye(len(K)), rows
    if repair in ("none", "square"):
        return (K, rows) if repair == "none" else (K @ K, rows @ K)
    kept = {"clip": (values > 0).astype(float), "flip": np.sign(values)}[repair]
    P = (U * kept) @ U.T
    return (U * (kept * values)) @ U.T, rows @ P


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_similarities_are_indefinite(name):
    values = np.linalg.eigvalsh(PROBLEMS[name][0])
    assert values.min() < -1e-3 * values.max()


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_repairs_against_brute_force(name, repair):
    K, rows, _, given = PROBLEMS[name]
    expected, expected_rows = by_definition(K, rows, repair)
    fitted = SpectrumRepair("precomputed", repair=repair)
    found = fitted.fit_transform(K)
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(fitted.transform(rows), expected_rows, atol=1e-9 * np.abs(expected).max())
    if repair != "none":
        assert np.linalg.eigvalsh(found).min() > -1e-10 * np.abs(found).max()
    if repair != "shift":
        # training rows among the others are treated as in training
        np.testing.assert_allclose(fitted.transform(K[:7]), found[:7], atol=1e-9 * np.abs(expected).max())
    if given:
        train, test, function = given
        of_rows = SpectrumRepair(function, repair=repair)
        np.testing.assert_array_equal(of_rows.fit_transform(train), found)
        np.testing.assert_allclose(of_rows.transform(test), fitted.transform(rows), atol=1e-12)


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_learners_against_brute_force(name, repair):
    """The SVMs are scikit-learn's on repaired similarities; ridge regression solves the linear system."""
    K, rows, labels, given = PROBLEMS[name]
    target, target_rows = by_definition(K, rows, repair)
    y = labels[:60]
    learners = {
        SVC: ExactKernelSVC("precomputed", repair=repair, tol=1e-8),
        SVR: ExactKernelSVR("precomputed", repair=repair, tol=1e-8),
    }
    for theirs, ours in learners.items():
        machine = theirs(kernel="precomputed", tol=1e-8).fit(target, y)
        found = ours.fit(K, y).predict(rows)
        if repair == "none" or theirs is SVR:  # a stationary point that the machine's steps alone decide
            np.testing.assert_allclose(found, machine.predict(target_rows), atol=1e-4)
        else:
            expected = machine.decision_function(target_rows)
            np.testing.assert_allclose(
                ours.decision_function(rows), expected, atol=1e-4 * np.abs(expected).max()
            )
        assert not hasattr(ours, "X_fit_")
    c = 0.1
    dual = np.linalg.solve(target + c * np.eye(60), y - y.mean())
    expected = target_rows @ dual + y.mean()
    ridge = {"alphas": c, "ridge": "lambda", "repair": repair}
    tolerance = {"rtol": 1e-6, "atol": 1e-6 * np.abs(expected).max()}
    np.testing.assert_allclose(
        ExactKRR("precomputed", **ridge).fit(K, y).predict(rows), expected, **tolerance
    )
    if given:
        train, test, function = given
        np.testing.assert_allclose(
            ExactKRR(function, **ridge).fit(train, y).predict(test), expected, **tolerance
        )


@pytest.mark.parametrize("name", PROBLEMS)
def test_flip_is_the_krein_svm(name):
    """Loosli, Canu & Ong 2016: solve the dual with U |L| U^T, then f(x) = sum_i a_i k(x, x_i), a = U S U^T b."""
    K, rows, labels, _ = PROBLEMS[name]
    y = (labels[:60] > 0).astype(int)
    values, U = np.linalg.eigh(K)
    machine = SVC(kernel="precomputed", tol=1e-8).fit((U * np.abs(values)) @ U.T, y)
    b = np.zeros(60)
    b[machine.support_] = machine.dual_coef_[0]
    expected = rows @ ((U * np.sign(values)) @ (U.T @ b)) + machine.intercept_
    found = ExactKernelSVC("precomputed", repair="flip", tol=1e-8).fit(K, y).decision_function(rows)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_ridge_regression_without_repair_is_a_stationary_point_in_the_krein_space():
    """Of ||y - K a||^2 + c a^T K a: K ((K + c I) a - y) = 0."""
    K, _, labels, _ = PROBLEMS["sigmoid"]
    y = labels[:60] - labels[:60].mean()
    fitted = ExactKRR("precomputed", alphas=0.3, ridge="lambda").fit(K, labels[:60])
    np.testing.assert_allclose(
        K @ (K @ fitted.dual_coef_[:, 0] + 0.3 * fitted.dual_coef_[:, 0] - y), 0, atol=1e-8
    )


@pytest.mark.parametrize("repair", ["clip", "flip", "shift"])
def test_a_definite_kernel_stays_as_it_is(repair):
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = X[:, 0] ** 2
    plain = ExactKRR(Gaussian(), alphas=0.1).fit(X, y)
    repaired = ExactKRR(Gaussian(), alphas=0.1, repair=repair).fit(X, y)
    np.testing.assert_array_equal(repaired.predict(X + 0.1), plain.predict(X + 0.1))


@pytest.mark.parametrize("repair", REPAIRS)
def test_each_fold_of_a_cross_validation_has_its_own_repair(repair):
    K, _, labels, _ = PROBLEMS["tl1"]
    y = labels[:60].astype(float)
    fitted = ExactKRR("precomputed", alphas=(0.5, 2.0), ridge="lambda", cv=3, repair=repair).fit(K, y)
    folds = cross_val_score(
        ExactKRR("precomputed", alphas=0.5, ridge="lambda", repair=repair),
        K,
        y,
        cv=3,
        scoring="neg_mean_squared_error",
    )
    assert fitted.cv_errors_.shape == (2, 3)
    # scikit-learn cuts precomputed matrices for its own folds, which the tag "pairwise" asks for
    assert np.isfinite(folds).all()
    train, test = np.arange(20, 60), np.arange(20)
    target, rows = by_definition(K[np.ix_(train, train)], K[np.ix_(test, train)], repair)
    dual = np.linalg.solve(target + 0.5 * np.eye(40), y[train] - y[train].mean())
    assert -folds[0] == pytest.approx(np.mean((rows @ dual + y[train].mean() - y[test]) ** 2), rel=1e-6)


def test_precomputed_and_function_give_the_same_searches():
    K, _, labels, (train, _, function) = PROBLEMS["dtw"]
    grid = {"C": [0.1, 10], "repair": list(REPAIRS)}
    scores = [
        GridSearchCV(ExactKernelSVC(kernel), grid, cv=3).fit(X, labels[:60]).cv_results_["mean_test_score"]
        for kernel, X in (("precomputed", K), (function, train))
    ]
    np.testing.assert_array_equal(*scores)
    assert scores[0].max() > 0.8


@pytest.mark.parametrize("name", PROBLEMS)
def test_accuracy_on_rows_that_were_not_seen(name):
    K, rows, labels, _ = PROBLEMS[name]
    for repair in REPAIRS[1:]:
        for learner in (
            ExactKernelSVC("precomputed", repair=repair),
            ExactKRRClassifier("precomputed", repair=repair),
        ):
            assert learner.fit(K, labels[:60]).score(rows, labels[60:]) >= 0.7


@pytest.mark.parametrize("name", PROBLEMS)
def test_nystroem_is_exact_with_all_landmarks_and_the_same_by_function_and_matrix(name):
    K, rows, _, given = PROBLEMS[name]
    every = Nystroem("precomputed", 60, random_state=0).fit(K)
    assert (every.signature_ < 0).any()
    np.testing.assert_allclose(every.kernel_matrix(K), K, atol=1e-7)
    np.testing.assert_allclose(every.kernel_matrix(rows, K), rows, atol=1e-6)
    Z = every.transform(K)
    for used, repair in ((every.signature_ != 0, "flip"), (every.signature_ > 0, "clip")):
        np.testing.assert_allclose(Z[:, used] @ Z[:, used].T, by_definition(K, rows, repair)[0], atol=1e-7)
    some = Nystroem("precomputed", 20, random_state=1).fit(K)
    i = some.indices_
    expected = rows[:, i] @ np.linalg.pinv(K[np.ix_(i, i)], rcond=1e-12) @ K[i]
    np.testing.assert_allclose(some.kernel_matrix(rows, K), expected, atol=1e-6)
    restored = Nystroem("precomputed", 20, random_state=1).restore(some.state())
    np.testing.assert_array_equal(restored.transform(rows), some.transform(rows))
    if given:
        train, test, function = given
        of_rows = Nystroem(function, 20, random_state=1).fit(train)
        np.testing.assert_array_equal(of_rows.landmarks_, train[i])
        np.testing.assert_allclose(of_rows.transform(test), some.transform(rows), atol=1e-9)
        pivots = [Nystroem(k, 20, landmarks="rpcholesky", random_state=2) for k in (function, "precomputed")]
        found = [m.fit(Z).kernel_matrix(Z) for m, Z in zip(pivots, (train, K), strict=True)]
        np.testing.assert_allclose(*found, atol=1e-6)


def test_nystroem_of_repaired_similarities_has_no_negative_columns():
    K, rows, labels, _ = PROBLEMS["dtw"]
    steps = make_pipeline(SpectrumRepair("precomputed"), Nystroem("precomputed", 60, random_state=0))
    Z = steps.fit(K, labels[:60]).transform(rows)
    values = (Z * steps[1].signature_) @ steps.transform(K).T
    np.testing.assert_allclose(values, by_definition(K, rows, "clip")[1], atol=1e-5)


def test_a_pipeline_with_a_learner_from_elsewhere_is_cut_into_folds_by_rows_and_columns():
    K, rows, labels, (train, test, function) = PROBLEMS["tl1"]
    y = labels[:60]
    own = ExactKernelSVC("precomputed", repair="clip")
    for kernel, X, Y in (("precomputed", K, rows), (function, train, test)):
        steps = make_pipeline(SpectrumRepair(kernel, repair="clip"), SVC(kernel="precomputed"))
        np.testing.assert_array_equal(cross_val_score(steps, X, y, cv=3), cross_val_score(own, K, y, cv=3))
        expected = own.fit(K, y).decision_function(rows)
        np.testing.assert_allclose(steps.fit(X, y).decision_function(Y), expected, atol=1e-9)


@pytest.mark.parametrize("learner", [KRR(alphas=1e-2), LinearSVR(tol=1e-9)], ids=repr)
def test_a_learner_on_a_map_of_similarities_is_cut_into_folds_by_rows_and_columns(learner):
    X = np.random.default_rng(0).standard_normal((60, 3))
    kernel = Gaussian()
    by_kernel, by_matrix = (
        cross_val_score(clone(learner).set_params(feature_map=Nystroem(k, 20, random_state=0)), rows, X[:, 0])
        for k, rows in ((kernel, X), ("precomputed", kernel(X)))
    )
    np.testing.assert_allclose(by_matrix, by_kernel, rtol=1e-6)


def test_precomputed_definite_kernels_against_scikit_learn():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((50, 3)), rng.standard_normal((9, 3))
    K, rows, y = rbf_kernel(X), rbf_kernel(Y, X), X[:, 0] ** 2
    theirs = SklearnNystroem(kernel="precomputed", n_components=50).fit(K)
    ours = Nystroem("precomputed", 50, random_state=0).fit(K)
    np.testing.assert_allclose(
        ours.kernel_matrix(rows, K), theirs.transform(rows) @ theirs.transform(K).T, atol=1e-7
    )
    np.testing.assert_allclose(
        ExactKRR("precomputed", alphas=0.1, ridge="lambda").fit(K, y).predict(rows) - y.mean(),
        KernelRidge(alpha=0.1, kernel="precomputed").fit(K, y - y.mean()).predict(rows),
    )
    np.testing.assert_allclose(
        ExactKRR(rbf_kernel).fit(X, y).predict(Y), ExactKRR("precomputed").fit(K, y).predict(rows)
    )


LEARNERS = [
    ExactKRR(),
    ExactKRRClassifier(),
    ExactKernelSVC(),
    ExactKernelSVR(),
    SpectrumRepair(),
    Nystroem(n_components=5, random_state=0),
]


@pytest.mark.parametrize("estimator", LEARNERS, ids=lambda e: type(e).__name__)
def test_a_function_means_the_same_in_all_estimators(estimator):
    X = np.random.default_rng(0).standard_normal((30, 2))
    y = (X[:, 0] > 0).astype(int)

    def fitted(kernel):
        return clone(estimator).set_params(kernel=kernel).fit(X, y)

    def result(kernel):
        found = fitted(kernel)
        return found.transform(X) if hasattr(found, "transform") else found.predict(X)

    expected = result(Gaussian())
    for kernel in (
        lambda z: np.exp(-(z**2) / 2),
        lambda z, power=2: np.exp(-(z**power) / 2),
        lambda X, Y: rbf_kernel(X, Y, gamma=0.5),
        lambda X, Y=None: rbf_kernel(X, Y, gamma=0.5),
        Similarity(lambda X, Y: rbf_kernel(X, Y, gamma=0.5)),
    ):
        np.testing.assert_allclose(result(kernel), expected, atol=1e-6)
    saved = pickle.loads(pickle.dumps(fitted(lambda X, Y: sigmoid(X, Y))))
    assert type(saved.kernel_) is Similarity
    name = type(estimator).__name__
    for kernel in ("rbf", 1, np.hypot, lambda: 1, lambda X, Y, Z: X, Gaussian):
        if kernel is not np.hypot:
            with pytest.raises(
                ValueError, match=rf"^{name}: kernel must be .*'precomputed', .* k\(X, Y\), got"
            ):
                result(kernel)
    with pytest.raises(
        ValueError, match=r"k\(X, Y\) returned shape \(\d+, 2\) for \d+ and \d+ rows.*pairwise_kernels"
    ):
        result(np.hypot)
    with pytest.raises(
        ValueError, match=r"must be symmetric, but that of rows \d+ and \d+ is .*\(K \+ K.T\) / 2"
    ):
        result(lambda X, Y: X[:, :1] + 2 * Y[:, :1].T)
    with pytest.raises(ValueError, match=r"square matrix of the similarities .* has shape \(30, 2\)"):
        result("precomputed")
    K = rbf_kernel(X)
    K[3, 5] += 0.5
    with pytest.raises(ValueError, match=r"must be symmetric, but that of rows [35] and [35] is"):
        clone(estimator).set_params(kernel="precomputed").fit(K, y)
    good = clone(estimator).set_params(kernel="precomputed").fit(rbf_kernel(X), y)
    with pytest.raises(ValueError, match="X has 7 features, but"):
        (good.transform if hasattr(good, "transform") else good.predict)(K[:, :7])


def test_maps_that_cannot_take_a_similarity_say_so():
    X = np.random.default_rng(0).standard_normal((30, 2))
    for cls in (RFF, SRF):
        with pytest.raises(ValueError, match=rf"{cls.__name__}: Similarity\(.*Nystroem"):
            cls(Similarity(sigmoid)).fit(X)
        for kernel in ("precomputed", sigmoid):
            with pytest.raises(
                ValueError, match=rf"{cls.__name__}: kernel must be None, .*Nystroem and .*, got"
            ):
                cls(kernel).fit(X)
    with pytest.raises(ValueError, match="landmarks must be 'uniform' or 'rpcholesky'"):
        Nystroem("precomputed", 5, landmarks="kmeans").fit(rbf_kernel(X))
    with pytest.raises(ValueError, match=r"Similarity: function must be a function of two matrices"):
        Similarity(np.exp)

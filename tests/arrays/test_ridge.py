"""Ridge regression of arrays of other libraries: the solution of numpy, with all large arrays on the device."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from rflib.kernels import DeltaGaussian, Gaussian
from rflib.kernels.namespaces import to_numpy
from rflib.learners import KRR, ArrayRows, KRRClassifier
from rflib.learners.device_system import solve_lower, solve_transposed
from rflib.learners.ridge_system import solve_and_factor, solve_ridges
from rflib.maps import GORF, RFF, MercerFeatures, Nystroem

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4))
Y = np.stack([np.sin(X[:, 0]) * X[:, 1], X[:, 2] ** 2], axis=1) + 0.1 * RNG.standard_normal((300, 2))
WEIGHTS = RNG.integers(0, 3, 300).astype(float)
D = 40
FEATURES = RFF(Gaussian(2.0), D, random_state=0)
INDEFINITE = GORF(DeltaGaussian(width=2.0), D, random_state=0)
MODELS = [
    KRR(feature_map=FEATURES, cv=5, block_size=70),
    KRR(feature_map=FEATURES, alphas=np.geomspace(1e-4, 1, 18), cv=KFold(3)),
    KRR(feature_map=FEATURES, alphas=[1e-3, 1e-1], criterion="marginal_likelihood"),
    KRR(feature_map=FEATURES, alphas=1e-3, gram_dtype="float32"),
    KRR(feature_map=INDEFINITE, alphas=[0.1, 1.0], signed="krein"),
    KRR(feature_map=INDEFINITE, cv=5, signed="positive"),
    KRR(feature_map=make_pipeline(MinMaxScaler(), FEATURES), cv=5),
    KRR(cv=5),
]
# coefficients, folds' errors and single numbers: O(D) numbers that decide which ridge is best
MOST = 2 * D


def close(found, known, dtype, slack=1.0):
    rounding = slack * {"float64": 1e-6, "float32": 2e-3}[dtype]
    np.testing.assert_allclose(to_numpy(found), known, rtol=rounding, atol=rounding * np.abs(known).max())


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_the_solution_is_that_of_numpy(model, weights, home, stays_there):
    is_splitter = isinstance(model.cv, KFold)
    for dtype in home.dtypes:
        rows = X.astype(dtype)
        known = clone(model).fit(rows, Y, weights)
        X_there, Y_there = home.array(X, dtype), home.array(Y, dtype)
        there = None if weights is None else home.array(weights, dtype)
        with stays_there(Y.size if is_splitter else MOST):
            found = clone(model).fit(X_there, Y_there, there)
            predicted = found.predict(X_there)
        assert found.alpha_ == known.alpha_ and isinstance(found.coef_, np.ndarray)
        slack = 10 if model.gram_dtype or model.signed == "krein" else 1
        assert home.holds(predicted) and predicted.dtype == X_there.dtype
        close(predicted, known.predict(rows), dtype, slack)
        if hasattr(known, "cv_errors_"):
            # ridges below the rounding of the Gram matrix have no solution here or there
            solved = np.isfinite(known.cv_errors_) & np.isfinite(found.cv_errors_)
            assert solved.any(axis=1)[-2:].all()
            close(found.cv_errors_[solved], known.cv_errors_[solved], dtype, slack)


@pytest.mark.parametrize("features", [FEATURES, MercerFeatures(Gaussian(1.0), 20)], ids=repr)
def test_one_target_and_the_posterior(features, home, stays_there):
    """Also with a map that lacks some of k(x, x)."""
    rows, y = X.astype("float32"), Y[:, 0].astype("float32")
    features = FrozenEstimator(clone(features).set_params(random_state=0).fit(rows))
    known = KRR(feature_map=features, cv=5, gram_dtype="float32").fit(rows, y)
    X_there = home.array(rows)
    found = KRR(feature_map=features).fit(X_there, home.array(y))
    with stays_there(MOST):
        mean, deviation = found.predict(X_there, return_std=True)
    drawn = found.sample_y(X_there[:7, :], 3)
    assert all(home.holds(array) for array in (mean, deviation, drawn))
    for there, here in zip((mean, deviation), known.predict(rows, return_std=True), strict=True):
        close(there, here, "float32")
    close(drawn, known.sample_y(rows[:7], 3), "float32", 5)
    # the state that numpy needs comes to the host when it is asked for
    close(found.predict(rows, return_std=True)[1], known.predict(rows, return_std=True)[1], "float32")
    assert found.score(rows, y) == pytest.approx(known.score(rows, y), abs=1e-4)


@pytest.mark.parametrize("criterion", ["squared_error", "error_rate"])
def test_classes(criterion, home, stays_there):
    for labels in (np.digitize(Y[:, 0], [-0.5, 0.5]), np.where(Y[:, 0] > 0, 7, 3)):
        model = KRRClassifier(feature_map=FEATURES, cv=5, criterion=criterion)
        known = clone(model).fit(X, labels, WEIGHTS)
        X_there = home.array(X, home.dtypes[0])
        with stays_there(len(labels)):
            found = clone(model).fit(X_there, home.array(labels), home.array(WEIGHTS, "float32"))
        with stays_there(MOST):
            predicted = found.predict(X_there)
        assert found.alpha_ == known.alpha_ and home.holds(predicted)
        assert np.mean(to_numpy(predicted) == known.predict(X)) > 0.99
        close(found.cv_errors_, known.cv_errors_, home.dtypes[-1])
    text = np.array(["a", "b"])[(Y[:, 0] > 0).astype(int)]
    assert set(clone(model).fit(X_there, text).predict(X_there)) == {"a", "b"}


def test_a_stream_of_blocks(home, stays_there):
    rows = X.astype("float32")
    known = KRR(feature_map=FEATURES, alphas=1e-3).fit(rows, Y)
    found = KRR(feature_map=FEATURES, alphas=1e-3)
    with stays_there(MOST):
        for part in (slice(0, 100), slice(100, 300)):
            found.partial_fit(home.array(rows[part]), home.array(Y[part], "float32"))
        assert found.coef_.shape == (2, D)
    close(found.coef_, known.coef_, "float32", 5)
    folds = KRR(feature_map=FEATURES).partial_fit(home.array(rows), home.array(Y, "float32"))
    assert folds.alpha_ == KRR(feature_map=FEATURES).partial_fit(rows, Y).alpha_


def test_moments_follow_the_rows(home):
    rows = X.astype("float32")
    known = KRR(feature_map=FEATURES, alphas=1e-3).fit(rows, Y)
    for parts in ([home.array(rows[:100]), rows[100:]], [rows[:100], home.array(rows[100:])]):
        found = KRR(feature_map=FEATURES, alphas=1e-3)
        found.partial_fit(parts[0], Y[:100]).partial_fit(parts[1], Y[100:])
        close(found.coef_, known.coef_, "float32", 5)


def test_triangles_are_cut_in_halves(home, monkeypatch):
    monkeypatch.setattr("rflib.learners.device_system._SMALL", 5)
    monkeypatch.setattr("rflib.learners.moments._PANEL", 7)
    Z = RNG.standard_normal((60, 23))
    gram, rhs = Z.T @ Z, RNG.standard_normal((23, 3))
    there = home.array(np.tril(gram), home.dtypes[0]), home.array(rhs, home.dtypes[0])
    solution, factor = solve_and_factor(*there, 2.0)
    close(solution, np.linalg.solve(gram + 2 * np.eye(23), rhs), home.dtypes[0])
    for solver, matrix in (
        (solve_lower, np.linalg.cholesky(gram + 2 * np.eye(23))),
        (solve_transposed, None),
    ):
        matrix = np.linalg.cholesky(gram + 2 * np.eye(23)).T if matrix is None else matrix
        close(solver(factor, there[1]), np.linalg.solve(matrix, rhs), home.dtypes[0])
    known = KRR(alphas=1e-3).fit(Z, rhs[:1].repeat(60, 0) * Z[:, :1]).coef_
    found = KRR(alphas=1e-3).fit(home.array(Z, home.dtypes[0]), rhs[:1].repeat(60, 0) * Z[:, :1]).coef_
    close(found, known, home.dtypes[0])


def test_singular_systems(home):
    gram, rhs = home.array(np.diag([1.0, 2.0]), "float32"), home.array(np.ones((2, 1)), "float32")
    signs = np.array([1.0, -1.0])
    assert list(solve_ridges(gram, rhs, [-3.0])) == [None]
    assert next(solve_ridges(gram, rhs, [2.0], signs)) is None
    assert next(solve_ridges(gram, rhs, [1.0], signs)) is not None


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_rows_in_memory_are_computed_with_on_a_device(device, tmp_path):
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    for feature_map in (FEATURES, Nystroem(Gaussian(2.0), D, random_state=0), None):
        for rows in (X, X.astype("float32")):
            dtype = rows.dtype.name
            known = KRR(feature_map=feature_map).fit_blocks(ArrayRows(rows, Y, block_size=70))
            model = KRR(feature_map=feature_map, device=device)
            found = clone(model).fit_blocks(
                ArrayRows(rows, Y, block_size=70), checkpoint=tmp_path / "fit.npz", checkpoint_seconds=0
            )
            assert found.alpha_ == known.alpha_
            predicted = found.predict(rows)
            assert isinstance(predicted, np.ndarray) and predicted.dtype == rows.dtype
            close(predicted, known.predict(rows), dtype, 5)
            close(
                clone(model).fit(rows, Y).predict(rows),
                KRR(feature_map=feature_map, cv=5).fit(rows, Y).predict(rows),
                dtype,
                5,
            )
    again = pickle.loads(pickle.dumps(found))
    close(again.predict(rows, return_std=True)[1], found.predict(rows, return_std=True)[1], dtype)
    labels = Y[:, 0] > 0
    on_cpu, classifier = (
        KRRClassifier(feature_map=FEATURES, cv=5, criterion="error_rate", **options).fit(X, labels)
        for options in ({}, {"device": device})
    )
    assert classifier.predict(X).dtype == bool
    assert classifier.score(X, labels) == pytest.approx(on_cpu.score(X, labels), abs=0.01)


def test_devices_that_torch_has_not_are_refused():
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="KRR: device must be None or a device that torch has here"):
        KRR(device="abacus").fit(X, Y)

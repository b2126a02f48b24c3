"""Exact ridge regression by conjugate gradients: the direct solution, without its matrix."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from rflib.kernels import DeltaGaussian, Gaussian, Laplacian, Polynomial
from rflib.learners import ExactKRR, ExactKRRClassifier, conjugate_gradients, exact_ridge, kernel_products

RNG = np.random.default_rng(0)
N = 200
X, NEW = RNG.standard_normal((N, 4)), RNG.standard_normal((50, 4))
Y = np.column_stack([np.sin(2 * X[:, 0]) + 5, X[:, 1] * X[:, 2]]) + 0.1 * RNG.standard_normal((N, 2))
WEIGHTS = RNG.integers(0, 4, N) / 2
ALPHAS = (1e-5, 1e-3, 1e-1)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles of which there are several, the last one smaller."""
    monkeypatch.setattr(kernel_products, "_TILE", 64)


def both(learner, *rows_and_y, **more):
    """The learner fitted by conjugate gradients and directly."""
    return [clone(learner).set_params(solver=solver).fit(*rows_and_y, **more) for solver in ("cg", "direct")]


def assert_same(found, expected, new):
    values = "decision_function" if hasattr(expected, "decision_function") else "predict"
    known = getattr(expected, values)(new)
    np.testing.assert_allclose(getattr(found, values)(new), known, atol=1e-6 * np.abs(known).max())


@pytest.mark.parametrize("alpha", [1e-7, 1e-3])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize(
    "kernel",
    [Gaussian("scale"), Gaussian((1, 2, 2, 3)), Laplacian(0.3), Polynomial(2, 1.0), lambda X, Y: X @ Y.T + 1],
    ids=["Gaussian", "widths", "Laplacian", "Polynomial", "function"],
)
def test_the_solution_is_the_direct_one(kernel, weights, alpha):
    """Also for ridges below the rounding of single precision, which is 1e-7 times n."""
    found, expected = both(ExactKRR(kernel, alphas=alpha), X, Y, sample_weight=weights)
    assert_same(found, expected, NEW)
    assert found.dual_coef_.shape == expected.dual_coef_.shape
    np.testing.assert_allclose(found.target_means_, expected.target_means_, rtol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unit", [1e-170, 1e170])
def test_rows_without_squares_in_single_precision(unit, container):
    rows = container(unit * X)
    found, expected = both(ExactKRR(Gaussian("median"), alphas=0.1), rows, Y)
    assert_same(found, expected, container(unit * NEW))


def test_sparse_rows_and_precomputed_similarities():
    rows = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0))
    assert_same(*both(ExactKRR(Gaussian(2.0), alphas=1e-4), rows, Y), NEW)
    kernel = Gaussian(2.0)
    assert_same(
        *both(ExactKRR("precomputed", alphas=1e-4), kernel(X), Y, sample_weight=WEIGHTS), kernel(NEW, X)
    )


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_a_ridge_is_chosen_by_the_errors_of_the_same_folds(weights):
    found, expected = both(ExactKRR(Gaussian("scale"), alphas=ALPHAS, cv=4), X, Y, sample_weight=weights)
    np.testing.assert_allclose(found.cv_errors_, expected.cv_errors_, rtol=1e-3)
    assert found.alpha_ == expected.alpha_
    assert_same(found, expected, NEW)


@pytest.mark.parametrize("criterion", ["squared_error", "error_rate"])
def test_labels(criterion, monkeypatch):
    """In as many runs as ridges, too."""
    labels = np.array(["a", "b", "c"])[np.digitize(Y[:, 0], [4.6, 5.4])]
    learner = ExactKRRClassifier(
        Gaussian("scale"), alphas=ALPHAS, cv=3, criterion=criterion, class_weight="balanced"
    )
    found, expected = both(learner, X, labels)
    rounding = 1e-3 if criterion == "squared_error" else 0
    np.testing.assert_allclose(
        found.cv_errors_, expected.cv_errors_, rtol=rounding, atol=2 / N * (not rounding)
    )
    assert found.alpha_ == expected.alpha_
    assert_same(found, expected, NEW)
    monkeypatch.setattr("rflib.learners.gradient_fits._NUMBERS", 1)
    in_turn = clone(found).fit(X, labels)
    np.testing.assert_allclose(in_turn.cv_errors_, found.cv_errors_, rtol=1e-3)


def test_no_matrix_is_made(monkeypatch):
    monkeypatch.undo()
    n = 4000
    rows = RNG.standard_normal((n, 3))
    tracemalloc.start()
    found = ExactKRR(Gaussian(2.0), alphas=1e-3, solver="cg").fit(rows, np.sin(rows[:, 0]))
    found.predict(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n**2 and found.score(rows, np.sin(rows[:, 0])) > 0.99


def test_auto_makes_no_matrix_where_it_takes_more_than_its_share_of_memory(monkeypatch):
    def folds(**parameters):
        return ExactKRR(Gaussian(2.0), alphas=ALPHAS, **parameters).fit(X, Y).cv_errors_.shape[1]

    for memory, expected in ((64 * N**2, 1), (64 * N**2 - 64, 5)):  # leave-one-out, or 5 folds
        monkeypatch.setattr(exact_ridge, "machine_memory", lambda memory=memory: memory)
        assert folds() == expected
    assert folds(solver="direct") == 1 and folds(solver="cg") == 5
    K = Gaussian(2.0)(X)
    assert ExactKRR("precomputed", alphas=ALPHAS).fit(K, Y).cv_errors_.shape[1] == 1
    flipped = ExactKRR(DeltaGaussian(), alphas=0.1, repair="flip").fit(X, Y)
    assert len(flipped.repair_.vectors) == N


def test_what_gradients_cannot_do():
    with pytest.raises(ValueError, match=r"^ExactKRR: the kernel matrix is not positive .* solver='direct'"):
        ExactKRR(DeltaGaussian(coefficients=(1, -0.9), sigmas=(1, 3)), alphas=1e-6, solver="cg").fit(X, Y)
    with pytest.raises(ValueError, match=r"^ExactKRR: a repair needs the whole kernel matrix\. Use solver="):
        ExactKRR(solver="cg", repair="clip").fit(X, Y)


def test_too_few_steps_are_told_with_the_remedy(monkeypatch):
    monkeypatch.setattr("rflib.learners.gradient_fits.STEPS", 1)
    monkeypatch.setattr("rflib.learners.kernel_systems._RANK", 0.2)
    learner = ExactKRR(Gaussian(0.7), alphas=1e-6, solver="cg")
    with pytest.warns(
        ConvergenceWarning, match=r"^ExactKRR: .* at alpha = 1e-06, .* Use a larger alpha"
    ) as told:
        learner.fit(X, Y)
    assert len(told) == 1 and told[0].filename == __file__
    assert np.isfinite(learner.predict(NEW)).all()


def test_ridges_that_do_not_converge_are_not_chosen(monkeypatch):
    monkeypatch.setattr("rflib.learners.gradient_fits.CV_STEPS", 3)
    monkeypatch.setattr("rflib.learners.kernel_systems._RANK", 0.2)
    found = ExactKRR(Gaussian(0.7), alphas=(1e-9, 1e-2, 10), cv=3, solver="cg").fit(X, X[:, 0])
    assert np.isinf(found.cv_errors_[0]).all() and np.isfinite(found.cv_errors_[1:]).all()
    assert found.alpha_ == 1e-2


def test_progress(monkeypatch, capsys):
    ExactKRR(Gaussian(2.0), alphas=1e-3, solver="cg", verbose=True).fit(X, Y)
    assert not capsys.readouterr().out
    monkeypatch.setattr(conjugate_gradients, "_LINE_SECONDS", 0.0)
    ExactKRR(Gaussian(2.0), alphas=1e-3, solver="cg", verbose=True).fit(X, Y)
    assert "ExactKRR: step 2 in single precision, largest residual" in capsys.readouterr().out
    ExactKRR(Gaussian(2.0), alphas=1e-3, solver="cg").fit(X, Y)
    assert not capsys.readouterr().out

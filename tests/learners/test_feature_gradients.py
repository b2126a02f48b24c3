"""Ridge regression on features by conjugate gradients: the direct solution, without a Gram matrix."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold

from rflib.kernels import DeltaGaussian, Gaussian
from rflib.learners import KRR, ArrayRows, KRRClassifier, feature_systems
from rflib.maps import GORF, RFF

RNG = np.random.default_rng(0)
N = 250
X, NEW = RNG.standard_normal((N, 4)), RNG.standard_normal((50, 4))
Y = np.column_stack([np.sin(2 * X[:, 0]) + 5, X[:, 1] * X[:, 2]]) + 0.1 * RNG.standard_normal((N, 2))
WEIGHTS = RNG.integers(0, 4, N) / 2
ALPHAS = (1e-5, 1e-3, 1e-1)
FEATURES = RFF(Gaussian(2.0), 400, random_state=0)


def both(learner, *rows_and_y, **more):
    return [clone(learner).set_params(solver=solver).fit(*rows_and_y, **more) for solver in ("cg", "direct")]


def assert_same(found, expected, new=NEW, rounding=1e-6):
    values = "decision_function" if hasattr(expected, "decision_function") else "predict"
    known = getattr(expected, values)(new)
    np.testing.assert_allclose(getattr(found, values)(new), known, atol=rounding * np.abs(known).max())
    assert found.coef_.shape == expected.coef_.shape and found.coef_.dtype == expected.coef_.dtype


@pytest.mark.parametrize("D", [40, 400])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize("kept", [0, 1], ids=["made again", "kept"])
def test_the_solution_is_the_direct_one(D, weights, kept, monkeypatch):
    """In blocks of 60 rows, whether these are kept or not."""
    monkeypatch.setattr(feature_systems, "_KEPT_SHARE", kept)
    made = []

    class Counted(RFF):
        def transform(self, X):
            made.append(len(X))
            return super().transform(X)

    features = Counted(Gaussian(2.0), D, random_state=0)
    for alpha, y in ((1e-7, Y), (1e-2, Y[:, 0])):
        learner = KRR(feature_map=features, alphas=alpha, block_size=60)
        made.clear()
        found = clone(learner).set_params(solver="cg").fit(X, y, sample_weight=weights)
        assert (sum(made) <= 2 * N) == bool(kept)
        assert_same(found, learner.fit(X, y, sample_weight=weights))


def test_single_precision_and_rows_of_features():
    """Products are those of double precision, so that the solution is that of a float64 Gram matrix."""
    Z = FEATURES.fit(X).transform(X.astype(np.float32))
    learner = KRR(alphas=1e-6, gram_dtype="float64")
    found, expected = both(learner, Z, Y)
    assert found.coef_.dtype == np.float32
    known = expected.predict(Z)
    np.testing.assert_allclose(found.predict(Z), known, atol=1e-5 * np.abs(known).max())


@pytest.mark.parametrize("cv", [4, GroupKFold(3)], ids=["4", "groups"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_a_ridge_is_chosen_by_the_errors_of_the_same_folds(cv, weights):
    learner = KRR(feature_map=FEATURES, alphas=ALPHAS, cv=cv)
    groups = None if cv == 4 else np.arange(N) % 10
    found, expected = both(learner, X, Y, sample_weight=weights, groups=groups)
    np.testing.assert_allclose(found.cv_errors_, expected.cv_errors_, rtol=1e-3)
    assert found.alpha_ == expected.alpha_
    assert found.best_score_ == pytest.approx(expected.best_score_, rel=1e-3)
    assert_same(found, expected)


@pytest.mark.parametrize("criterion", ["squared_error", "error_rate"])
def test_labels(criterion):
    labels = np.array(["a", "b", "c"])[np.digitize(Y[:, 0], [4.6, 5.4])]
    found, expected = both(
        KRRClassifier(feature_map=FEATURES, alphas=ALPHAS, cv=3, criterion=criterion), X, labels
    )
    rounding = 1e-3 if criterion == "squared_error" else 0
    np.testing.assert_allclose(
        found.cv_errors_, expected.cv_errors_, rtol=rounding, atol=2 / N * (not rounding)
    )
    assert_same(found, expected)
    np.testing.assert_array_equal(found.predict(NEW), expected.predict(NEW))


def test_positive_columns_alone():
    signed = GORF(DeltaGaussian(), 60, random_state=0)
    assert_same(*both(KRR(feature_map=signed, alphas=1e-3, signed="positive"), X, Y))


def test_no_gram_matrix_is_made(monkeypatch):
    monkeypatch.setattr(feature_systems, "_KEPT_SHARE", 0)
    D = 4000
    tracemalloc.start()
    KRR(feature_map=RFF(Gaussian(2.0), D, random_state=0), alphas=1e-2, solver="cg", block_size=50).fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * D**2 / 4


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (
            KRR(solver="cg", criterion="marginal_likelihood"),
            "criterion='marginal_likelihood' needs a Gram matrix",
        ),
        (KRR(solver="cg", signed="krein", signature=np.ones(4)), "signed='krein' needs a Gram matrix"),
    ],
    ids=["likelihood", "krein"],
)
def test_what_needs_a_gram_matrix_is_named(learner, words):
    with pytest.raises(ValueError, match=rf"^KRR: {words}, .* Use solver='direct'\."):
        learner.fit(X, Y)


def test_streams_and_deviations_need_a_gram_matrix():
    learner = KRR(feature_map=FEATURES, alphas=1e-3, solver="cg").fit(X, Y)
    for call in (
        lambda: learner.partial_fit(X, Y),
        lambda: learner.fit_blocks(ArrayRows(X, Y)),
        lambda: learner.predict(X, return_std=True),
        lambda: learner.sample_y(X),
    ):
        with pytest.raises(ValueError, match=r"^KRR: .*solver='cg'.* Use solver='direct'\."):
            call()
    assert not hasattr(learner, "noise_variance_") and learner.predict(NEW).shape == (50, 2)


def test_too_few_steps_are_told_with_the_remedy(monkeypatch):
    monkeypatch.setattr("rflib.learners.gradient_fits.STEPS", 1)
    monkeypatch.setattr("rflib.learners.feature_systems._RANK", 0.1)
    with pytest.warns(ConvergenceWarning, match=r"^KRR: .* at alpha = 1e-06, .* Use a larger alpha") as told:
        KRR(feature_map=FEATURES, alphas=1e-6, solver="cg").fit(X, Y)
    assert len(told) == 1 and told[0].filename == __file__

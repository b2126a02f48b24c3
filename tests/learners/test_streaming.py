"""KRR in blocks of a stream, and with weights: equal to all rows at once, and to repeated rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from rflib.kernels import DeltaGaussian, Gaussian, SphericalPolynomial
from rflib.learners import KRR, KRRClassifier
from rflib.learners.folds import folds_by_content
from rflib.maps import GORF, ORF, RFF, SRF, Nystroem

ALPHAS = tuple(np.logspace(-6, 0, 7))
FOURIER = RFF(Gaussian(2.0), n_components=24, random_state=0)


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(150) + 5


def streamed(learner, X, y, cuts, order, weights=None, **first):
    """The learner after the blocks between the cuts, in an order."""
    parts = np.split(np.arange(X.shape[0]), cuts)
    learner = clone(learner)
    for i in order:
        given = {} if weights is None else {"sample_weight": weights[parts[i]]}
        learner.partial_fit(X[parts[i]], y[parts[i]], **given, **first)
    return learner


@settings(max_examples=25)
@given(
    cuts=st.lists(st.integers(2, 148), min_size=1, max_size=5, unique=True).map(sorted),
    seed=st.integers(0, 100),
    weighted=st.booleans(),
    krein=st.booleans(),
    evidence=st.booleans(),
    classifier=st.booleans(),
)
def test_any_blocks_in_any_order_are_the_fit_on_all_rows(
    regression, cuts, seed, weighted, krein, evidence, classifier
):
    X, y = regression
    order = np.random.default_rng(seed).permutation(len(cuts) + 1)
    parts = np.split(np.arange(len(X)), cuts)
    if len(parts[order[0]]) < 2:
        order = np.roll(order, -next(i for i, part in enumerate(order) if len(parts[part]) > 1))
    weights = np.random.default_rng(seed).integers(0, 3, len(X)) / 2 if weighted else None
    several = evidence and not krein
    learner = (KRRClassifier if classifier else KRR)(
        feature_map=GORF(DeltaGaussian(), n_components=24, random_state=0) if krein else FOURIER,
        signed="krein" if krein else "associated",
        alphas=ALPHAS if several else 1e-2,
        criterion="marginal_likelihood" if several else "squared_error",
        block_size=40,
    )
    y = np.digitize(y, [4.5, 5.5]) if classifier else y
    first = {"classes": [0, 1, 2]} if classifier else {}
    found = streamed(learner, X, y, cuts, order, weights, **first)
    whole = clone(learner).fit(X, y, sample_weight=weights)
    assert found.alpha_ == whole.alpha_
    scale = np.abs(whole.coef_).max()
    np.testing.assert_allclose(found.coef_, whole.coef_, atol=1e-8 * scale)
    np.testing.assert_allclose(found.intercept_, whole.intercept_, rtol=1e-12, atol=1e-12)
    predict = "decision_function" if classifier else "predict"
    np.testing.assert_allclose(getattr(found, predict)(X), getattr(whole, predict)(X), rtol=1e-8, atol=1e-8)


def test_the_folds_of_a_stream_do_not_depend_on_blocks_or_order(regression):
    X, y = regression
    learner = KRR(feature_map=FOURIER, alphas=ALPHAS)
    found = [
        streamed(learner, X, y, cuts, order)
        for cuts, order in (([], [0]), ([70], [1, 0]), ([3, 9, 100], [2, 3, 0, 1]))
    ]
    for other in found[1:]:
        np.testing.assert_allclose(other.cv_errors_, found[0].cv_errors_, rtol=1e-8)
        assert other.alpha_ == found[0].alpha_
    np.testing.assert_allclose(
        found[0].coef_, clone(learner).set_params(alphas=found[0].alpha_).fit(X, y).coef_, rtol=1e-7
    )
    # the errors are those of explicit folds
    folds = folds_by_content(X, 5, found[0]._state.seed)
    splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(5)]
    explicit = clone(learner).set_params(cv=splits).fit(X, y)
    np.testing.assert_allclose(found[0].cv_errors_, explicit.cv_errors_, rtol=1e-8)


def test_folds_by_content_are_even_and_the_same_for_sparse_rows_and_other_types():
    X = np.random.default_rng(0).integers(-2, 3, (6000, 8))
    folds = folds_by_content(X, 4, 0)
    for same in (
        X.astype(np.float32),
        sparse.csr_matrix(X),
        sparse.csr_array(X.astype(float)),
        sparse.csr_array(
            (np.repeat(X.ravel() / 2, 2), np.repeat(np.tile(range(8), 6000), 2), 16 * np.arange(6001)),
            shape=X.shape,
        ),
        np.where(X == 0, -0.0, X),
    ):
        np.testing.assert_array_equal(folds_by_content(same, 4, 0), folds)
    assert (folds_by_content(X, 4, 1) != folds).mean() > 0.6
    # distinct rows: counts within five standard deviations, false alarms 2e-6
    _, first = np.unique(X, axis=0, return_index=True)
    counts = np.bincount(folds[first])
    assert np.abs(counts - len(first) / 4).max() < 5 * np.sqrt(len(first) * 3 / 16)


def test_solved_when_asked_for_and_again_after_more_rows(regression, monkeypatch):
    X, y = regression
    solved = []
    original = KRR._solve
    monkeypatch.setattr(KRR, "_solve", lambda self, *args: solved.append(1) or original(self, *args))
    learner = KRR(feature_map=FOURIER, alphas=1e-2)
    for rows in np.split(np.arange(150), 5):
        learner.partial_fit(X[rows], y[rows])
    assert not solved
    learner.predict(X)
    learner.predict(X)
    assert len(solved) == 1
    coef = learner.coef_
    learner.partial_fit(X[:10], y[:10] + 1)
    assert np.abs(learner.coef_ - coef).max() > 1e-6
    assert not hasattr(learner, "cv_errors_")


def test_several_targets_in_a_stream(regression):
    X, y = regression
    Y = np.column_stack([y, X[:, 2]])
    learner = KRR(feature_map=FOURIER, alphas=1e-2)
    np.testing.assert_allclose(
        streamed(learner, X, Y, [40], [1, 0]).coef_, clone(learner).fit(X, Y).coef_, rtol=1e-7, atol=1e-9
    )
    with pytest.raises(ValueError, match="y must have as many columns as in the first block"):
        streamed(learner, X, Y, [40], [0]).partial_fit(X, y)


class Landmarks(TransformerMixin, BaseEstimator):
    """A map that is made of rows, of a class of somebody's own."""

    def fit(self, X, y=None):
        self.rows_ = X[:5]
        return self

    def transform(self, X):
        return X @ self.rows_.T


@pytest.mark.parametrize(
    "feature_map",
    [
        Nystroem(Gaussian(), n_components=10, random_state=0),
        Landmarks(),
        RBFSampler(gamma="scale", n_components=10, random_state=0),
        RBFSampler(gamma="scale", n_components=10),
        make_pipeline(Normalizer(), Nystroem(Gaussian(), n_components=10)),
        SRF(Gaussian(), n_components=16),
    ],
    ids=repr,
)
def test_a_map_that_depends_on_the_rows_is_refused_or_given_fitted(regression, feature_map):
    X, y = regression
    with pytest.raises(
        ValueError, match=r"^KRR: partial_fit fits .* first block .*FrozenEstimator\(map.fit\(rows\)"
    ):
        KRR(feature_map=feature_map).partial_fit(X[:60], y[:60])
    frozen = KRR(feature_map=FrozenEstimator(clone(feature_map).fit(X[:60], y[:60])), alphas=1e-2)
    np.testing.assert_allclose(
        streamed(frozen, X, y, [60, 70], [1, 2, 0]).predict(X), clone(frozen).fit(X, y).predict(X), rtol=1e-7
    )


@pytest.mark.parametrize(
    "feature_map",
    [
        RFF(Gaussian(), n_components=16),
        ORF(Gaussian(), n_components=16, random_state=3),
        make_pipeline(Normalizer(), GORF(SphericalPolynomial(), n_components=16)),
        RBFSampler(n_components=16),
        PolynomialCountSketch(n_components=16),
    ],
    ids=repr,
)
def test_a_map_that_needs_only_the_number_of_columns_is_fitted_on_the_first_block(regression, feature_map):
    X, y = regression
    learner = streamed(KRR(feature_map=feature_map, alphas=1e-2), X, y, [60, 70], [0, 1, 2])
    frozen = KRR(feature_map=FrozenEstimator(learner.feature_map_), alphas=1e-2).fit(X, y)
    np.testing.assert_allclose(learner.predict(X), frozen.predict(X), rtol=1e-7)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (KRR(cv=[([0], [1])]), "needs cv to be a number of folds"),
        (KRR(feature_map=FOURIER), "first block needs two rows"),
    ],
)
def test_streams_that_cannot_be(regression, learner, message):
    X, y = regression
    first = {"classes": [0, 1]} if isinstance(learner, KRRClassifier) else {}
    with pytest.raises(ValueError, match=message):
        learner.partial_fit(X[:1], (y > 5)[:1], **first)
    twice = KRRClassifier(criterion="error_rate")
    assert not hasattr(twice, "partial_fit")


def test_a_map_s_own_error_is_not_taken_for_dependence_on_the_rows(regression):
    with pytest.raises(ValueError, match=r"^RFF: "):
        KRR(feature_map=RFF(DeltaGaussian(), n_components=8)).partial_fit(*regression)


@pytest.mark.parametrize("criterion", ["squared_error", "marginal_likelihood"])
@pytest.mark.parametrize("alphas", [0.1, ALPHAS])
def test_partial_fit_goes_on_from_fit(regression, alphas, criterion):
    X, y = regression
    learner = KRR(feature_map=FOURIER, alphas=alphas, criterion=criterion).fit(X[:90], y[:90])
    kept = learner.alpha_
    learner.partial_fit(X[90:], y[90:])
    if criterion == "squared_error":
        assert learner.alpha_ == kept
        alphas = kept
    whole = KRR(feature_map=FOURIER, alphas=alphas, criterion=criterion).fit(X, y)
    assert learner.alpha_ == whole.alpha_
    np.testing.assert_allclose(learner.predict(X), whole.predict(X), rtol=1e-8)
    np.testing.assert_array_equal(learner.set_params(alphas=alphas).fit(X, y).coef_, whole.coef_)


def test_too_few_rows_for_the_folds_of_a_stream_are_said_when_it_is_solved(regression):
    X, y = regression
    learner = KRR().partial_fit(X[:1], y[:1])
    with pytest.raises(ValueError, match=r"two folds or more. Give more rows, a single alpha, or criterion="):
        learner.predict(X)
    learner.partial_fit(X[1:], y[1:])
    assert learner.predict(X).shape == (150,)


def test_labels_of_a_stream(regression):
    X, y = regression
    y = np.where(y > 5, "yes", "no")
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        KRRClassifier().partial_fit(X, y)
    learner = KRRClassifier(alphas=0.1).partial_fit(X[:2], y[:2], classes=["yes", "no"])
    with pytest.raises(ValueError, match="y holds 'maybe', which is not in classes"):
        learner.partial_fit(X[:2], ["maybe", "no"])
    with pytest.raises(ValueError, match="not those of the first call"):
        learner.partial_fit(X, y, classes=["yes", "no", "maybe"])
    np.testing.assert_allclose(
        learner.partial_fit(X[2:], y[2:]).coef_, KRRClassifier(alphas=0.1).fit(X, y).coef_, rtol=1e-7
    )


@settings(max_examples=20)
@given(
    counts=st.lists(st.integers(0, 3), min_size=40, max_size=40).filter(
        lambda c: min(sum(c[:20]), sum(c[20:])) > 9
    ),
    criterion=st.sampled_from(["squared_error", "error_rate", "marginal_likelihood"]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_weights_are_repeated_rows(regression, counts, criterion, dtype):
    """With folds that hold all repetitions of a row."""
    X, y = regression[0][:40].astype(dtype), regression[1][:40]
    counts = np.array(counts)
    rows = np.repeat(np.arange(40), counts)
    first = np.arange(40) < 20
    splits = [(np.flatnonzero(part), np.flatnonzero(~part)) for part in (first, ~first)]
    repeated = [tuple(np.flatnonzero(np.isin(rows, part)) for part in split) for split in splits]
    kind = KRRClassifier if criterion == "error_rate" else KRR
    y = y > np.median(y) if kind is KRRClassifier else y
    learner = kind(feature_map=FOURIER, alphas=(1e-3, 1e-1), criterion=criterion, gram_dtype="float64")
    weighted = clone(learner).set_params(cv=splits).fit(X, y, sample_weight=counts)
    expected = clone(learner).set_params(cv=repeated).fit(X[rows], y[rows])
    assert weighted.alpha_ == expected.alpha_
    name = "log_marginal_likelihoods_" if criterion == "marginal_likelihood" else "cv_errors_"
    tolerance = 1e-4 if dtype == np.float32 else 1e-7
    np.testing.assert_allclose(getattr(weighted, name), getattr(expected, name), rtol=tolerance, atol=1e-7)
    np.testing.assert_allclose(weighted.coef_, expected.coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(weighted.intercept_, expected.intercept_, rtol=1e-9)


@pytest.mark.parametrize("kind", [KRR, KRRClassifier])
def test_weights_are_repeated_rows_in_the_folds_of_a_stream(kind, regression):
    X, y = regression[0][:80], regression[1][:80]
    y = y > np.median(y) if kind is KRRClassifier else y
    classes = {"classes": [False, True]} if kind is KRRClassifier else {}
    counts = np.arange(80) % 4
    learner = kind(feature_map=FOURIER, alphas=np.logspace(-6, 2, 20), random_state=0)
    weighted = clone(learner).partial_fit(X, y, sample_weight=counts, **classes)
    repeated = clone(learner).partial_fit(np.repeat(X, counts, axis=0), np.repeat(y, counts), **classes)
    assert weighted.alpha_ == repeated.alpha_
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-9)

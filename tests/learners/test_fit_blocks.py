"""Learners on rows in blocks: the fit on all rows, from Parquet, memory maps and iterables, in bounded memory."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator

from rflib.kernels import DeltaGaussian, Gaussian
from rflib.learners import (
    KRR,
    ArrayRows,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    KRRClassifier,
    LinearSVM,
    LinearSVR,
    ParquetRows,
)
from rflib.learners.folds import folds_by_content
from rflib.maps import GORF, RFF, Nystroem, TensorSketch

ALPHAS = (1e-4, 1e-2, 1e-1)
FOURIER = RFF(Gaussian(2.0), n_components=24, random_state=0)
N = 150


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((N, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(N) + 5


def labels_of(y):
    return np.array(["low", "middle", "high"])[np.digitize(y, [4.5, 5.5])]


def source_of(kind, X, y, weights, size, folder):
    """The rows as a source of some kind, in blocks of a size."""
    if kind == "parquet":
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = {f"x{j}": column for j, column in enumerate(X.T)}
        table = pa.table(columns | {"y": y} | ({} if weights is None else {"weight": weights}))
        half = len(X) // 2
        for name, part in (("0", table.slice(0, half)), ("1", table.slice(half))):
            parquet.write_table(part, folder / f"{name}.parquet", row_group_size=17)
        weight = None if weights is None else "weight"
        return ParquetRows(folder, list(columns), target="y", weight=weight, block_size=size)
    if kind == "memmap":
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
        mapped = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in "Xy"]
        return ArrayRows(*mapped, weights, block_size=size)
    parts = np.split(np.arange(len(X)), range(size, len(X), size))
    if kind == "sparse":
        return [(sparse.csr_array(X[p]), y[p], *([] if weights is None else [weights[p]])) for p in parts]
    blocks = [(X[p], y[p], *([] if weights is None else [weights[p]])) for p in parts]
    return blocks if kind == "list" else iter(blocks)


def named(learner, X):
    """The rows with the names of columns that the learner was fitted with, if it was."""
    names = getattr(learner, "feature_names_in_", None)
    return X if names is None else pd.DataFrame(X, columns=names)


def with_the_folds_of_blocks(learner, X):
    """The learner with explicit folds: those that `fit_blocks` deals the rows to."""
    seed = np.random.RandomState(learner.random_state).randint(2**31 - 1)
    folds = folds_by_content(X, 5, seed)
    splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(5)]
    return clone(learner).set_params(cv=splits)


KINDS = ("parquet", "memmap", "sparse", "list", "iterator")


@settings(max_examples=20)
@given(
    kind=st.sampled_from(KINDS),
    size=st.integers(2, 200),
    dtype=st.sampled_from([np.float32, np.float64]),
    weighted=st.booleans(),
    classifier=st.booleans(),
    criterion=st.sampled_from(["squared_error", "marginal_likelihood", "error_rate"]),
    one_alpha=st.booleans(),
)
def test_ridge_regression_is_the_fit_on_all_rows(
    rows, tmp_path_factory, kind, size, dtype, weighted, classifier, criterion, one_alpha
):
    X, y = rows[0].astype(dtype), rows[1]
    weights = np.random.default_rng(size).integers(0, 3, N) / 2 if weighted else None
    learner = KRR(feature_map=FOURIER, block_size=40, gram_dtype="float64")
    if classifier:
        learner, y = KRRClassifier(**learner.get_params(deep=False)), labels_of(y)
    elif criterion == "error_rate":
        criterion = "squared_error"
    learner.set_params(alphas=1e-2 if one_alpha else ALPHAS, criterion=criterion)
    more = {}
    if classifier and kind == "iterator":
        more["classes"] = np.unique(y)
        learner.set_params(criterion="marginal_likelihood" if criterion == "error_rate" else criterion)
    source = source_of(kind, X, y, weights, size, tmp_path_factory.mktemp("rows"))
    found = clone(learner).fit_blocks(source, **more)
    whole = with_the_folds_of_blocks(learner, X).fit(X, y, sample_weight=weights)
    assert found.alpha_ == whole.alpha_
    scale = np.abs(whole.coef_).max()
    rough = dtype == np.float32  # sums of single-precision features
    np.testing.assert_allclose(found.coef_, whole.coef_, atol=scale * (1e-4 if rough else 1e-9))
    np.testing.assert_allclose(found.intercept_, whole.intercept_, rtol=1e-10, atol=1e-10)
    if hasattr(whole, "cv_errors_"):
        np.testing.assert_allclose(found.cv_errors_, whole.cv_errors_, rtol=1e-4 if rough else 1e-9)
    if classifier:
        np.testing.assert_array_equal(found.classes_, whole.classes_)
    assert clone(learner).set_params(gram_dtype=None).fit(X, y).coef_.dtype == dtype
    assert found.predict(named(found, X)).shape == y.shape


def test_single_precision_stays(rows, tmp_path):
    X, y = rows[0].astype(np.float32), rows[1]
    for kind in KINDS:
        source = source_of(kind, X, y, None, 40, tmp_path)
        assert KRR(feature_map=FOURIER, alphas=0.1).fit_blocks(source).coef_.dtype == np.float32


def test_several_targets(rows, tmp_path):
    pytest.importorskip("pyarrow")
    X, y = rows
    Y = np.column_stack([y, X[:, 2]])
    whole = KRR(feature_map=FOURIER, alphas=0.1).fit(X, Y)
    by_blocks = clone(whole).fit_blocks(ArrayRows(X, Y, block_size=40))
    np.testing.assert_allclose(by_blocks.coef_, whole.coef_, rtol=1e-8, atol=1e-10)
    with pytest.raises(ValueError, match=r"KRR: in block 1: y must have as many columns"):
        clone(whole).fit_blocks([(X[:40], Y[:40]), (X[40:80], y[40:80])])


@pytest.mark.parametrize(
    "feature_map",
    [
        Nystroem(Gaussian(), n_components=10, random_state=0),
        RFF(Gaussian("median"), n_components=24, random_state=0),
    ],
    ids=repr,
)
def test_a_map_that_needs_rows_gets_a_sample(rows, feature_map):
    """The sample is all rows if these are few enough, else some of them, whatever the blocks."""
    X, y = rows
    learner = KRR(feature_map=feature_map, alphas=1e-2)
    source = ArrayRows(X, y, block_size=40)
    np.testing.assert_allclose(clone(learner).fit_blocks(source).predict(X), learner.fit(X, y).predict(X))
    some = clone(learner).fit_blocks(source, sample_size=60)
    fitted = KRR(feature_map=FrozenEstimator(some.feature_map_), alphas=1e-2)
    np.testing.assert_allclose(some.predict(X), fitted.fit(X, y).predict(X))
    other = clone(learner).fit_blocks(ArrayRows(X, y, block_size=11), sample_size=60)
    np.testing.assert_allclose(some.predict(X), other.predict(X))
    assert np.abs(some.predict(X) - learner.predict(X)).max() > 1e-6


def test_signed_features(rows):
    X, y = rows
    learner = KRR(
        feature_map=GORF(DeltaGaussian(), n_components=24, random_state=0), signed="krein", alphas=0.1
    )
    by_blocks = clone(learner).fit_blocks(ArrayRows(X, y, block_size=40))
    np.testing.assert_allclose(by_blocks.predict(X), learner.fit(X, y).predict(X), rtol=1e-8)


def test_what_blocks_that_come_once_can_do(rows):
    X, y = rows

    def blocks(y=y):
        return ((X[part], y[part]) for part in np.split(np.arange(N), 3))

    needs_rows = Nystroem(Gaussian(), n_components=10, random_state=0)
    with pytest.raises(
        ValueError,
        match=r"^KRR: a feature_map that depends on the rows, .* Nystroem, takes another pass .*FrozenEst",
    ):
        KRR(feature_map=needs_rows).fit_blocks(blocks())
    frozen = KRR(feature_map=FrozenEstimator(needs_rows.fit(X)), alphas=0.1)
    np.testing.assert_allclose(frozen.fit_blocks(blocks()).predict(X), clone(frozen).fit(X, y).predict(X))
    labels = labels_of(y)
    with pytest.raises(
        ValueError, match=r"finding the labels takes another pass .*or give all of them as classes"
    ):
        KRRClassifier(feature_map=FOURIER).fit_blocks(blocks(labels))
    with pytest.raises(ValueError, match=r"criterion='error_rate' takes another pass"):
        KRRClassifier(criterion="error_rate").fit_blocks(blocks(labels), np.unique(labels))
    assert (
        KRRClassifier(feature_map=FOURIER).fit_blocks(blocks(labels), np.unique(labels)).score(X, labels)
        > 0.7
    )


def test_labels(rows):
    """Labels that come late are found; given ones are checked; those of rows without weight do not count."""
    X, y = rows
    order = np.argsort(y)
    labels = labels_of(y)[order]
    source = ArrayRows(X[order], labels, block_size=20)
    assert KRRClassifier().fit_blocks(source).classes_.tolist() == ["high", "low", "middle"]
    with pytest.raises(ValueError, match=r"in rows .*: y holds 'high', which is not in classes"):
        KRRClassifier().fit_blocks(source, ["low", "middle"])
    with pytest.raises(ValueError, match="needs two classes or more, got one class: 'low'"):
        KRRClassifier().fit_blocks(ArrayRows(X[:20], labels[:20]))
    weights = (labels != "high").astype(float)
    weighted = KRRClassifier(alphas=0.1).fit_blocks(ArrayRows(X[order], labels, weights, block_size=20))
    expected = KRRClassifier(alphas=0.1).fit(X[order], labels, sample_weight=weights)
    assert weighted.classes_.tolist() == ["low", "middle"]
    np.testing.assert_allclose(weighted.coef_, expected.coef_, rtol=1e-8)


def test_bad_calls(rows):
    X, y = rows
    source = ArrayRows(X, y)
    for learner, options, message in (
        (KRR(cv=[([0], [1])]), {}, "fit_blocks needs cv to be a number of folds"),
        (KRR(), {"sample_size": 0}, "sample_size must be a number of at least 1, got 0"),
        (KRR(), {"checkpoint_seconds": -1}, "checkpoint_seconds must be a number of at least 0"),
        (KRR(alphas=-1.0), {}, "alphas must be a positive number"),
    ):
        with pytest.raises(ValueError, match=f"^KRR: {message}"):
            learner.fit_blocks(source, **options)
    with pytest.raises(ValueError, match=r"^KRR: there are no rows"):
        KRR().fit_blocks([])
    with pytest.raises(ValueError, match="X has 3 features, but KRR is expecting 4"):
        KRR().fit_blocks([(X[:50], y[:50]), (X[50:, 1:], y[50:])])


def test_partial_fit_goes_on_and_fit_begins_anew(rows):
    X, y = rows
    learner = KRR(feature_map=FOURIER, alphas=0.1)
    learner.fit_blocks(ArrayRows(X[:90], y[:90], block_size=20)).partial_fit(X[90:], y[90:])
    whole = clone(learner).fit(X, y)
    np.testing.assert_allclose(learner.predict(X), whole.predict(X), rtol=1e-8)
    np.testing.assert_array_equal(learner.fit(X, y).coef_, whole.coef_)
    np.testing.assert_allclose(
        learner.fit_blocks(ArrayRows(X[:90], y[:90])).coef_,
        clone(learner).fit(X[:90], y[:90]).coef_,
        rtol=1e-8,
    )


def test_progress(rows, capsys):
    X, y = rows
    labels = labels_of(y)
    KRRClassifier(feature_map=FOURIER).fit_blocks(ArrayRows(X, labels, block_size=40), verbose=True)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("KRRClassifier: first pass: 150 rows in 0:00:")
    assert second.startswith("KRRClassifier: moments: 150 rows in 0:00:")
    assert second.endswith(" rows a second")


def test_a_line_of_progress(rows, capsys, monkeypatch):
    """Of a clock that a block moves on by a minute."""
    from rflib.learners import passes

    seconds = iter(range(0, 10**6, 20))
    monkeypatch.setattr(passes, "monotonic", lambda: float(next(seconds)))
    X, y = rows
    KRR(alphas=0.1).fit_blocks(ArrayRows(X, y, block_size=50), verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("KRR: moments: 50 of 150 rows, ")
    assert all(line.endswith(" left") for line in lines[:-1])


def test_sparse_rows_and_a_sketch(rows):
    X, y = np.where(rows[0] > 0.5, rows[0], 0), rows[1]
    learner = KRR(feature_map=TensorSketch(n_components=32, random_state=0), alphas=0.1)
    found = clone(learner).fit_blocks(ArrayRows(sparse.csr_array(X), y, block_size=40))
    np.testing.assert_allclose(found.predict(named(found, X)), learner.fit(X, y).predict(X), rtol=1e-8)


def svm_of(kind, **settings):
    learner = LinearSVR(epsilon=0.2) if kind == "regression" else LinearSVM()
    return learner.set_params(solver="newton", **settings)


def objective(learner, Z, y, weights):
    """The objective of a fitted SVM, summed over its vectors."""
    coef, intercept = np.atleast_2d(learner.coef_), np.atleast_1d(learner.intercept_)
    values = Z @ coef.T + intercept
    if isinstance(learner, LinearSVR):
        loss = np.maximum(0, np.abs(y[:, None] - values) - learner.epsilon) ** 2
    else:
        own = y[:, None] == (learner.classes_ if len(coef) > 1 else learner.classes_[1:])
        loss = np.maximum(0, 1 - np.where(own, 1, -1) * values) ** 2
    return ((coef**2).sum() + (intercept**2).sum()) / 2 + learner.C * (weights @ loss).sum()


@settings(max_examples=15)
@given(
    kind=st.sampled_from(["regression", "two", "three", "six"]),
    source=st.sampled_from([kind for kind in KINDS if kind != "iterator"]),
    size=st.integers(2, 200),
    C=st.sampled_from([1e-2, 1.0, 100.0]),
    fit_intercept=st.booleans(),
    weighted=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_newtons_method_reaches_the_objective_of_fit(
    rows, tmp_path_factory, kind, source, size, C, fit_intercept, weighted, dtype
):
    X, y = rows[0].astype(dtype), rows[1]
    cuts = {"two": [5], "three": [4, 5.5], "six": [3, 4, 5, 6, 7]}
    y = y if kind == "regression" else np.digitize(y, cuts[kind])
    weights = np.random.default_rng(size).integers(0, 3, N) / 2 if weighted else None
    tol = 1e-3 if dtype == np.float32 else 1e-8
    learner = svm_of(kind, C=C, fit_intercept=fit_intercept, tol=tol, feature_map=FOURIER)
    blocks = source_of(source, X, y, weights, size, tmp_path_factory.mktemp("rows"))
    found = clone(learner).fit_blocks(blocks)
    whole = learner.fit(X, y, sample_weight=weights)
    Z, given = FOURIER.fit_transform(rows[0]), np.ones(N) if weights is None else weights
    ours, theirs = (objective(model, Z, y, given) for model in (found, whole))
    assert abs(ours - theirs) <= 2 * tol * theirs
    if dtype == np.float64:
        np.testing.assert_allclose(found.predict(named(found, X)), whole.predict(X), rtol=1e-2)
    assert np.shape(found.coef_) == np.shape(whole.coef_)
    assert np.shape(found.intercept_) == np.shape(whole.intercept_)


def test_newtons_step_is_shortened_where_it_is_too_long(rows):
    """At a large C whole steps overshoot; the passes that compare shares of a step end at the minimum too."""
    X, y = rows
    learner = svm_of("two", C=1e4, tol=1e-6, feature_map=RFF(Gaussian(1.0), 100, random_state=0))
    y = np.random.default_rng(0).integers(0, 2, N)
    found = clone(learner).fit_blocks(ArrayRows(X, y, block_size=40))
    whole = learner.fit(X, y)
    Z = whole.feature_map_.transform(X)
    assert objective(found, Z, y, np.ones(N)) == pytest.approx(objective(whole, Z, y, np.ones(N)), rel=2e-6)


def test_newtons_method_says_when_it_stops_early_and_what_it_cannot_do(rows):
    X, y = rows
    source = ArrayRows(X, y > 5)
    with pytest.warns(ConvergenceWarning, match="left a relative duality gap of"):
        assert svm_of("two", max_iter=1, tol=1e-9, feature_map=FOURIER).fit_blocks(source).n_iter_ == 1
    for learner in (LinearSVM(), LinearSVM(solver="newton", C="cv"), LinearSVR()):
        with pytest.raises(ValueError, match=r"fit_blocks needs solver='newton', .* and a number as C"):
            learner.fit_blocks(source)
    with pytest.raises(ValueError, match="squared loss in the primal"):
        LinearSVM(solver="newton", loss="hinge").fit_blocks(source)
    for learner in (svm_of("two"), DoublyStochasticRegressor()):
        with pytest.raises(ValueError, match="takes another pass over the rows, but these blocks"):
            learner.fit_blocks(iter([(X, y > 5)]))


SMALL = RFF(Gaussian(2.0), n_components=16)


@settings(max_examples=8)
@given(
    source=st.sampled_from([kind for kind in KINDS if kind not in ("iterator", "sparse")]),
    size=st.integers(2, 200),
    weighted=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    labels=st.booleans(),
    batch=st.sampled_from([7, 60, 200]),
)
def test_doubly_stochastic_gradients_draw_the_rows_of_fit(
    rows, tmp_path_factory, source, size, weighted, dtype, labels, batch
):
    X, y = rows[0].astype(dtype), rows[1]
    y = labels_of(y) if labels else y
    weights = np.random.default_rng(size).integers(0, 3, N) / 2 if weighted else None
    kind = DoublyStochasticClassifier if labels else DoublyStochasticRegressor
    learner = kind(SMALL, n_blocks=5, batch_size=batch)
    found = clone(learner).fit_blocks(source_of(source, X, y, weights, size, tmp_path_factory.mktemp("rows")))
    whole = learner.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(found.coefs_, whole.coefs_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.rows_drawn_, whole.rows_drawn_)
    np.testing.assert_array_equal(found.predict(named(found, X)), whole.predict(X)) if labels else None
    assert found.partial_fit(named(found, X), y).coefs_.shape[0] > 5


def test_doubly_stochastic_gradients_of_a_bad_source():
    for learner in (DoublyStochasticRegressor(SMALL), DoublyStochasticClassifier(SMALL)):
        name = type(learner).__name__
        with pytest.raises(ValueError, match=f"^{name}: there are no rows"):
            learner.fit_blocks([])
        assert not hasattr(learner, "n_features_in_")


MEMORY = """
import resource, sys
import numpy as np
from rflib.kernels import Gaussian
from rflib.learners import {learner}
from rflib.maps import RFF

class Rows:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        for start in range(0, self.n, 5000):
            X = np.random.default_rng(start).standard_normal((5000, 8), dtype=np.float32)
            yield X, np.where(X[:, 0] > 0, 1, -1)

def peak(n):
    {learner}(feature_map=RFF(Gaussian(), 128, random_state=0), {parameters}).fit_blocks(Rows(n))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

print(-peak(10_000) + peak(200_000))
"""


@pytest.mark.reliability
@pytest.mark.parametrize(
    ("learner", "parameters"), [("KRR", "alphas=0.1"), ("LinearSVM", "solver='newton', tol=0.9")]
)
def test_memory_does_not_grow_with_the_rows(learner, parameters):
    """The features of the rows would take 102 MB: the peak may grow by two fifths of that."""
    program = MEMORY.format(learner=learner, parameters=parameters)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 40e6

"""What every learner does with names of columns, containers of targets and weights, and bad values."""

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from rflib.kernels import Cauchy, Gaussian
from rflib.learners import (
    KRR,
    ArrayRows,
    DoublyStochasticClassifier,
    DoublyStochasticRegressor,
    ExactKernelSVC,
    ExactKernelSVR,
    ExactKRR,
    ExactKRRClassifier,
    HardMarginSVM,
    KRRClassifier,
    LinearSVM,
    LinearSVR,
    ParquetRows,
)
from rflib.maps import RFF

N = 60
FOURIER = RFF(Gaussian(2.0), n_components=16, random_state=0)
WITH_BLOCKS = [
    KRR(feature_map=FOURIER, alphas=(0.01, 0.1), cv=2),
    KRRClassifier(feature_map=FOURIER, alphas=0.1),
    LinearSVM(feature_map=FOURIER, solver="newton"),
    LinearSVR(feature_map=FOURIER, solver="newton"),
    DoublyStochasticRegressor(RFF(n_components=8), n_blocks=3, batch_size=8),
    DoublyStochasticClassifier(RFF(n_components=8), n_blocks=3, batch_size=8),
]
IN_MEMORY = [
    ExactKRR(alphas=0.1),
    ExactKRRClassifier(alphas=0.1),
    ExactKernelSVC(),
    ExactKernelSVR(),
    HardMarginSVM(),
]
STREAMS = [learner for learner in WITH_BLOCKS if hasattr(learner, "partial_fit")]
all_learners = pytest.mark.parametrize("learner", [*WITH_BLOCKS, *IN_MEMORY], ids=lambda x: type(x).__name__)
with_blocks = pytest.mark.parametrize("learner", WITH_BLOCKS, ids=lambda x: type(x).__name__)
streams = pytest.mark.parametrize("learner", STREAMS, ids=lambda x: type(x).__name__)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.standard_normal((N, 3)), columns=["a", "b", "c"])


def targets(learner, frame):
    if isinstance(learner, HardMarginSVM):
        return np.where(frame["a"] > 0, "yes", "no")
    value = (2 * frame["a"] + frame["b"]).to_numpy()
    return np.where(value > 0, "yes", "no") if is_classifier(learner) else value


def ways(learner):
    """The methods that fit rows, as functions of rows, targets and weights: all of them, or in two blocks."""

    def in_memory(X, y, w=None):
        return clone(learner).fit(X, y, **({} if w is None else {"sample_weight": w}))

    def in_blocks(X, y, w=None):
        return clone(learner).fit_blocks(ArrayRows(X, y, w, block_size=35))

    def in_a_stream(X, y, w=None):
        more = {"classes": ["no", "yes"]} if is_classifier(learner) else {}
        return clone(learner).partial_fit(X, y, sample_weight=w, **more)

    found = [in_memory]
    found += [in_blocks] if hasattr(learner, "fit_blocks") else []
    return found + ([in_a_stream] if hasattr(learner, "partial_fit") else [])


def source_of(kind, X, y, folder):
    if kind == "frames":
        return [(X[:20], y[:20]), (X[20:], y[20:])]
    if kind == "array rows":
        return ArrayRows(X, y, block_size=20)
    pytest.importorskip("pyarrow")
    X.assign(y=y).to_parquet(folder / "rows.parquet")
    return ParquetRows(folder, list(X.columns), target="y", block_size=20)


@with_blocks
@pytest.mark.parametrize("kind", ["frames", "array rows", "parquet"])
def test_names_are_kept_and_compared(learner, kind, frame, tmp_path):
    y, other = targets(learner, frame), frame[["c", "a", "b"]]
    found = clone(learner).fit_blocks(source_of(kind, frame, y, tmp_path))
    assert list(found.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        found.predict(other)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        found.predict(frame.to_numpy())
    if hasattr(found, "partial_fit"):
        with pytest.raises(ValueError, match="Feature names must be in the same order"):
            found.partial_fit(other, y)
    with pytest.raises(ValueError, match=r"in block 1: The feature names should match"):
        clone(learner).fit_blocks([(frame[:20], y[:20]), (other[20:], y[20:])])


@pytest.mark.parametrize("learner", WITH_BLOCKS[:4], ids=lambda x: type(x).__name__)
def test_a_fit_is_not_resumed_with_other_names(learner, frame, tmp_path):
    learner = clone(learner).set_params(random_state=0)
    y, path = targets(learner, frame), tmp_path / "fit.npz"

    class Stop(Exception):
        pass

    def blocks(frame, ends):
        for start in range(0, N, 10):
            if ends and start == 40:
                raise Stop
            yield frame[start : start + 10], y[start : start + 10]

    class Rows:
        passes = 0

        def __iter__(self):
            self.passes += 1
            return blocks(frame, self.passes > 3 - isinstance(learner, KRR))

    with pytest.raises(Stop):
        clone(learner).fit_blocks(Rows(), checkpoint=path, checkpoint_seconds=0)
    renamed = frame.rename(columns={"a": "z"})
    for other in (renamed, frame.to_numpy()):
        with pytest.raises(ValueError, match=r"belongs to another call, which differs in .*feature names"):
            clone(learner).fit_blocks(ArrayRows(other, y, block_size=10), checkpoint=path)


def indices(n):
    texts = [f"row {i}" for i in range(n)]
    return {
        "backwards and duplicated": np.arange(n)[::-1] // 2,
        "texts": texts,
        "two levels": pd.MultiIndex.from_arrays([np.arange(n) // 7, texts]),
    }


@with_blocks
def test_any_index_of_pandas_is_a_position(learner, frame, tmp_path):
    """In memory, in blocks, with a checkpoint, and as iterables; X, y and weights have different indices."""
    y, w = targets(learner, frame), np.arange(1.0, N + 1)
    expected = [way(frame, y, w).predict(frame) for way in ways(learner)]
    for name, index in indices(N).items():
        X, series, weights = frame.set_axis(index), pd.Series(y, index[::-1]), pd.Series(w, index)
        for way, known in zip(ways(learner), expected, strict=True):
            np.testing.assert_array_equal(way(X, series, weights).predict(X), known, err_msg=name)
        options = {"checkpoint": tmp_path / "fit.npz", "checkpoint_seconds": 0}
        rows = ArrayRows(X, series, weights, block_size=35)
        found = clone(learner).set_params(random_state=0).fit_blocks(rows, **options)
        np.testing.assert_array_equal(found.predict(X), expected[1])


NUMBERS = {
    "nullable integers": lambda y: pd.Series(np.round(y), dtype="Int64"),
    "nullable floats": lambda y: pd.Series(y, dtype="Float64"),
    "arrow": lambda y: pd.Series(y, dtype="float64[pyarrow]"),
    "objects": lambda y: y.astype(object),
    "list": lambda y: y.tolist(),
}
LABELS = {
    "strings": lambda y: pd.Series(y, dtype="string"),
    "categories": lambda y: pd.Series(y, dtype="category"),
    "arrow": lambda y: pd.Series(y, dtype="string[pyarrow]"),
    "objects": lambda y: y.astype(object),
    "list": lambda y: y.tolist(),
}


@all_learners
def test_targets_of_any_type_that_can_be_numbers_or_labels(learner, frame):
    frame = frame[frame["a"].abs() > 0.2] if isinstance(learner, HardMarginSVM) else frame
    y = targets(learner, frame)
    for name, as_type in (LABELS if is_classifier(learner) else NUMBERS).items():
        given = np.round(y) if name == "nullable integers" else y
        for way in ways(learner):
            found = way(frame, as_type(y)).predict(frame)
            np.testing.assert_array_equal(found, way(frame, given).predict(frame), err_msg=name)
    if is_classifier(learner):
        codes = pd.Series(y == "yes")
        for dtype in ("Int64", "boolean", object):
            found = clone(learner).fit(frame, codes.astype(dtype))
            assert found.classes_.dtype.kind in "bi"
            np.testing.assert_array_equal(
                found.predict(frame), clone(learner).fit(frame, codes).predict(frame)
            )


def with_value(y, place, value):
    y = np.array(y, dtype=object)
    y[place] = value
    return y


BAD_TARGETS = {
    "None": (lambda y: with_value(y, 41, None), "41", "contains None"),
    "NA": (lambda y: pd.Series(with_value(y, 41, pd.NA), dtype=object), "41", "contains <NA>"),
    "NaT": (lambda y: with_value(y, 41, pd.NaT), "41", "contains NaT"),
    "NaN": (lambda y: with_value(y, 41, np.nan), "41", "contains NaN"),
    "NA in the first block": (lambda y: with_value(y, 3, pd.NA), "3", "contains <NA>"),
    "date": (lambda y: with_value(y, 41, pd.Timestamp("2020")), "41", "contains Timestamp"),
    "complex": (lambda y: with_value(y, 41, 1j), "41", r"contains 1j"),
    "dates": (lambda y: pd.Series(pd.date_range("2020", periods=len(y))), None, "got dates"),
    "complex numbers": (lambda y: np.arange(len(y)) * 1j, None, "got complex numbers"),
    "sequences": (lambda y: [(y[0],), *((value, value) for value in y[1:])], "0", r"contains \("),
    "mixed": (lambda y: [*y[:41], "x" if isinstance(y[0], float) else 1, *y[42:]], "41", "contains"),
}


@all_learners
@pytest.mark.parametrize("case", BAD_TARGETS)
def test_a_target_that_is_none_is_named_with_its_row(learner, case, frame):
    make, row, what = BAD_TARGETS[case]
    y = make(targets(learner, frame))
    where = "" if row is None else rf"in row {row}\b.*"
    for way in ways(learner):
        with pytest.raises(ValueError, match=rf"^{type(learner).__name__}: .*{where}{what}") as caught:
            way(frame, y)
        assert "\n" not in str(caught.value)


@all_learners
def test_a_row_that_is_not_finite_is_named_with_its_column(learner, frame):
    y = targets(learner, frame)
    for row, value in ((2, np.nan), (40, np.inf), (2, None), (40, pd.NA), (40, "x"), (2, 1j), (40, 10**400)):
        bad = frame.copy() if isinstance(value, float) else frame.astype(object)
        bad.iloc[row, 1] = value
        for way in ways(learner):
            with pytest.raises(
                ValueError, match=rf"in row {row}\b.*Input X contains .* in column 'b'"
            ) as caught:
                way(bad, y)
            assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="X must hold numbers, got dates"):
        clone(learner).fit(frame.assign(b=pd.Timestamp("2020")), y)


@with_blocks
def test_a_bad_row_of_a_file_is_named_with_the_file(learner, frame, tmp_path):
    pytest.importorskip("pyarrow")
    for k, part in enumerate((frame[:25], frame[25:])):
        y = targets(learner, part)
        bad = part.assign(y=y, w=1.0).reset_index(drop=True)
        bad.loc[4, "b" if k else "w"] = np.nan if k else -1.0
        bad.to_parquet(tmp_path / f"{k}.parquet")
    rows = ParquetRows(tmp_path / "1.parquet", ["a", "b", "c"], target="y", block_size=10)
    with pytest.raises(
        ValueError, match=r"in \S*1.parquet, row 4: .*in column 'b'|column 'b' .*1.parquet, row 4"
    ):
        clone(learner).fit_blocks(rows)
    rows = ParquetRows(tmp_path / "0.parquet", ["a", "b", "c"], target="y", weight="w", block_size=10)
    with pytest.raises(ValueError, match=r"in \S*0.parquet, row 4: sample_weight is -1"):
        clone(learner).fit_blocks(rows)


BAD_WEIGHTS = (
    (lambda w: np.where(np.arange(N) == 41, -1.0, w), r"in row 41\b.*sample_weight is -1"),
    (lambda w: np.where(np.arange(N) == 2, np.nan, w), r"in row 2\b.*sample_weight contains NaN"),
    (lambda w: with_value(w, 41, pd.NA), r"in row 41\b.*sample_weight contains <NA>"),
    (lambda w: with_value(w, 41, "x"), r"in row 41\b.*sample_weight contains 'x'"),
    (lambda w: w + 0j, r"sample_weight must hold numbers, got complex"),
)


@all_learners
def test_bad_weights_are_told_in_one_line(learner, frame):
    y, name = targets(learner, frame), type(learner).__name__
    for way in ways(learner):
        for make, message in BAD_WEIGHTS:
            with pytest.raises(ValueError, match=f"^{name}: .*{message}"):
                way(frame, y, make(np.ones(N)))
        if way.__name__ != "in_blocks":
            with pytest.raises(ValueError, match=rf"^{name}: .* each of the {N} rows, .* shape \(3,\)"):
                way(frame, y, np.ones(3))
        if way.__name__ != "in_a_stream":
            with pytest.raises(ValueError, match=f"^{name}: all rows have the weight zero"):
                way(frame, y, np.zeros(N))


def same(found, expected):
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore::rflib.kernels.WidthWarning")
@with_blocks
def test_rows_without_weight_add_nothing(learner, frame):
    """Blocks of them, at any place, and labels that only they have, are as if they were not there."""
    y, w = targets(learner, frame), np.ones(N)
    nothing = frame[:10] * 9, np.full(10, "maybe") if is_classifier(learner) else y[:10] + 9, np.zeros(10)
    halves = [(frame[:30], y[:30], w[:30]), (frame[30:], y[30:], w[30:])]
    expected = clone(learner).fit_blocks(halves).predict(frame)
    for place in range(3):
        blocks = [*halves[:place], nothing, *halves[place:]]
        same(clone(learner).fit_blocks(blocks).predict(frame), expected)
        if not hasattr(learner, "partial_fit"):
            continue
        more = {"classes": ["no", "yes"]} if is_classifier(learner) else {}
        found, whole = clone(learner), clone(learner)
        if not place:
            found.partial_fit(*nothing[:2], sample_weight=nothing[2], **more)
            with pytest.raises(ValueError, match="all rows so far have the weight zero"):
                found.predict(frame)
        for X, t, _ in halves:
            found.partial_fit(X, t, **more)
            whole.partial_fit(X, t, **more)
            if place:
                found.partial_fit(*nothing[:2], sample_weight=nothing[2])
        same(found.predict(frame), whole.predict(frame))


@pytest.mark.parametrize("learner", [*WITH_BLOCKS, *IN_MEMORY[:-1]], ids=lambda x: type(x).__name__)
def test_a_memory_mapped_model_goes_on(learner, frame, tmp_path):
    y = targets(learner, frame)
    joblib.dump(clone(learner).fit(frame, y), tmp_path / "model")
    found, plain = (joblib.load(tmp_path / "model", mmap_mode=mode) for mode in ("r", None))
    np.testing.assert_array_equal(found.predict(frame), plain.predict(frame))
    if hasattr(learner, "partial_fit"):
        for model in (found, plain):
            model.partial_fit(frame[:20], y[:20]).partial_fit(frame[20:], y[20:])
        np.testing.assert_array_equal(found.predict(frame), plain.predict(frame))
    np.testing.assert_array_equal(found.fit(frame, y).predict(frame), plain.fit(frame, y).predict(frame))


@pytest.fixture(scope="module")
def mixed(frame):
    """Rows with a category, missing values and the targets y."""
    rng = np.random.default_rng(1)
    X = frame.assign(colour=rng.choice(["red", "green", "blue"], N), size=rng.choice([1.0, np.nan], N))
    return X.astype({"colour": "category"}).set_axis(np.arange(N)[::-1] // 3)


def columns_map():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    encoded = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = ColumnTransformer(
        [("numbers", numbers, ["a", "b", "c", "size"]), ("colours", encoded, ["colour"])]
    )
    return make_pipeline(parts, RFF(Gaussian(2.0), n_components=16, random_state=0))


BEGINNING_WITH_COLUMNS = [
    KRR(alphas=(0.01, 0.1), cv=2),
    KRRClassifier(alphas=(0.01, 0.1), cv=2, criterion="error_rate"),
    LinearSVM(solver="newton", tol=1e-10),
    LinearSVM(C="cv", Cs=[0.1, 1.0], cv=2),
    LinearSVR(solver="newton", tol=1e-10),
]
beginning_with_columns = pytest.mark.parametrize(
    "learner", BEGINNING_WITH_COLUMNS, ids=["KRR", "KRRClassifier", "LinearSVM", "LinearSVM cv", "LinearSVR"]
)


@beginning_with_columns
def test_a_map_that_begins_with_columns_gets_the_frame(learner, mixed):
    """As if the transformer stood before the learner: in memory, in blocks, and in a stream if it is fitted."""
    y = targets(learner, mixed)
    fitted = columns_map().fit(mixed)
    found = clone(learner).set_params(feature_map=columns_map()).fit(mixed, y)
    same(
        found.predict(mixed), clone(learner).fit(fitted.transform(mixed), y).predict(fitted.transform(mixed))
    )
    assert list(found.feature_names_in_) == list(mixed.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        found.predict(mixed[mixed.columns[::-1]])
    numbers = mixed[["a", "b", "c", "size"]].to_numpy()
    imputing = clone(learner).set_params(feature_map=make_pipeline(SimpleImputer(), clone(FOURIER)))
    assert imputing.fit(numbers, y).predict(numbers).shape == y.shape
    if learner.get_params().get("C") == "cv":
        return
    for feature_map in (columns_map(), FrozenEstimator(fitted)):
        by_blocks = clone(learner).set_params(feature_map=feature_map)
        by_blocks.fit_blocks([(mixed[:25], y[:25]), (mixed[25:], y[25:])])
        assert by_blocks.feature_map_ is not None
        if not hasattr(found, "cv_errors_") or by_blocks.alpha_ == found.alpha_:
            same(by_blocks.predict(mixed), found.predict(mixed))
    if isinstance(learner, KRR):
        with pytest.raises(ValueError, match="partial_fit fits the feature_map to the first block alone"):
            clone(learner).set_params(feature_map=columns_map()).partial_fit(mixed, y)
        stream = clone(learner).set_params(feature_map=FrozenEstimator(fitted))
        stream.partial_fit(mixed[:25], y[:25]).partial_fit(mixed[25:], y[25:])
        whole = clone(learner).set_params(feature_map=FrozenEstimator(fitted))
        whole.fit_blocks(ArrayRows(mixed, y, block_size=10))
        same(stream.predict(mixed), whole.predict(mixed))


def test_a_value_that_such_a_map_does_not_take_is_named_with_its_row(mixed):
    """Found by a pass over the rows if the map is fitted on a sample of them."""
    y, rows = targets(KRR(), mixed), mixed[["a", "b"]].copy()
    rows.iloc[7, 1] = np.nan
    for bad, row in ((rows, 7), (rows.iloc[::-1], N - 8)):
        scaled = KRR(feature_map=make_pipeline(StandardScaler(), clone(FOURIER)), alphas=0.1, block_size=5)
        fitted = FrozenEstimator(clone(scaled.feature_map).fit(mixed[["a", "b"]]))
        message = rf"in row {row}\b.*The feature_map does not take a value: Input X contains NaN"
        for learner in (scaled, clone(scaled).set_params(feature_map=fitted)):
            with pytest.raises(ValueError, match=message):
                learner.fit(bad, y)
            with pytest.raises(ValueError, match=message):
                learner.fit_blocks(ArrayRows(bad, y, block_size=22))
        with pytest.raises(ValueError, match=message):
            learner.fit(mixed[["a", "b"]], y).predict(bad)
    imputed = ColumnTransformer([("a", SimpleImputer(), ["a"])], remainder="passthrough")
    with pytest.raises(ValueError, match=r"in row 7\b.* contains NaN"):
        learner = KRR(feature_map=make_pipeline(imputed, clone(FOURIER)), alphas=0.1)
        learner.fit(mixed[["a", "b"]], y).predict(
            rows.assign(a=np.where(np.arange(N) == 3, np.nan, rows["a"]))
        )
    with pytest.raises(ValueError, match="contains NaN"):
        KRR(feature_map=StandardScaler(), alphas=0.1).fit(rows, y)


CLASSIFIERS = [learner for learner in [*WITH_BLOCKS, *IN_MEMORY[:-1]] if is_classifier(learner)]


@pytest.mark.parametrize("learner", CLASSIFIERS, ids=lambda x: type(x).__name__)
def test_class_weights_are_weights_of_rows(learner, frame):
    y, rng = targets(learner, frame), np.random.default_rng(0)
    w, by_label = rng.uniform(0.5, 2, N), {"yes": 3.0, "no": 0.5}
    values = {}
    for given in ("balanced", by_label):
        weighted = clone(learner).set_params(class_weight=given).fit(frame, y)
        by_rows = clone(learner).fit(frame, y, sample_weight=compute_sample_weight(given, y))
        values[str(given)] = weighted.decision_function(frame)
        np.testing.assert_allclose(values[str(given)], by_rows.decision_function(frame), rtol=1e-6, atol=1e-8)
    assert not np.allclose(values["balanced"], clone(learner).fit(frame, y).decision_function(frame))
    weighted = clone(learner).set_params(class_weight=by_label)
    by_rows = w * compute_sample_weight(by_label, y)
    expected = clone(learner).fit(frame, y, sample_weight=by_rows).decision_function(frame)
    found = clone(weighted).fit(frame, y, sample_weight=w).decision_function(frame)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    for way, plain in zip(ways(weighted)[1:], ways(learner)[1:], strict=True):
        same(way(frame, y, w).decision_function(frame), plain(frame, y, by_rows).decision_function(frame))
    balanced = clone(learner).set_params(class_weight="balanced")
    for way in ways(balanced)[1:]:
        with pytest.raises(
            ValueError, match=r"cannot balance classes, .* Give a dict from labels to weights"
        ):
            way(frame, y)
    for bad in ("even", {"yes": -1.0}, {"yes": None}, 3):
        with pytest.raises(ValueError, match="class_weight must be None, 'balanced' or a dict"):
            clone(learner).set_params(class_weight=bad).fit(frame, y)
    thirds = np.where(frame["c"] > 0.5, "third", y)
    found = clone(learner).set_params(class_weight={"third": 0.0}).fit(frame, thirds)
    assert "third" not in found.predict(frame)
    with pytest.raises(ValueError, match="class_weight has 'yea', which is not among the labels"):
        clone(learner).set_params(class_weight={"yea": 2.0}).fit(frame, y)


@pytest.mark.parametrize(
    "learner",
    [
        KRR(alphas=(1e-3, 1e-1, 10.0)),
        KRRClassifier(alphas=(1e-3, 1e-1, 10.0)),
        ExactKRR(alphas=(1e-3, 1e-1, 10.0)),
        ExactKRRClassifier(alphas=(1e-3, 1e-1, 10.0)),
        LinearSVM(C="cv", solver="newton"),
        LinearSVR(C="cv", solver="newton"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_groups_stay_together_in_cross_validation(learner, frame):
    y, groups = targets(learner, frame), pd.Series(np.arange(N) // 4, frame.index[::-1])
    found = clone(learner).set_params(cv=GroupKFold(3)).fit(frame, y, groups=groups)
    splits = list(GroupKFold(3).split(frame, y, groups))
    expected = clone(learner).set_params(cv=splits).fit(frame, y)
    np.testing.assert_array_equal(found.cv_errors_, expected.cv_errors_)
    with pytest.raises(ValueError, match="groups need a splitter that keeps them together as cv, such as"):
        clone(learner).fit(frame, y, groups=groups)
    for strange, what in (
        (
            groups.astype(object).where(np.arange(N) != 7, None),
            "in row 7: Input groups contains None. Complete",
        ),
        (np.array([1, "a"] * (N // 2), dtype=object), "in row 1: Input groups contains 'a'. All must be of"),
        (
            groups[1:],
            rf"groups must have a label for each of the {N} rows, got an array of shape \({N - 1},\)",
        ),
        (groups.to_frame(), rf"groups must have a label for each of the {N} rows, got .* \({N}, 1\)"),
    ):
        with pytest.raises(ValueError, match=what):
            clone(learner).set_params(cv=GroupKFold(3)).fit(frame, y, groups=strange)


@pytest.mark.parametrize("learner", IN_MEMORY[:-1], ids=lambda x: type(x).__name__)
def test_exact_kernels_take_sparse_rows(learner, frame):
    X = np.where(np.abs(frame) > 0.5, frame, 0.0)
    y, rows = targets(learner, frame), sparse.csr_array(X)
    dense, found = clone(learner).fit(X, y), clone(learner).fit(rows, y, sample_weight=np.ones(N))
    for here in (X, rows, rows.tocoo()):
        same(found.predict(here), dense.predict(X))
        same(dense.predict(here), dense.predict(X))
    with pytest.raises(TypeError, match="dense data is required"):
        clone(learner).set_params(kernel=Cauchy()).fit(rows, y)

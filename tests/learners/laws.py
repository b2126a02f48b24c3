"""All laws of a learner. One class for each (`test_laws.py`) declares the learner, its variants and its facts."""

import re

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.class_weight import compute_sample_weight

from rflib.kernels import Cauchy, Gaussian
from rflib.learners import KRR, ArrayRows, HardMarginSVM, ParquetRows
from rflib.maps import Nystroem
from tests import interrupts

from .rows import (
    BAD_TARGETS,
    BAD_VALUES,
    BAD_WEIGHTS,
    CONTAINERS,
    FOURIER,
    LABELS,
    NUMBERS,
    N,
    columns_map,
    indices,
    read_only,
    same,
    source_of,
    targets,
    targets_of,
    ways,
)


class LearnerLaws:
    """The laws of every learner.

    Attributes
    ----------
    own : estimator
        The learner, small.
    variants : tuple of estimator
        It with other parameters, each of which is tried with values that are refused.
    mapped, ordered, searching, beginning : tuple of estimator
        Variants with a map, those whose solution is so exact that the order of the rows cannot be seen, those that
        choose a parameter by cross-validation, and those that are given a map that begins with columns.
    lacks : tuple of str
        Laws that do not hold.
    """

    variants = mapped = ordered = searching = beginning = lacks = ()

    @pytest.fixture
    def learner(self):
        return self.own

    def test_bad_parameters_are_named_with_what_they_take(self, variant):
        X = np.random.default_rng(0).standard_normal((20, 3))
        for name in variant.get_params(deep=False):
            for value in BAD_VALUES[name]:
                message = rf"^{type(variant).__name__}: {name} must be .+, got {re.escape(repr(value))}\.$"
                with pytest.raises(ValueError, match=message):
                    clone(variant).set_params(**{name: value}).fit(X, targets_of(variant, X[:, 0]))

    def test_equal_rows_give_equal_predictions_whatever_holds_them(self, variant):
        """Whole numbers that every type holds exactly; float32 is computed as such, so its results are close."""
        rng = np.random.default_rng(0)
        X = rng.integers(0, 8, (24, 40)).astype(float)
        y = targets_of(variant, X[:, 0] - X[:, 1] + rng.permutation(24) / 8)
        expected = clone(variant).fit(X, y).predict(X)
        for container, held_in in CONTAINERS.items():
            other = read_only(held_in(X))
            t = pd.Series(y) if "DataFrame" in container else y
            found = clone(variant).fit(other, t).predict(other)
            assert found.shape == expected.shape
            if is_classifier(variant):
                assert np.mean(found == expected) > 0.9 if container == "f4" else np.all(found == expected)
            else:
                within = 2e-2 if container == "f4" else 1e-6
                np.testing.assert_allclose(found, expected, rtol=within, atol=within * np.ptp(y))

    def test_the_order_of_the_rows_changes_nothing(self, ordered):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((30, 40))
        y, order = targets_of(ordered, X[:, 0]), rng.permutation(30)
        first = clone(ordered).fit(X, y)
        again = clone(ordered).fit(X[order], y[order])
        np.testing.assert_allclose(
            again.coef_ if hasattr(again, "coef_") else again.predict(X),
            first.coef_ if hasattr(first, "coef_") else first.predict(X),
            atol=1e-6,
        )

    def test_maps_may_return_data_frames(self, mapped):
        X = np.random.default_rng(0).standard_normal((30, 3))
        y = targets_of(mapped, X[:, 0])
        expected = clone(mapped).fit(X, y).predict(X)
        with config_context(transform_output="pandas"):
            found = clone(mapped).fit(X, y).predict(X)
            np.testing.assert_array_equal(
                clone(mapped).fit(pd.DataFrame(X), y).predict(pd.DataFrame(X)), found
            )
        np.testing.assert_array_equal(found, expected)

    def test_targets_of_any_type_that_can_be_numbers_or_labels(self, learner, frame):
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

    @pytest.mark.parametrize("case", BAD_TARGETS)
    def test_a_target_that_is_none_is_named_with_its_row(self, learner, case, frame):
        make, row, what = BAD_TARGETS[case]
        y = make(targets(learner, frame))
        where = "" if row is None else rf"in row {row}\b.*"
        for way in ways(learner):
            with pytest.raises(ValueError, match=rf"^{type(learner).__name__}: .*{where}{what}") as caught:
                way(frame, y)
            assert "\n" not in str(caught.value)

    def test_a_row_that_is_not_finite_is_named_with_its_column(self, learner, frame):
        y = targets(learner, frame)
        for row, value in (
            (2, np.nan),
            (40, np.inf),
            (2, None),
            (40, pd.NA),
            (40, "x"),
            (2, 1j),
            (40, 10**400),
        ):
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

    def test_bad_weights_are_told_in_one_line(self, learner, frame):
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

    def test_a_memory_mapped_model_goes_on(self, learner, frame, tmp_path):
        y = targets(learner, frame)
        joblib.dump(clone(learner).fit(frame, y), tmp_path / "model")
        found, plain = (joblib.load(tmp_path / "model", mmap_mode=mode) for mode in ("r", None))
        np.testing.assert_array_equal(found.predict(frame), plain.predict(frame))
        if hasattr(learner, "partial_fit"):
            for model in (found, plain):
                model.partial_fit(frame[:20], y[:20]).partial_fit(frame[20:], y[20:])
            np.testing.assert_array_equal(found.predict(frame), plain.predict(frame))
        np.testing.assert_array_equal(found.fit(frame, y).predict(frame), plain.fit(frame, y).predict(frame))

    def test_groups_stay_together_in_cross_validation(self, searching, frame):
        y, groups = targets(searching, frame), pd.Series(np.arange(N) // 4, frame.index[::-1])
        found = clone(searching).set_params(cv=GroupKFold(3)).fit(frame, y, groups=groups)
        splits = list(GroupKFold(3).split(frame, y, groups))
        expected = clone(searching).set_params(cv=splits).fit(frame, y)
        np.testing.assert_array_equal(found.cv_errors_, expected.cv_errors_)
        with pytest.raises(
            ValueError, match="groups need a splitter that keeps them together as cv, such as"
        ):
            clone(searching).fit(frame, y, groups=groups)
        for strange, what in (
            (
                groups.astype(object).where(np.arange(N) != 7, None),
                "in row 7: Input groups contains None. Complete",
            ),
            (
                np.array([1, "a"] * (N // 2), dtype=object),
                "in row 1: Input groups contains 'a'. All must be of",
            ),
            (
                groups[1:],
                rf"groups must have a label for each of the {N} rows, got an array of shape \({N - 1},\)",
            ),
            (groups.to_frame(), rf"groups must have a label for each of the {N} rows, got .* \({N}, 1\)"),
        ):
            with pytest.raises(ValueError, match=what):
                clone(searching).set_params(cv=GroupKFold(3)).fit(frame, y, groups=strange)

    def test_a_map_that_begins_with_columns_gets_the_frame(self, beginning, mixed):
        """As if the transformer stood before the learner: in memory, in blocks, and fitted in a stream."""
        y = targets(beginning, mixed)
        fitted = columns_map().fit(mixed)
        found = clone(beginning).set_params(feature_map=columns_map()).fit(mixed, y)
        same(
            found.predict(mixed),
            clone(beginning).fit(fitted.transform(mixed), y).predict(fitted.transform(mixed)),
        )
        assert list(found.feature_names_in_) == list(mixed.columns)
        with pytest.raises(ValueError, match="feature names should match"):
            found.predict(mixed[mixed.columns[::-1]])
        numbers = mixed[["a", "b", "c", "size"]].to_numpy()
        imputing = clone(beginning).set_params(feature_map=make_pipeline(SimpleImputer(), clone(FOURIER)))
        assert imputing.fit(numbers, y).predict(numbers).shape == y.shape
        if beginning.get_params().get("C") == "cv":
            return
        for feature_map in (columns_map(), FrozenEstimator(fitted)):
            by_blocks = clone(beginning).set_params(feature_map=feature_map)
            by_blocks.fit_blocks([(mixed[:25], y[:25]), (mixed[25:], y[25:])])
            assert by_blocks.feature_map_ is not None
            if not hasattr(found, "cv_errors_") or by_blocks.alpha_ == found.alpha_:
                same(by_blocks.predict(mixed), found.predict(mixed))
        if isinstance(beginning, KRR):
            with pytest.raises(ValueError, match="partial_fit fits the feature_map to the first block alone"):
                clone(beginning).set_params(feature_map=columns_map()).partial_fit(mixed, y)
            stream = clone(beginning).set_params(feature_map=FrozenEstimator(fitted))
            stream.partial_fit(mixed[:25], y[:25]).partial_fit(mixed[25:], y[25:])
            whole = clone(beginning).set_params(feature_map=FrozenEstimator(fitted))
            whole.fit_blocks(ArrayRows(mixed, y, block_size=10))
            same(stream.predict(mixed), whole.predict(mixed))

    def test_sparse_rows_reach_a_map_that_takes_them(self, beginning, frame):
        X, y = np.where(frame > 0.5, frame, 0.0), targets(beginning, frame)
        for refused in (None, Nystroem(Cauchy(), 16)):
            with pytest.raises(TypeError, match="Sparse data was passed"):
                clone(beginning).set_params(feature_map=refused).fit(sparse.csr_array(X), y)
        takes = [FOURIER, Nystroem(Gaussian(), 16, random_state=0)]
        theirs = PolynomialCountSketch(n_components=16, random_state=0)
        takes += [theirs] * theirs.__sklearn_tags__().input_tags.sparse  # not in scikit-learn 1.6
        for feature_map in takes:
            learner = clone(beginning).set_params(feature_map=feature_map)
            assert learner.__sklearn_tags__().input_tags.sparse
            dense = clone(learner).fit(X, y)
            for container in (sparse.csr_matrix, sparse.csr_array, sparse.coo_array):
                found = clone(learner).fit(container(X), y)
                np.testing.assert_allclose(found.coef_, dense.coef_, rtol=1e-6, atol=1e-8)
                same(found.predict(container(X)), found.predict(X))
            if learner.get_params().get("C") != "cv":
                halves = [(sparse.csr_array(X[rows]), y[rows]) for rows in np.split(np.arange(N), 2)]
                expected = clone(learner).fit_blocks([(Z.toarray(), t) for Z, t in halves])
                same(clone(learner).fit_blocks(halves).predict(X), expected.predict(X))

    def test_an_interrupted_fit_leaves_a_learner_as_it_was(self, learner, method):
        X, y = interrupts.X, interrupts.Y
        arguments = {"fit": (interrupts.OTHER, interrupts.OTHER_Y), "partial_fit": (X, y)}
        arguments["fit_blocks"] = (ArrayRows(X, y, block_size=20),)
        interrupts.check_interrupts(
            clone(learner).fit(X, y), lambda m: getattr(m, method)(*arguments[method]), lambda m: m.predict(X)
        )


class BlockLaws(LearnerLaws):
    """Those of a learner that takes rows in blocks."""

    @pytest.mark.parametrize("kind", ["frames", "array rows", "parquet"])
    def test_names_are_kept_and_compared(self, learner, kind, frame, tmp_path):
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

    def test_any_index_of_pandas_is_a_position(self, learner, frame, tmp_path):
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

    def test_a_bad_row_of_a_file_is_named_with_the_file(self, learner, frame, tmp_path):
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

    @pytest.mark.filterwarnings("ignore::rflib.kernels.WidthWarning")
    def test_rows_without_weight_add_nothing(self, learner, frame):
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

    def test_a_fit_is_not_resumed_with_other_names(self, learner, frame, tmp_path):
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
            with pytest.raises(
                ValueError, match=r"belongs to another call, which differs in .*feature names"
            ):
                clone(learner).fit_blocks(ArrayRows(other, y, block_size=10), checkpoint=path)


class ClassifierLaws(LearnerLaws):
    """Those of a classifier that takes weights."""

    def test_class_weights_are_weights_of_rows(self, learner, frame):
        y, rng = targets(learner, frame), np.random.default_rng(0)
        w, by_label = rng.uniform(0.5, 2, N), {"yes": 3.0, "no": 0.5}
        values = {}
        for given in ("balanced", by_label):
            weighted = clone(learner).set_params(class_weight=given).fit(frame, y)
            by_rows = clone(learner).fit(frame, y, sample_weight=compute_sample_weight(given, y))
            values[str(given)] = weighted.decision_function(frame)
            np.testing.assert_allclose(
                values[str(given)], by_rows.decision_function(frame), rtol=1e-6, atol=1e-8
            )
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


class ExactLaws(LearnerLaws):
    """Those of a learner with the exact kernel."""

    def test_exact_kernels_take_sparse_rows(self, learner, frame):
        X = np.where(np.abs(frame) > 0.5, frame, 0.0)
        y, rows = targets(learner, frame), sparse.csr_array(X)
        dense, found = clone(learner).fit(X, y), clone(learner).fit(rows, y, sample_weight=np.ones(N))
        for here in (X, rows, rows.tocoo()):
            same(found.predict(here), dense.predict(X))
            same(dense.predict(here), dense.predict(X))
        with pytest.raises(TypeError, match="dense data is required"):
            clone(learner).set_params(kernel=Cauchy()).fit(rows, y)

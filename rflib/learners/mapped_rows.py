"""Rows that a learner's feature map turns into features, block by block."""

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags

from rflib.kernels.namespaces import (
    Array,
    float_types,
    is_foreign,
    namespace,
    on_torch,
    some_rows,
    to_numpy,
    widest,
    zeros,
)
from rflib.kernels.row_faults import RowError, is_frame
from rflib.learners.checked_rows import CheckedRows, rows_at, rows_with_gaps
from rflib.learners.passes import Passes
from rflib.learners.row_sources import Block
from rflib.learners.signed_features import (
    FLOATS,
    SignedFeatures,
    begins_with_a_map,
    check_feature_map,
    features_of,
    lack_of,
)
from rflib.learners.values import as_array, joined_labels, labels_with_weight, refuse_zeros
from rflib.maps.row_blocks import row_blocks
from rflib.maps.row_sample import RowSample
from rflib.validation import refuse

# rows of a block that a map is tried on, to see whether it depends on them
_TRIED_ROWS = 1000


class MappedRows(CheckedRows, SignedFeatures):
    """Mixin of a learner with ``feature_map``: X holds rows for the map, or features if there is none.

    Sparse rows are passed to the map unchanged, which raises an error if it does not accept them. A map that does
    not begin with one of rflib's, such as a Pipeline of a ColumnTransformer and a map, gets DataFrames, texts and
    missing values as they are; the features that it returns are checked.
    """

    feature_map: Any
    # where the rows of blocks are computed with; None is where they are
    device: Any = None
    signature: ArrayLike | None
    block_size: int
    random_state: Any

    def _check_map(self) -> None:
        check_feature_map(self)
        if self.feature_map is not None and self.signature is not None:
            name = type(self).__name__
            raise ValueError(
                f"{name}: signature is for features; with a feature_map its signature_ is used. Leave "
                "signature=None."
            )

    def _check_device(self) -> None:
        """Raise ValueError unless ``device`` is one that torch knows."""
        if self.device is None:
            return
        try:
            on_torch(np.zeros(1, dtype=np.float32), self.device)
        except (RuntimeError, AssertionError, TypeError) as error:
            refuse(self, "device", f"None or a device that torch has here ({str(error).splitlines()[0]})")

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        if self.feature_map is None or is_foreign(X) or issparse(X) or begins_with_a_map(self.feature_map):
            return self._validated(X, reset=reset)
        if is_frame(X):
            return self._validated(X, reset=reset, skip_check_array=True)
        entries = as_array(X)
        numbers = {} if entries.dtype.kind in "biufc" else {"dtype": None}
        rows = self._validated(entries, reset=reset, ensure_all_finite=False, **numbers)
        names = None if reset else getattr(getattr(self, "feature_map_", None), "feature_names_in_", None)
        if names is None:
            return rows
        import pandas as pd

        return pd.DataFrame(rows, columns=names, copy=False)  # rows of Dask, or the user was warned

    def _fit_map(self, X: Any, y: ArrayLike) -> None:
        if self.feature_map is None:
            return
        try:
            self.feature_map_ = clone(self.feature_map).fit(X, y)
        except ValueError as error:
            self._blame_gap(X, error)
            raise

    def _blame_gap(self, X: Any, error: BaseException, start: int = 0, feature_map: Any = None) -> None:
        """Raise RowError if the error of a map comes from a missing or infinite value.

        It names the first row with one that the fitted map does not take, or just the first one if it is None. The
        first row of X has the number ``start``.
        """
        if issparse(X) or is_foreign(X) or not any(word in str(error) for word in ("NaN", "infinity")):
            return
        for row in rows_with_gaps(X):
            try:
                if feature_map is not None:
                    features_of(feature_map, rows_at(X, slice(row, row + 1)))
                    continue
            except ValueError:
                pass
            told = error.args[2] if isinstance(error, RowError) else str(error).splitlines()[0]
            what = f"The feature_map does not take a value: {told}"
            raise RowError(type(self).__name__, start + int(row), what) from error

    def _check_needs_only_columns(self, X: Any, y: NDArray) -> None:
        """Raise ValueError unless the map is the same whatever rows it is fitted on."""
        if self.feature_map is None:
            return
        name = type(self).__name__
        if X.shape[0] < 2:
            raise ValueError(
                f"{name}: the first block needs two rows or more, on which to test whether the feature_map "
                "depends on the rows."
            )
        same, cause = self._needs_only_columns(X, y)
        if not same:
            raise ValueError(
                f"{name}: partial_fit fits the feature_map to the first block alone, but the features of this "
                f"map, a {type(self.feature_map).__name__}, depend on the rows. Use a map that needs only their "
                "number of columns, such as RFF with a fixed kernel, or a map that is already fitted to a "
                f"sample of the rows: {name}(feature_map=sklearn.frozen.FrozenEstimator(map.fit(rows)))."
            ) from cause

    def _needs_only_columns(self, X: Any, y: NDArray) -> tuple[bool, ValueError | None]:
        """Return whether the map is the same whatever rows it is fitted on, or the error of a fit.

        It is fitted with one seed on each half of the rows, and must make the same features.
        """
        half = X.shape[0] // 2
        seeded = clone(self.feature_map)
        seeded.set_params(**{key: 0 for key in seeded.get_params() if key.split("__")[-1] == "random_state"})
        halves = slice(0, half), slice(half, None)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                first, second = (
                    to_numpy(
                        features_of(
                            clone(seeded).fit(rows_at(X, rows), some_rows(y, rows)), rows_at(X, slice(2))
                        )
                    )
                    for rows in halves
                )
            return np.array_equal(first, second), None
        except ValueError as error:
            return False, error

    def _survey(self, passes: Passes, X: Any, y: NDArray, *, labels: bool = False) -> NDArray | None:
        """Fit the map, and return the labels of the rows with weight if asked for; X and y are the first block's.

        A map that needs no more than the number of columns is fitted on that block, any other on a sample of all
        rows. That, and the labels, take a pass of their own.
        """
        sampled = self.feature_map is not None and not (
            X.shape[0] > 1 and self._needs_only_columns(rows_at(X, slice(_TRIED_ROWS)), y[:_TRIED_ROWS])[0]
        )
        if sampled:
            name = type(self).__name__
            passes.needs_another(
                f"a feature_map that depends on the rows, such as this {type(self.feature_map).__name__},",
                f"give a fitted one: {name}(feature_map=sklearn.frozen.FrozenEstimator(map.fit(rows)))",
            )
        if labels:
            passes.needs_another("finding the labels", "give all of them as classes")
        found: list[NDArray] = []
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        sample = RowSample(passes.sample_size, seed)

        def checked(block: Block) -> tuple[Any, NDArray]:
            rows = self._checked(block.X, block.y, reset=False) if sampled else (None, block.y)
            if labels:
                found[:] = [joined_labels(self, [*found, labels_with_weight(self, block.y, block.weight)])]
            return rows

        if sampled or labels:
            for block in passes.over("first pass", checked, features=sampled):
                if sampled:
                    sample.add(*block)
        if labels and not len(found[0]):
            refuse_zeros(self)
        try:
            self._fit_map(*(sample.rows() if sampled else (X, y)))
        except RowError as error:  # whose row is one of the sample
            cause = cast(ValueError, error.__cause__)
            for _ in passes.over("search", lambda block: self._blame_gap(self._rows(block.X), cause)):
                pass
            raise
        return found[0] if labels else None

    def _feature_blocks(self, X: Any, height: int | None = None) -> Iterator[tuple[slice, Array]]:
        """Yield consecutive blocks of rows, of block_size if they have no other height, and their features."""
        for rows in row_blocks(X.shape[0], height or self.block_size):
            yield rows, self._mapped(self._floats(X, rows), rows.start)

    def _floats(self, X: Any, rows: slice) -> Any:
        """Return some rows as floats, on the device if they are dense."""
        block = rows_at(X, rows)
        if is_frame(X):
            return block
        if namespace(X) is not np:
            return block if X.dtype in float_types(X) else widest(block)
        if block.dtype.kind in "OSU":
            return block
        if block.dtype not in FLOATS:
            block = block.astype(np.float64)
        return block if self.device is None or issparse(block) else on_torch(block, self.device)

    def _mapped(self, block: Any, start: int = 0) -> Array:
        """Return the features of rows of `_floats`, on the device; ``start`` is the number of the first one."""
        try:
            return self._features(block)
        except ValueError as error:
            self._blame_gap(block, error, start, self.feature_map_)
            raise

    def _features(self, block: Any) -> Array:
        if self.feature_map is None:
            return block
        if self.device is None or (not is_frame(block) and namespace(block) is not np):
            with self._dispatch():
                return features_of(self.feature_map_, block)
        return on_torch(features_of(self.feature_map_, block), self.device)

    def _dispatch(self) -> AbstractContextManager[None]:
        return nullcontext() if self.device is None else config_context(array_api_dispatch=True)

    def _lack(self, block: Any, Z: Array) -> Array:
        """Return what the features Z of rows of `_floats` are known to lack of k(x, x), (n,)."""
        with self._dispatch():
            found = None if self.feature_map is None else lack_of(self.feature_map_, block, Z)
        return zeros((Z.shape[0],), Z) if found is None else found

    @property
    def _accepted_sparse(self) -> str | bool:
        """Return what scikit-learn's validation takes as ``accept_sparse``."""
        return "csr" if self.feature_map is not None else False

    def __sklearn_tags__(self) -> Any:
        tags = cast(Any, super()).__sklearn_tags__()
        if hasattr(self.feature_map, "fit"):
            of_map = get_tags(self.feature_map).input_tags
            tags.input_tags.sparse, tags.input_tags.pairwise = of_map.sparse, of_map.pairwise
        return tags

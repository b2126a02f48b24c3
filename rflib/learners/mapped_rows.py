"""Rows that a learner's feature map turns into features, block by block."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from rflib.learners.signed_features import FLOATS, SignedFeatures, check_feature_map, features_of
from rflib.maps.row_blocks import row_blocks


class MappedRows(SignedFeatures):
    """Mixin of a learner with ``feature_map``: X holds rows for the map, or features if there is none.

    Sparse rows are passed to the map unchanged, which raises an error if it does not accept them.
    """

    feature_map: Any
    signature: ArrayLike | None
    block_size: int

    def _check_map(self) -> None:
        check_feature_map(self)
        if self.feature_map is not None and self.signature is not None:
            name = type(self).__name__
            raise ValueError(
                f"{name}: signature is for features; with a feature_map its signature_ is used. Leave "
                "signature=None."
            )

    def _fit_map(self, X: Any, y: ArrayLike) -> None:
        if self.feature_map is not None:
            self.feature_map_ = clone(self.feature_map).fit(X, y)

    def _check_needs_only_columns(self, X: Any, y: NDArray) -> None:
        """Raise ValueError unless the map is the same whatever rows it is fitted on.

        It is fitted with one seed on each half of the rows, and must make the same features.
        """
        if self.feature_map is None:
            return
        name, half = type(self).__name__, X.shape[0] // 2
        if not half:
            raise ValueError(
                f"{name}: the first block needs two rows or more, on which to test whether the feature_map "
                "depends on the rows."
            )
        seeded = clone(self.feature_map)
        seeded.set_params(**{key: 0 for key in seeded.get_params() if key.split("__")[-1] == "random_state"})
        halves = slice(0, half), slice(half, None)
        try:
            first, second = (features_of(clone(seeded).fit(X[rows], y[rows]), X[:2]) for rows in halves)
            same, cause = np.array_equal(first, second), None
        except ValueError as error:
            same, cause = False, error
        if not same:
            raise ValueError(
                f"{name}: partial_fit fits the feature_map to the first block alone, but the features of this "
                f"map, a {type(self.feature_map).__name__}, depend on the rows. Use a map that needs only their "
                "number of columns, such as RFF with a fixed kernel, or a map that is already fitted to a "
                f"sample of the rows: {name}(feature_map=sklearn.frozen.FrozenEstimator(map.fit(rows)))."
            ) from cause

    def _feature_blocks(self, X: Any) -> Iterator[tuple[slice, NDArray]]:
        """Yield consecutive blocks of rows and their features."""
        for rows in row_blocks(X.shape[0], self.block_size):
            block = X[rows] if X.dtype in FLOATS else X[rows].astype(np.float64)
            yield rows, block if self.feature_map is None else features_of(self.feature_map_, block)

    @property
    def _accepted_sparse(self) -> str | bool:
        """Return what scikit-learn's validation takes as ``accept_sparse``."""
        return "csr" if self.feature_map is not None else False

    def __sklearn_tags__(self):  # type: ignore[no-untyped-def]
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        if hasattr(self.feature_map, "fit"):
            of_map = get_tags(self.feature_map).input_tags
            tags.input_tags.sparse, tags.input_tags.pairwise = of_map.sparse, of_map.pairwise
        return tags

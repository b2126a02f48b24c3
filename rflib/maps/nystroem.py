"""Nystroem: the kernel's values at landmark rows as columns, the usual alternative to random features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from rflib.drafts import all_or_nothing
from rflib.kernels.base import Kernel, radial
from rflib.kernels.distances import euclidean_distances
from rflib.kernels.namespaces import Array, held_beside, in_type_of, is_single, take_columns, widest
from rflib.kernels.similarity import Lookup
from rflib.kernels.sparse_rows import Rows, dense
from rflib.maps.base import RandomFeatureMap
from rflib.maps.dask_rows import DaskRows
from rflib.maps.landmarks import LANDMARKS, Landmarks, own_landmarks, rows_used
from rflib.maps.parameters import with_parameters
from rflib.maps.row_blocks import filled, over_row_blocks, row_blocks
from rflib.maps.row_sample import DeviceRows
from rflib.maps.unlike_rows import USUAL_ROWS, loss, squares
from rflib.validation import check_choice, refuse
from rflib.warn import warn

_RANK_TOLERANCE = 1e-12
_BLOCK_ELEMENTS = 1 << 20
# Elements of the kernel matrix of a block of rows, for gradients.
_GRADIENTS_BLOCK = 1 << 19
# The profile is differentiated by a central difference of this share of the width, to about 1e-10 over the width.
_STEP = 1e-5
# Columns that are computed at a time from the landmarks that they use.
_PANEL = 256
# The largest squared norm of a column of the normalisation, for a kernel with values up to one, with which
# features are computed in single precision: accurate within 5e-6, up to 8 eps times the norm where it was tried.
_LARGEST_SINGLE = 25.0
# Losses of k(x, x) up to this one are rounding errors, as at landmarks, which lose nothing.
_ROUNDING = 1e-6
_FEWEST_USUAL_ROWS = 100
# Smaller weights in a linear combination of landmarks are rounding errors.
_DEPENDENT = 1e-3


@with_parameters
class Nystroem(RandomFeatureMap):
    """Approximate any kernel, definite or not, by its values at landmark rows.

    With the kernel matrix C (n, D) between the rows and D landmarks, and the kernel matrix W (D, D) of the
    landmarks, the estimate is K_hat = C W^+ C^T. If W is positive semidefinite, the landmarks are put into the
    order of a pivoted Cholesky decomposition, W = L L^T, and the features are C L^(-T). They equal those of
    scikit-learn's Nystroem with the same landmarks up to a rotation of the columns, and take less time to fit and
    to compute. Otherwise W = U diag(l) U^T, the features are C U |l|^(-1/2), and the signature has the signs of l.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `RandomFeatureMap`; any kernel will do. A function of two arrays is a symmetric similarity k(X, Y)
        of two matrices of rows. With "precomputed", `fit` takes the matrix (n, n) of the similarities of the
        training rows, and `transform` the similarities (m, n) of other rows to them. Each landmark has a column.
        If there are fewer training rows than n_components, all of them are used and a warning is issued.
    landmarks : {"uniform", "kmeans", "rpcholesky"} or array-like, default="uniform"
        How the landmarks are chosen: uniformly among the rows, as the centres of k-means clusters, or as the
        pivots of a randomly pivoted Cholesky decomposition; see `rflib.maps.landmarks`. The last two take longer
        to fit and have a lower error. "kmeans" is not possible with precomputed similarities. Each rule looks at
        a uniform sample of the rows only. Or the landmarks themselves, whose number then counts in place of
        ``n_components``: rows (n, n_features), which need not be training rows, or integers (n,), the numbers of
        rows that `fit` gets. With "precomputed" they are integers; of Dask or device rows, they are rows.

    Attributes
    ----------
    landmarks_ : ndarray or csr_array of shape (n_components_, n_features_in_)
        The landmarks, in the order of the decomposition; with "precomputed", their similarities. They are sparse
        if they are rows of a sparse X. The centres of k-means, and the landmarks after `restore`, are dense.
    indices_ : ndarray of shape (n_components_,)
        Indices of the landmarks among the training rows; only with "precomputed".
    normalization_ : ndarray of shape (n_components_, n_components_)
        L^(-T), which is upper triangular, or U |l|^(-1/2). Columns beyond the rank of W, to rounding, are zero.

    See Also
    --------
    AutoMap : Compares it with other maps on your rows.
    MercerFeatures : A map that stores no rows.
    sklearn.kernel_approximation.Nystroem : With uniform landmarks and definite kernels only.

    References
    ----------
    Williams, Seeger: Using the Nystroem method to speed up kernel machines, NIPS 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import Nystroem
    >>> X = load_iris().data
    >>> features = Nystroem(Gaussian("median"), 16, landmarks="rpcholesky", random_state=0).fit(X)
    >>> print(abs(features.kernel_matrix(X) - features.kernel_(X)).mean().round(3))
    0.001
    """

    _takes_sparse = None
    _lacks = True
    _takes_similarities: ClassVar[bool] = True
    _not_in_state = ("normalization_",)

    landmarks: Landmarks = "uniform"

    @property
    def _sample_size(self) -> int:  # type: ignore[override]
        rule = self.landmarks if isinstance(self.landmarks, str) else "uniform"
        return max(RandomFeatureMap._sample_size, rows_used(rule, self.n_components))

    def _rows_to_fit(self, rows: DaskRows | DeviceRows) -> tuple[Any, NDArray | None]:
        if not isinstance(self.landmarks, str) and np.ndim(self.landmarks) == 1:
            raise ValueError(
                "Nystroem: of Dask rows, and of rows on a device, the map sees a sample, in which rows have other "
                "numbers. Give the landmarks themselves, as rows."
            )
        return super()._rows_to_fit(rows)

    def _isotropic(self, X: Rows) -> tuple[Kernel, Rows]:
        return self.kernel_, X  # the landmarks are rows as the user gave them

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        known = kernel(X) if kernel.is_precomputed else None
        chosen = self._chosen(kernel, X, known, rng)
        if known is not None:
            self.indices_, chosen = chosen, known[np.ix_(chosen, chosen)]
        # Landmarks are in double precision even if X is float32: small eigenvalues amplify the kernel's rounding.
        landmarks = chosen.astype(np.float64)
        W = kernel(landmarks)
        order, self._rank_ = _independent(W)
        if known is not None:
            self.indices_, landmarks = self.indices_[order], landmarks[:, order]
        self._order_, self.landmarks_ = order, landmarks[order]
        self._normalise(W)
        # Similarities that were made positive semidefinite by a repair lose more at rows that this has not seen.
        is_repaired = known is not None and self._rank_ is not None and self._rank_ < len(W)
        ordered = W[np.ix_(order, order)]
        self._left_out_ = None if is_repaired else self._landmarks_left_out(ordered, X.shape[0])

    def _chosen(self, kernel: Kernel, X: Rows, known: NDArray | None, rng: Generator) -> Rows:
        """Return the landmarks or, if the similarities of the rows are known, the numbers of those rows."""
        n_rows, rule = X.shape[0], self.landmarks
        if not isinstance(rule, str):
            own = own_landmarks(self, rule, X)
            if own.ndim > 1 and known is not None:
                expected = "the name of a rule, or integers, the numbers of rows, with kernel='precomputed'"
                refuse(self, "landmarks", expected)
            return X[own] if own.ndim == 1 and known is None else own
        check_choice(self, "landmarks", tuple(LANDMARKS))
        n = min(self.n_components, n_rows)
        if n < self.n_components:
            warn(
                f"Nystroem: there are only {n_rows} rows for n_components = {self.n_components} landmarks, so "
                f"n_components_ is {n_rows}. Lower n_components, or give more rows.",
                cause="few rows",
            )
        if known is None:
            return LANDMARKS[rule](kernel, X, n, rng)
        if rule == "kmeans":
            refuse(self, "landmarks", "'uniform' or 'rpcholesky' with kernel='precomputed'")
        every = np.arange(float(n_rows))[:, None]
        return LANDMARKS[rule](Lookup(known), every, n, rng)[:, 0].astype(np.int64)

    @all_or_nothing
    def restore(self, state: Mapping[str, NDArray]) -> Self:
        """Become the fitted map whose `state` is given; this map must have the same parameters."""
        super().restore(state)
        # in the order in which landmarks were drawn, so that the normalisation is the same to the last bit
        drawn = np.argsort(self._order_)
        known = self.kernel_.is_precomputed
        landmarks = self.landmarks_[np.ix_(drawn, drawn)] if known else self.landmarks_[drawn]
        self._normalise(self.kernel_(landmarks))
        return self

    def _normalise(self, W: NDArray) -> None:
        """Decompose the kernel matrix of the landmarks as they were drawn."""
        W = W[np.ix_(self._order_, self._order_)]
        if self._rank_ is None:
            values, vectors = np.linalg.eigh(W)
            size = np.abs(values)
            kept = size > _RANK_TOLERANCE * size.max()
            self.normalization_ = vectors * np.where(kept, 1 / np.sqrt(np.where(kept, size, 1)), 0)
            self.signature_ = np.where(values < 0, -1.0, 1.0)
        else:
            r = self._rank_
            self.normalization_ = np.zeros_like(W)
            if r:
                factor = linalg.cholesky(W[:r, :r], lower=True)
                self.normalization_[:r, :r] = linalg.lapack.dtrtri(factor, lower=1)[0].T
            self.signature_ = np.ones(len(W))
        largest = squares(self.normalization_.T).max() * np.abs(W).max()
        self._is_sensitive = bool(largest > _LARGEST_SINGLE)

    def _landmarks_left_out(self, W: NDArray, n_rows: int) -> NDArray[np.float64] | None:
        """Return what others represent of k(x, x) at each landmark, and k(x, x); None if that is not known.

        The residual of the regression of a landmark on the others is 1 / (W^-1)_ii, and zero if one of those
        without a column, such as an equal row, depends on it. For an indefinite matrix, it is not known, but there
        are other rows if no more than half of them are landmarks.
        """
        diagonal = W.diagonal()
        if self._rank_ is None:
            return np.zeros((2, 0)) if n_rows >= 2 * len(diagonal) else None
        inverse = squares(self.normalization_)
        weights = self.normalization_ @ (self.normalization_.T @ W[:, self._rank_ :])
        alone = (inverse > 0) & ~(np.abs(weights) > _DEPENDENT).any(axis=1)
        residual = np.divide(1, inverse, out=np.zeros_like(inverse), where=alone)
        return np.array([diagonal - residual, diagonal])

    @property
    def _fades(self) -> bool:
        return self._left_out_ is not None

    def _usual_rows(self, X: Rows, rng: Generator, n: int = USUAL_ROWS) -> Rows:
        return super()._usual_rows(X, rng, max(n - self.n_components_, _FEWEST_USUAL_ROWS))

    def _held_out(
        self, losses: NDArray, unit: float | None, kernel: Kernel, X: Rows, rng: Generator
    ) -> NDArray[np.float64]:
        """Return the losses of landmarks as if each were left out, and those of other rows.

        As many of the rows that lose nothing as there are landmarks may be the landmarks themselves.
        """
        assert self._left_out_ is not None
        kept, exact = self._left_out_
        with np.errstate(divide="ignore", invalid="ignore"):
            left_out = loss(kept / exact if unit is None else np.minimum(kept / unit, 1))
        others = np.sort(losses)
        n_landmarks = min(self.n_components_, np.count_nonzero(others <= _ROUNDING))
        return np.concatenate([others[n_landmarks:], left_out])

    def _columns(self, X: Rows) -> Array:
        is_wide, n = is_single(X) and self._is_sensitive, self.n_components_
        like = widest(X[:1, :]) if is_wide else X[:1, :]
        landmarks, normalization = held_beside(self.landmarks_, like), held_beside(self.normalization_, like)
        width = n if self._rank_ is None else _PANEL

        def fill(block: Rows, out: Array) -> None:
            rows = widest(block) if is_wide else block
            known = self.kernel_.is_precomputed
            matrix = take_columns(rows, self.indices_) if known else self.kernel_(rows, landmarks)
            matrix = in_type_of(matrix, like)
            for columns in row_blocks(n, width):
                used = slice(columns.stop)
                out[:, columns] = in_type_of(matrix[:, used] @ normalization[used, columns], X)

        return filled(X, n, fill, _BLOCK_ELEMENTS // n)

    def _gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sums over the landmarks of weights times slopes of the kernel, which are zero at the landmark."""
        if not self.kernel_.is_radial:
            return super()._gradients(X, weights)
        isotropic, rows = self.kernel_.isotropic(X)
        _, landmarks = self.kernel_.isotropic(self.landmarks_)
        kernel, of_landmarks = radial(isotropic), self.normalization_ @ weights
        step = _STEP * kernel.single_width
        gradients = np.empty((rows.shape[0], weights.shape[1], rows.shape[1]))

        def fill(part: slice) -> None:
            apart = np.maximum(np.asarray(euclidean_distances(rows[part], landmarks)), step)
            rise = kernel.at_distance(apart + step) - kernel.at_distance(apart - step)
            slopes, block = rise / (2 * step * apart), dense(rows[part])
            for t, weight in enumerate(of_landmarks.T):
                pulls = slopes * weight
                gradients[part, t] = pulls.sum(axis=1)[:, None] * block - pulls @ landmarks

        over_row_blocks(fill, rows, max(1, _GRADIENTS_BLOCK // len(of_landmarks)))
        return gradients


def _independent(W: NDArray) -> tuple[NDArray[np.int64], int | None]:
    """Return an order of the landmarks that begins with independent ones, and their number, the rank of W.

    The order is that of a pivoted Cholesky decomposition. It is the given one, and the number None, if W is not
    positive semidefinite.
    """
    tolerance = _RANK_TOLERANCE * np.abs(W.diagonal()).sum()
    factor, pivots, rank, _ = linalg.lapack.dpstrf(W, tol=tolerance, lower=1)
    order = pivots.astype(np.int64) - 1
    rest, others = order[rank:], factor[rank:, :rank]
    residual = W[np.ix_(rest, rest)] - others @ others.T
    # What is left of a positive semidefinite matrix is nowhere larger than on its diagonal.
    if not np.abs(residual).max(initial=0) <= 10 * tolerance:
        return np.arange(len(W)), None
    return order, int(rank)

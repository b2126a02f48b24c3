"""MercerFeatures: the kernel's eigenfunctions on the rows' own axes."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_feature_names_in

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, empty
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows
from rflib.maps.axis_functions import FEW_VALUES
from rflib.maps.base import RandomFeatureMap, Seed
from rflib.maps.mercer_choice import RowSamples, choose_columns
from rflib.maps.mercer_columns import Axes
from rflib.maps.row_blocks import over_row_blocks
from rflib.maps.unlike_rows import FEWEST
from rflib.validation import check_choice

AXES = ("auto", "principal", "input")
_BLOCK_ROWS = 1024
# Functions of fewer rows, and axes of fewer rows for each input column, fit these rows better than others.
_FEW_ROWS, _ROWS_FOR_AN_AXIS = 100, 5


class MercerFeatures(RandomFeatureMap):
    """Approximate a kernel by its eigenfunctions, as products of functions on the axes of the rows.

    Along the principal axes of the training rows, or along their input columns, a Gaussian kernel is a product of
    kernels of one coordinate each. If the coordinates were independent, the eigenfunctions of the kernel would be
    products of one-dimensional eigenfunctions, and their eigenvalues products of the one-dimensional ones. The
    largest D of them are the columns. A column is another column times one function of one coordinate, so that
    `transform` takes no cosine and no exponential for each column. Nothing is drawn at random, and no training row
    is stored.

    Where the coordinates of the rows are not independent, which shows on held-out training rows, the kernel is
    fitted on a sample of the rows as a combination of twice as many products by least squares, which is shrunk
    towards the law of independent coordinates; its principal directions are the columns. With many columns, only
    the first ones are combined so. Kernels that are no product, such as `Matern` or a polynomial, are always
    represented so, by the products for two Gaussian kernels whose widths are chosen on held-out rows, and whose
    combination that is closest to the kernel takes the place of the law.

    Sparse rows are not taken, and features fade beyond the training rows, of which `transform` warns.

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Any kernel of rows, definite or not; None means the default kernel, and a function of one array is the
        profile k(z) of a kernel.
    n_components : int, default=100
        Number of columns D. If the rows have fewer eigenfunctions, the columns that are left are zero.
    axes : {"auto", "principal", "input"}, default="auto"
        The principal axes of the training rows, or their input columns. "auto" takes those with the lower error on
        held-out training rows; where some columns have few different values, such as indicators of categories, it
        also tries these columns together with the principal axes of the others.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the choice of the rows that are held out and sampled. Rows that are held out have no part in
        principal axes, functions and coefficients.

    Attributes
    ----------
    axes_ : ndarray of shape (n_axes, n_features_in_)
        The axes, unit vectors.
    mean_ : ndarray of shape (n_features_in_,)
        Mean of the training rows.
    is_fitted_to_rows_ : bool
        Whether coefficients were fitted to rows, in place of the law of independent coordinates.
    predicted_error_ : float
        Relative Frobenius error of the kernel matrix of as many new rows as there are training rows, where that of
        `MVORF` is absolute. It is measured on training rows that were held out. If there are more than 4,500 rows,
        these are up to 1,000 others than those by which axes and coefficients were chosen. It is mostly within a
        tenth of the error on new rows; not where outliers or rare values make up the error, of which few rows know
        nothing: with some hundred rows it may be off by a factor of two, and of less than 20 rows it is the error
        on these.

    Notes
    -----
    The one-dimensional eigenfunctions are those of the law of 12 to 48 nodes of Gauss quadrature for the
    coordinates, or of all their values if there are at most 30, continued by Nystroem's formula (Williams and
    Seeger 2000). For normal coordinates they are close to Hermite functions
    (Fasshauer and McCourt, *Stable evaluation of Gaussian RBF interpolants*, SIAM J. Sci. Comput. 2012).
    Related maps for one dimension or a box: Solin and Sarkka, *Hilbert space methods for reduced-rank Gaussian
    process regression*, Statistics and Computing 2020; Joukov and Kulic, *Fast approximate multioutput Gaussian
    processes*, 2022. For monomials: Cotter, Keshet, Srebro, *Explicit approximations of the Gaussian kernel*,
    2011.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import MercerFeatures
    >>> X, _ = load_diabetes(return_X_y=True)
    >>> features = MercerFeatures(Gaussian("median"), 50, random_state=0).fit(X)
    >>> features.transform(X).shape
    (442, 50)
    """

    _state: ClassVar[tuple[str, ...]] = ("mean_", "columns_", "predicted_error_")

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        axes: str = "auto",
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.axes = axes
        self.random_state = random_state

    @property
    def axes_(self) -> NDArray[np.float64]:
        """The axes, unit vectors (n_axes, n_features_in_)."""
        directions = self.columns_.axes.directions
        return np.eye(self.n_features_in_) if directions is None else directions

    @property
    def is_fitted_to_rows_(self) -> bool:
        """Whether coefficients were fitted to rows, in place of the law of independent coordinates."""
        return len(self.columns_.head) > 0

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_choice(self, "axes", AXES)
        self.mean_ = X.mean(axis=0, dtype=np.float64)
        sample = RowSamples.of(X, kernel, rng)
        columns, error = choose_columns(
            list(self._axes_to_try(X, sample)), sample, self.mean_, self.n_components
        )
        self.columns_, self.predicted_error_ = columns, error
        enough = max(_FEW_ROWS, _ROWS_FOR_AN_AXIS * X.shape[1])
        is_free = not self.is_fitted_to_rows_ and len(X) >= enough
        self._has_few_rows = X.shape[0] >= FEWEST and sample.held.shape[0] < FEWEST
        self._usual_rows = X if is_free or self._has_few_rows else sample.held
        self.signature_ = self.columns_.signs

    def _axes_to_try(self, X: Rows, sample: RowSamples) -> Iterator[Axes]:
        """Yield the axes that the parameter allows; rows that are held out have no part in principal axes."""
        if self.axes != "principal":
            yield Axes.of_inputs(X.var(axis=0, dtype=np.float64))
        if self.axes == "input":
            return
        centred = X - self.mean_.astype(X.dtype)
        products, n = (centred.T @ centred).astype(np.float64), len(X)
        if sample.held is not sample.rows:
            held = np.concatenate([sample.held, sample.fresh]) - self.mean_
            products, n = products - held.T @ held, n - len(held)
        covariance = products / n
        yield Axes.principal(covariance, np.arange(X.shape[1]))
        if self.axes == "auto":
            few = np.array([len(np.unique(column)) <= FEW_VALUES for column in sample.rows.T])
            if 0 < few.sum() < len(few) - 1:
                yield Axes.principal(covariance, np.flatnonzero(~few))

    @property
    def _fades(self) -> bool:
        return True

    def _note_usual_losses(self, kernel: Kernel, X: Rows, rng: Generator) -> None:
        rows = self.__dict__.pop("_usual_rows").astype(X.dtype, copy=False)
        super()._note_usual_losses(kernel, rows, rng)

    def _held_out(self, losses: NDArray, kernel: Kernel, X: Rows, rng: Generator) -> NDArray[np.float64]:
        """Return the losses of held-out rows: of few rows, each fifth by the map that is fitted to the others."""
        if not self._has_few_rows:
            return losses
        found, every = [], np.arange(X.shape[0])
        for part in np.array_split(rng.permutation(every), 5):
            other = copy(self)
            other._draw(kernel, X[np.delete(every, part)], None, rng)
            found.append(other._losses(kernel, X[part], other._columns(X[part])))
        return np.concatenate(found)

    def _columns(self, X: Rows) -> Array:
        features = empty((X.shape[0], self.n_components_), X)

        def fill(rows: slice) -> None:
            self.columns_.fill(X[rows, :], self.mean_, features[rows, :])

        over_row_blocks(fill, X, _BLOCK_ROWS)
        return features

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return a name for each column that says which powers of which axes it is a product of.

        "pc1" is the second eigenfunction on the first principal axis, "pc1^2" the third one; "1" is the product of
        the first eigenfunctions on all axes. Columns that combine many products are called "combined".
        Of a kernel that is no product, those of the wider one of two Gaussian kernels end in "wide".
        """
        _check_feature_names_in(self, input_features)
        return np.array(self.columns_.names(len(self.columns_.products[0].tables.lengths)), dtype=object)

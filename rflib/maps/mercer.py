"""MercerFeatures: the kernel's eigenfunctions on the rows' own axes."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Literal, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import _check_feature_names_in

from rflib.drafts import all_or_nothing
from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, is_foreign, to_numpy
from rflib.kernels.sparse_rows import Rows, mean_row
from rflib.maps.axes import Axes
from rflib.maps.axis_functions import FEW_VALUES
from rflib.maps.base import RandomFeatureMap
from rflib.maps.held_out import RowSamples
from rflib.maps.learned import forget
from rflib.maps.mercer_choice import choose_columns
from rflib.maps.mercer_columns import mercer_gradients
from rflib.maps.parameters import with_parameters
from rflib.maps.row_blocks import filled
from rflib.maps.row_sample import RowSample
from rflib.maps.unlike_rows import FEWEST_LOSSES, USUAL_ROWS, losses_of
from rflib.validation import check_choice, check_integer

_BLOCK_ROWS = 1024
# Functions of fewer rows, and axes of fewer rows for each input column, fit these rows better than others.
_FEW_ROWS, _ROWS_FOR_AN_AXIS = 100, 5


class FittedToSample:
    """An attribute that is fitted to the sample of a stream when it is first asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, fitted: MercerFeatures | None, owner: type) -> Any:
        if fitted is None or fitted._stream_ is None:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}")
        fitted._fit_to_sample()
        return vars(fitted)[self._name]


@with_parameters
class MercerFeatures(RandomFeatureMap):
    """Approximate a kernel by its eigenfunctions, as products of functions on the axes of the rows.

    Along the principal axes of the training rows, or along their input columns, a Gaussian kernel is a product of
    kernels of one coordinate each. If the coordinates were independent, the eigenfunctions of the kernel would be
    products of one-dimensional eigenfunctions, and their eigenvalues products of the one-dimensional ones. The
    largest D of them are the columns, each of which is another one times one function of one coordinate. No column
    is drawn at random, and no training row is stored.

    Where the coordinates of the rows are not independent, which shows on held-out training rows, the kernel is
    fitted on a sample of the rows as a combination of twice as many products by least squares, which is shrunk
    towards that for independent coordinates; its principal directions are the columns. With many columns, only
    the first ones are combined so. Kernels that are no product, such as `Matern` or a polynomial, are always
    represented so, by the products for two Gaussian kernels whose widths are chosen on held-out rows. Sparse rows
    are taken as they are, along their input columns. Features fade beyond the training rows, of which `transform`
    warns. docs/mercer.md derives each step.

    Parameters
    ----------
    kernel, n_components
        As for `RandomFeatureMap`; any kernel of rows, definite or not. If the rows have fewer eigenfunctions than
        columns, the columns that are left are zero.
    axes : {"auto", "principal", "input"}, default="auto"
        The principal axes of the training rows, or their input columns. "auto" takes those with the lower error on
        held-out training rows; where some columns have few different values, such as indicators of categories, it
        also tries these columns together with the principal axes of the others. Of sparse rows "auto" takes the
        input columns, and "principal" is an error, since principal axes mix all columns.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the choice of the rows that are held out and sampled.

    Attributes
    ----------
    axes_ : ndarray of shape (n_axes, n_features_in_)
        The axes, unit vectors.
    mean_ : ndarray of shape (n_features_in_,)
        Mean of the training rows.
    is_fitted_to_rows_ : bool
        Whether coefficients were fitted to rows: coordinates are not independent, or the kernel is no product.
    predicted_error_ : float
        Relative Frobenius error of the kernel matrix of as many new rows as there are training rows, measured on
        rows that were held out: of more than 4,500 rows, on up to 1,000 that had no part in choices. It may be off
        by a factor of two with some hundred rows, or where outliers and rare values make up the error. Of less
        than 20 rows it is the error on these.

    See Also
    --------
    AutoMap : Compares it with other maps on your rows.
    Nystroem : The same purpose with stored rows.
    MVORF : The same with random waves for what the eigenfunctions lack.
    sklearn.kernel_approximation.RBFSampler : Random waves for the Gaussian kernel.

    References
    ----------
    Williams, Seeger: Using the Nystroem method to speed up kernel machines, NIPS 2000.

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

    axes: Literal["auto", "principal", "input"] = "auto"

    _takes_sparse = None
    _fades = True
    _stays_with_caller = _not_in_state = ("_stream_",)
    _stream_: RowSample | None = None
    # Held-out rows, until what they lose is noted, and whether there are fewer than FEWEST_LOSSES of them.
    _held_rows: Rows | None = None
    _has_few_rows = False
    kernel_, signature_, columns_, predicted_error_ = (FittedToSample() for _ in range(4))

    @property
    def axes_(self) -> NDArray[np.float64]:
        """The axes, unit vectors (n_axes, n_features_in_)."""
        directions = self.columns_.axes.directions
        return np.eye(self.n_features_in_) if directions is None else directions

    @property
    def mean_(self) -> NDArray[np.float64]:
        """Mean of the training rows."""
        return self.columns_.axes.mean

    @property
    def is_fitted_to_rows_(self) -> bool:
        """Whether coefficients were fitted to rows."""
        return self.columns_.combination is not None and self.columns_.combination.head.size > 0

    @all_or_nothing
    def partial_fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Add rows to those of a stream, of which a uniform sample of at most 10,000 is kept.

        The map is fitted to this sample when it is first used after the call, so that it is that of `fit` on the
        same rows in Dask, in any blocks. While the stream goes on, the map holds the sample; `state` leaves it
        out. A map that is already fitted, by `fit` or `restore`, is not changed.

        Raises
        ------
        ValueError
            As in `fit`, and if rows have another number of columns than the first ones. What only all rows show,
            such as a width that is zero, is said when the map is first used.
        """
        check_integer(self, "n_components", at_least=1)
        begins = self._stream_ is None and "signature_" not in vars(self)
        rows = self._checked(X, reset=begins)
        rows = to_numpy(rows) if is_foreign(rows) else rows
        self._resolved_kernel().check_rows(rows)
        self._check_parameters(rows)
        if self._stream_ is None and not begins:
            return self
        stream = self._stream_ or RowSample(self._sample_size, int(self._rng().integers(2**31)))
        forget(self, "n_features_in_", "feature_names_in_")
        self._stream_ = stream.with_more(rows)
        return self

    @all_or_nothing
    def _fit_to_sample(self) -> None:
        stream = self._stream_
        assert stream is not None
        self._fit_rows(stream.rows()[0], None)
        self._stream_ = stream

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self._check_parameters(X)
        sample, (n, d) = RowSamples.of(X, kernel, rng), X.shape
        self._choose(list(self._axes_to_try(X, sample)), sample, rng)
        # training rows lose what others do, unless the columns are fitted to them
        fits_others = not self.is_fitted_to_rows_ and n >= max(_FEW_ROWS, _ROWS_FOR_AN_AXIS * d)
        self._has_few_rows = n >= FEWEST_LOSSES > sample.held.shape[0]
        self._held_rows = None if fits_others or self._has_few_rows else sample.held

    def _choose(self, axes: list[Axes], sample: RowSamples, rng: Generator) -> None:
        self.columns_, self.predicted_error_ = choose_columns(axes, sample, self.n_components)
        self.signature_ = self.columns_.signs

    def _axes_to_try(self, X: Rows, sample: RowSamples) -> Iterator[Axes]:
        """Yield the axes that the parameter allows; rows that are held out have no part in principal axes."""
        mean = mean_row(X)
        if self.axes != "principal":
            is_sparse = issparse(X)
            variances = mean_variance_axis(X.astype(np.float64), 0)[1] if is_sparse else X.var(0, np.float64)
            yield Axes.of_inputs(mean, variances)
        if self.axes == "input" or issparse(X):
            return
        centred = X - mean.astype(X.dtype)
        # A power of two, which changes no digit: single precision does not hold squares of all its numbers.
        unit = 2.0 ** np.frexp(np.abs(centred).max())[1]
        centred /= X.dtype.type(unit)
        products, n = (centred.T @ centred).astype(np.float64) * unit**2, len(X)
        if sample.are_held_out:
            held = np.concatenate([sample.held, sample.fresh]) - mean
            products, n = products - held.T @ held, n - len(held)
        covariance = products / n
        yield Axes.principal(mean, covariance, np.arange(X.shape[1]))
        if self.axes == "auto":
            few = np.array([len(np.unique(column)) <= FEW_VALUES for column in sample.rows.T])
            if 0 < few.sum() < len(few) - 1:
                yield Axes.principal(mean, covariance, np.flatnonzero(~few))

    def _check_parameters(self, X: Rows) -> None:
        check_choice(self, "axes", ("auto", "principal", "input"))
        if self.axes == "principal" and issparse(X):
            raise ValueError(
                f"{type(self).__name__}: axes='principal' would make sparse rows dense, because principal axes "
                "mix all columns. Use axes='auto' or 'input', which keep the columns, or X.toarray() on few rows."
            )

    def _usual_rows(self, X: Rows, rng: Generator, n: int = USUAL_ROWS) -> Rows:
        if (held := self._held_rows) is not None:
            X, self._held_rows = held.astype(X.dtype, copy=False), None
        return super()._usual_rows(X, rng, n)

    def _held_out(
        self, losses: NDArray, unit: float | None, kernel: Kernel, X: Rows, rng: Generator
    ) -> NDArray[np.float64]:
        """Return the losses of held-out rows: of few rows, each fifth by the map that is fitted to the others.

        A row counts as what it loses by this map where that is more: training rows are never unlike themselves.
        """
        if not self._has_few_rows:
            return losses
        found, every = losses.copy(), np.arange(X.shape[0])
        for part in np.array_split(rng.permutation(every), 5):
            other = copy(self)
            other._draw(kernel, X[np.delete(every, part)], None, rng)
            lost = losses_of(kernel, X[part], other._columns(X[part]), other.signature_, unit)
            found[part] = np.maximum(lost, losses[part])
        return found

    def _columns(self, X: Rows) -> Array:
        return filled(X, self.n_components_, self._fill, _BLOCK_ROWS)

    def _fill(self, X: Rows, out: Array) -> None:
        self.columns_.fill(X, out)

    def _gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return mercer_gradients(self.columns_, X, weights)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return a name for each column that says which functions on which axes it is a product of.

        "pc1" is the second eigenfunction on the first principal axis, "pc1^2" the third one; "1" is the product of
        the first ones on all axes. Input columns have their own names. Columns that combine many products are
        called "combined". Of a kernel that is no product, those of the wider of two Gaussians end in "wide".
        """
        inputs = _check_feature_names_in(self, input_features)
        return np.array(self.columns_.names(inputs), dtype=object)

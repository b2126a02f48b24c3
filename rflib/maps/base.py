"""What a random feature map is: a scikit-learn transformer with a signature and a state of plain arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rflib import kernels
from rflib.drafts import all_or_nothing
from rflib.kernels.base import Kernel, check_finite
from rflib.kernels.estimator import KernelEstimator
from rflib.kernels.namespaces import Array, beside, float_types, follow, is_foreign, namespace
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.row_faults import validated
from rflib.kernels.sparse_rows import Rows, canonical, largest_size
from rflib.kernels.width import KernelWithWidth
from rflib.kernels.width_warning import warn_of_width
from rflib.maps.dask_rows import DaskRows, is_dask, takes_dask_rows
from rflib.maps.kernel_requirements import alternatives
from rflib.maps.learned import arrays_of, forget, learned, put_back
from rflib.maps.parameters import with_parameters
from rflib.maps.row_sample import DeviceRows
from rflib.maps.seeds import SEEDS, Seed, as_generator
from rflib.maps.unlike_rows import USUAL_ROWS, UsualLosses, losses_of, squares, unit_of_losses
from rflib.measures.range_warning import RangeWarning
from rflib.sklearn_bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from rflib.validation import check_integer, refuse
from rflib.warn import warn

# The width of a kernel whose parameter is a rule, in a state.
_WIDTH = "kernel_width_"
# The loss that is never warned of, and the share of k(x, x) below which features represent nothing.
_LEAST_LOSS, _NOTHING = 0.1, 1e-6
_ROUNDING = 1e-4


def _needs_only_columns(feature_map: RandomFeatureMap) -> bool:
    if feature_map._needs_rows:
        raise AttributeError(
            f"{type(feature_map).__name__}: there is no partial_fit with these parameters, because the features "
            "depend on the values of the rows. Call `fit` on a sample of the rows, and `transform` on all others."
        )
    if feature_map.kernel is None and not feature_map._resolved_kernel().is_for_rows:
        raise AttributeError(
            f"{type(feature_map).__name__}: partial_fit needs a kernel with a number as its width, such as "
            "Gaussian(sigma=2.0). That of the default kernel depends on all rows."
        )
    return True


class _Fitted:
    """What every fitted map has besides the learned kernel. (Annotations of the class below are parameters.)"""

    signature_: NDArray[np.float64]
    # What rows like the training rows lose, and how far out they are; None if that is not known.
    _usual_losses_: UsualLosses | None = None
    _usual_reach_: UsualLosses | None = None


@with_parameters
class RandomFeatureMap(_Fitted, ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelEstimator):
    """Base class of all maps, which estimate a kernel matrix by K_hat = Z diag(e) Z^T.

    The features Z (n, D) are real, and the signature e holds the sign +1 or -1 of each column. A subclass draws
    what defines its features in `_draw` and computes them in `_columns`. All attributes whose names end with an
    underscore are what `fit` has learned, and part of the map's `state`.

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Kernel to approximate; None means Gaussian("scale"), or Polynomial(degree=2, coef0=1) for maps of functions
        of the inner product. A function of one array is the profile of a kernel.
    n_components : int, default=100
        Number of columns D.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the random draws. An integer gives the same features on every machine.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that is approximated. Its width is a number, or a number for each input column. In the latter
        case other attributes refer to the kernel of width 1 and to rows whose columns are divided by the widths.
    signature_ : ndarray of shape (n_components_,)
        Sign +1 or -1 of each column; all are +1 if the estimate is positive definite.
    n_components_ : int
        Number of columns D. It is n_components, except that Nystroem has no more columns than training rows.
    n_features_in_ : int
        Number of input columns d.

    See Also
    --------
    RFF : A map of random waves.
    MercerFeatures : One of eigenfunctions.
    Nystroem : One of stored rows.

    Examples
    --------
    >>> from rflib.maps import ORF, RandomFeatureMap
    >>> isinstance(ORF(), RandomFeatureMap)
    True
    """

    # What is learned, but left out of the state: `restore` of the class computes it again, or does without it.
    _not_in_state: ClassVar[tuple[str, ...]] = ()
    # Whether it takes a kernel, by what this says of itself, and what a sentence says of others.
    _kernels: ClassVar[tuple[Callable[[Kernel], bool], str]] = (lambda kernel: True, "no kernel")
    # Whether `_draw` and `_columns` get sparse rows as they are (`canonical`); None if the kernel takes these.
    _takes_sparse: ClassVar[bool | None] = False
    # Whether the kernel is its own, and not that of a map inside, which is fitted to the same rows.
    _has_kernel: ClassVar[bool] = True
    # Number of Dask rows that it is fitted on if it needs rows.
    _sample_size = 10_000

    kernel: KernelLike = field(default=None, kw_only=False)
    n_components: int = field(default=100, kw_only=False)
    random_state: Seed = None

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Draw what defines the features of rows like those of X.

        Parameters
        ----------
        X : array-like, sparse matrix, or Dask array or dataframe, of shape (n_samples, n_features)
            Training rows, finite. Of Dask rows, and of rows on a device, such as a tensor of torch, a map whose
            features depend on nothing but the number of columns sees the first ones, and any other a uniform
            sample of 10,000, or more if its class says so.
        y : array-like of shape (n_samples,), optional
            Targets, for methods that use them.

        Raises
        ------
        ValueError
            If X is not a finite matrix, the map cannot take the kernel, the kernel needs rows of unit norm and a
            row has another norm, a parameter is out of its range, or n_components is too small for the map.
        """
        check_integer(self, "n_components", at_least=1)
        if is_dask(X):
            X, y = self._rows_to_fit(DaskRows(self, X, y))
        elif is_foreign(X):
            checked = self._checked(X, reset=True)
            self._resolved_kernel().check_rows(checked)
            X, y = self._rows_to_fit(DeviceRows(checked, y))
        self._fit_rows(self._checked(X, reset=True), y)
        return self

    def _fit_rows(self, rows: Rows, y: ArrayLike | None) -> None:
        """Fit to checked rows in memory."""
        self.kernel_ = self._resolved_kernel().for_rows(rows)
        if reason := self.unsupported(self.kernel_):
            raise ValueError(f"{type(self).__name__}: {reason}")
        self.kernel_.check_rows(rows)
        forget(self, "kernel_", "n_features_in_", "feature_names_in_")
        given = rows
        kernel, rows = self._isotropic(rows)
        rng = self._rng()
        try:
            self._draw(kernel, rows, y, rng)
            keeps_nothing = self._note_usual_losses(kernel, rows, rng)
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            raise ValueError(
                f"{self!r} cannot be computed from numbers as large as {largest_size(given):.3g} ({error}). Scale "
                "the rows or change the parameters of the kernel."
            ) from error
        if self._has_kernel and warn_of_width(self.kernel_, given):
            return
        if keeps_nothing:
            warn(
                f"{type(self).__name__}: of most training rows the features keep less than a millionth of k(x, x) "
                "and represent nothing. Centre and scale the rows, take another width, or use a map that "
                "represents the kernel everywhere, such as RFF or ORF.",
                RangeWarning,
                cause=type(self).__name__,
            )

    def _rows_to_fit(self, rows: DaskRows | DeviceRows) -> tuple[Any, NDArray | None]:
        """Return the rows in memory, and their targets, that the map is fitted on."""
        if not self._needs_rows and self._resolved_kernel().is_for_rows:
            _, (first, targets, _) = rows.head()
            return first, targets
        return rows.sample(self._sample_size, int(self._rng().integers(2**31)))

    @property
    def _needs_rows(self) -> bool:
        """Whether `_draw` uses more of the rows than their number of columns."""
        return True

    def _rng(self) -> Generator:
        try:
            return as_generator(self.random_state)
        except (TypeError, ValueError):
            refuse(self, "random_state", SEEDS)

    @available_if(_needs_only_columns)
    @all_or_nothing
    def partial_fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fit the map to the first rows of a stream, and only check later rows, by which it is not changed.

        Only maps whose features depend on nothing but the number of input columns have this method.

        Raises
        ------
        ValueError
            As in `fit`, and if rows have another number of columns than the first ones, or the kernel's width is a
            rule, such as "median", which needs all rows.
        """
        if hasattr(self, "signature_"):
            self.kernel_.check_rows(self._checked(X, reset=False))
            return self
        kernel = self._resolved_kernel()
        if not kernel.is_for_rows:
            raise ValueError(
                f"{type(self).__name__}: partial_fit cannot find the width of {kernel!r}, because it depends on "
                "all rows of the stream. Give the kernel a number, or call `fit` on a sample of the rows first; "
                "partial_fit does not change a fitted map."
            )
        return self.fit(X, y)

    @takes_dask_rows
    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the features of the rows X, shape (n_samples, n_components_).

        Rows of float32 have features of float32; rows of another type are converted to float64 first. The features
        of a Dask array or dataframe are a lazy Dask array with its blocks of rows. While scikit-learn's
        ``array_api_dispatch`` is on, rows of another array library, such as torch or CuPy, have features of this
        library on the same device.

        Raises
        ------
        TypeError
            If X is sparse and the map accepts dense rows only.
        ValueError
            If X has another number of columns than in `fit` or is not finite, if the kernel needs rows of unit
            norm and a row has another norm, or if a feature overflows the type.
        """
        return self._features(X)

    def kernel_matrix(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[np.floating]:
        """Return the approximate kernel matrix Z(X) diag(signature_) Z(Y)^T, shape (n, m); Y is X by default.

        It is an array of numpy, or of X's library, whatever `set_output` says. Errors are those of `transform`.
        """
        left = self._features(X)
        right = left if Y is None else self._features(Y)
        with np.errstate(over="ignore", invalid="ignore"):
            matrix: NDArray[np.floating] = (left * beside(self.signature_, left)) @ right.T
        check_finite(self, matrix, left, right)
        return matrix

    def gradient_products(self, X: ArrayLike, weights: ArrayLike) -> NDArray[np.float64]:
        """Return the gradients (n_samples, n_functions, n_features) of sum_j weights[j, t] z_j(x) at the rows X.

        The weights (n_components_, n_functions) of the features z_j are such as the coefficients of linear models.

        Raises
        ------
        TypeError
            If the map is not one of cosines, `MercerFeatures`, or `Nystroem` with a kernel of the distance.
        ValueError
            As in `transform`, and if there is not one row of weights for each feature.
        """
        check_is_fitted(self)
        rows = self._checked(X, reset=False)
        self.kernel_.check_rows(rows)
        columns = check_array(weights, dtype=np.float64, input_name="weights")
        if len(columns) != self.n_components_:
            raise ValueError(
                f"{type(self).__name__}: weights must have {self.n_components_} rows, one for each feature, but "
                f"have {len(columns)}."
            )
        _, factors = self.kernel_.by_column(rows.shape[1])
        gradients = self._gradients(self._isotropic(rows.astype(np.float64, copy=False))[1], columns)
        return gradients if factors is None else gradients * factors

    def _gradients(self, X: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gradients of `gradient_products`, with X as in `_columns`."""
        raise TypeError(
            f"{type(self).__name__}: these features have no gradients here. Use MercerFeatures, Nystroem with a "
            "kernel of the distance, or a map whose columns are cosines, such as ORF or RFF."
        )

    @property
    def columns_per_s(self) -> int:
        """Number of columns for one feature as the papers count them: n_components = columns_per_s * s."""
        return 1

    @classmethod
    def unsupported(cls, kernel: Kernel) -> str | None:
        """Return why the map cannot take the kernel and what to use instead, or None if it can take it."""
        takes, others_are = cls._kernels
        return None if takes(kernel) else f"{kernel!r} is {others_are}. {alternatives(kernel)}"

    @classmethod
    def _takes_kernel(cls, name: str) -> bool:
        return cls.unsupported(getattr(kernels, name)()) is None

    def spectrum(self, X: ArrayLike) -> Any:
        """Return what `fit` computes from X alone, to be shared as the parameter ``measure``; None if nothing."""
        return None

    def state(self) -> dict[str, NDArray]:
        """Return the arrays of what `fit` has learned, for `restore`; a map inside has its name before a dot."""
        check_is_fitted(self)
        values = {"signature_": self.signature_} | learned(self)
        found = arrays_of({k: v for k, v in values.items() if k not in ("kernel_", *self._not_in_state)})
        if not self._resolved_kernel().is_for_rows:
            assert isinstance(self.kernel_, KernelWithWidth)
            found[_WIDTH] = np.array(self.kernel_.single_width)
        return {name: array.copy() for name, array in found.items()}

    @all_or_nothing
    def restore(self, state: Mapping[str, NDArray]) -> Self:
        """Become the fitted map whose `state` is given; this map must have the same parameters."""
        arrays, kernel = {name: np.array(array) for name, array in state.items()}, self._resolved_kernel()
        width = arrays.pop(_WIDTH, None)
        if width is not None:
            assert isinstance(kernel, KernelWithWidth)
            kernel = kernel.with_width(float(width))
        forget(self)
        self.kernel_ = deepcopy(kernel)
        put_back(self, arrays)
        return self

    def _unfitted(self, name: str) -> RandomFeatureMap:
        """Return a map inside this one as it was before its fit, given what else this one has learned."""
        raise NotImplementedError(f"{type(self).__name__} has no map {name!r}")

    @abstractmethod
    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        """Set ``signature_`` and what else defines the features; kernel and X are those of `Kernel.isotropic`."""

    @abstractmethod
    def _columns(self, X: Rows) -> Array:
        """Return the features of checked rows, in X's dtype and library; X is as in `_draw`."""

    def _features(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the features of the rows as an array, after checks of the rows and of what `_columns` made."""
        check_is_fitted(self)
        rows = self._checked(X, reset=False)
        self.kernel_.check_rows(rows)
        kernel, X = self._isotropic(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            features = self._columns(X)
        expected = rows.shape[0], self.n_components_
        if np.shape(features) != expected or features.dtype != rows.dtype:
            raise ValueError(
                f"{type(self).__name__}._columns must return an array of shape {expected} and type {rows.dtype}, "
                f"one column for each of signature_ (n_components={self.n_components!r}), but returned shape "
                f"{np.shape(features)} and type {getattr(features, 'dtype', type(features).__name__)}."
            )
        squared = None if self._usual_losses_ is None else squares(features)
        if not self._surely_finite(rows):
            check_finite(self, features, rows, squared=squared)
        self._warn_of_unlike(kernel, X, features, squared)
        return features

    @property
    def _fades(self) -> bool:
        """Whether features of a fitted map represent the kernel near training rows only, and fade beyond."""
        return False

    def _reach(self, X: Rows) -> Array | None:
        """Return how far rows are out, 1 where what was fitted ends; None if the map has no such range."""
        return None

    def _note_usual_losses(self, kernel: Kernel, X: Rows, rng: Generator) -> bool:
        """Note what training rows lose, with which others are compared; return whether it is nearly all."""
        if not self._needs_rows:
            return False
        rows = self._usual_rows(X, rng)
        if (reach := self._reach(rows)) is not None:
            self._usual_reach_ = UsualLosses.of(reach, 1 + _ROUNDING)
        if not self._fades:
            return False
        with np.errstate(over="ignore", invalid="ignore"):
            features = self._columns(rows)
        unit = unit_of_losses(kernel, features, self.signature_)
        if unit == 0:
            return False
        losses = losses_of(kernel, rows, features, self.signature_, unit)
        held_out = self._held_out(losses, unit, kernel, rows, rng)
        self._usual_losses_ = UsualLosses.of(held_out, _LEAST_LOSS, unit)
        if unit is not None or self._usual_losses_ is None:
            return False
        kept = np.abs(squares(features, self.signature_))
        return bool(np.mean(kept < _NOTHING * np.abs(kernel.diagonal(rows))) > 0.5)

    def _usual_rows(self, X: Rows, rng: Generator, n: int = USUAL_ROWS) -> Rows:
        """Return at most n training rows, in their order, whose losses are noted."""
        return X[np.sort(rng.permutation(X.shape[0])[:n])]

    def _held_out(
        self, losses: NDArray, unit: float | None, kernel: Kernel, X: Rows, rng: Generator
    ) -> NDArray[np.float64]:
        """Return losses like those of held-out rows, from those of training rows X."""
        return losses

    @property
    def _lacks(self) -> bool:
        """Whether what features of a fitted map lack of k(x, x) is what they cannot represent, and no chance."""
        return self._fades

    def _missing(self, X: ArrayLike, features: Array) -> Array | None:
        """Return what the features lack of k(x, x) at rows (n, d), shape (n,); None if that is not known."""
        kernel, rows = self._isotropic(self._checked(X, reset=False))
        if not self._lacks or kernel.is_precomputed or (self.signature_ < 0).any():
            return None
        missing = follow(kernel.diagonal(rows), features) - squares(features)
        return namespace(missing).where(missing > 0, missing, 0 * missing)

    def _warn_of_unlike(self, kernel: Kernel, X: Rows, features: Array, squared: Array | None) -> None:
        unlike = 0
        if (usual := self._usual_losses_) is not None:
            unlike = usual.unlike(losses_of(kernel, X, features, self.signature_, usual.unit, squared))
        if self._usual_reach_ is not None:
            unlike = max(unlike, self._usual_reach_.unlike(self._reach(X)))
        if unlike:
            warn(
                f"{type(self).__name__}: {unlike} of {X.shape[0]} rows are outside the range of the training "
                "rows, where the features do not represent the kernel. Fit the map to rows that cover the same "
                "range, or use a map that represents the kernel everywhere, such as RFF, ORF or TensorSketch.",
                RangeWarning,
                cause=type(self).__name__,
            )

    def _surely_finite(self, X: Rows) -> bool:
        """Whether the features of checked rows cannot overflow; where this says no, they are looked through."""
        return False

    def _checked(self, X: ArrayLike, *, reset: bool) -> Rows:
        """X as a finite matrix of float32 if it is one, else of float64; in C order, as sums depend on it."""
        how = {"dtype": float_types(X), "order": "C", "accept_sparse": self._accepted_sparse}
        return canonical(validated(self, X, reset=reset, **how))

    @property
    def _accepted_sparse(self) -> str | bool:
        """Return what scikit-learn's validation takes as ``accept_sparse``."""
        takes = self._kernel_takes_sparse if self._takes_sparse is None else self._takes_sparse
        return "csr" if takes else False

    def _isotropic(self, X: Rows) -> tuple[Kernel, Rows]:
        """Return the kernel and the rows that `_draw` and `_columns` work with (`Kernel.isotropic`)."""
        return self.kernel_.isotropic(X)

    @property
    def n_components_(self) -> int:
        """Number of columns D."""
        return len(self.signature_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._accepted_sparse)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

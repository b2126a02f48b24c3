"""What a kernel is: an exact function of two rows, by distance, by inner product, or both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from math import inf
from numbers import Real
from typing import Any, ClassVar, Literal, NoReturn, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.utils.extmath import safe_sparse_dot

from rflib.kernels.distances import euclidean_distances
from rflib.kernels.namespaces import Array, in_type_of, is_single, namespace, ones, to_numpy
from rflib.kernels.sparse_rows import Rows, canonical, largest_size, squared_norms, times_columns
from rflib.keywords import Keywords, parameters, unknown

UNIT_NORM_TOLERANCE = 1e-5
# Number of rows of which the kernel matrix is computed for its diagonal.
_HEIGHT = 16


class Kernel(Keywords, ABC):
    """Base class of all exact kernels; a subclass implements ``_matrix`` and declares what it is.

    Maps and learners ask a kernel for these facts, and never for its class, so that a kernel of your own is served
    like those of rflib. What a kernel does not declare is not assumed.

    Kernels are frozen dataclasses. Two kernels are equal if their parameters are, and a kernel is hashable if its
    parameters are. The parameters are checked when a kernel is made. `set_params` is the only way to change a
    kernel, and makes the same checks, so that scikit-learn can tune a kernel inside a map or a learner
    (``map__kernel__sigma``).

    Attributes
    ----------
    unit_norm : bool
        Whether the kernel is defined only for rows of Euclidean norm one.
    takes_sparse : bool
        Whether the kernel accepts sparse rows too.
    definite_on : {"all", "sphere"} or None
        For which rows the kernel is known to be positive definite: for all, or for those of norm one.
    is_radial : bool
        Whether the kernel is a function of the Euclidean distance, its profile `at_distance`.
    is_dot_product : bool
        Whether the kernel is a function of the inner product, `at_product`, with the coefficients `maclaurin`.
    is_product : bool
        Whether the kernel is the product over the columns of its values `on_line`.
    is_rotation_invariant : bool
        Whether rotating all rows about the origin leaves the kernel as it is.
    is_stationary : bool
        Whether k(x, x) is the same for all rows x.
    is_precomputed : bool
        Whether rows hold similarities to the training rows, which are all that is known of objects.
    has_diagonal : bool
        Whether k(x, x) is defined by the row x.
    matern_order : float or None
        nu, if the kernel is a Matern kernel of the distance over `single_width`: infinity for the Gaussian
        exp(-z^2 / (2 single_width^2)).
    printed_measure : str or None
        The name of the measure with which the kernel's paper ran, where it is another one than ``"auto"``.
    """

    unit_norm: bool = False
    takes_sparse: ClassVar[bool] = True
    is_radial: ClassVar[bool] = False
    is_dot_product: ClassVar[bool] = False
    is_product: ClassVar[bool] = False
    is_rotation_invariant: ClassVar[bool] = False
    is_stationary: ClassVar[bool] = False
    is_precomputed: ClassVar[bool] = False
    has_diagonal: ClassVar[bool] = True
    printed_measure: ClassVar[str | None] = None

    @property
    def definite_on(self) -> Literal["all", "sphere"] | None:
        """For which rows the kernel is known to be positive definite."""
        return None

    @property
    def matern_order(self) -> float | None:
        """The smoothness nu, if the kernel is a Matern kernel of the distance; infinity for a Gaussian."""
        return None

    @property
    def is_gaussian(self) -> bool:
        """Whether the kernel is exp(-z^2 / (2 single_width^2)) of the distance z."""
        return self.matern_order == inf

    @property
    def single_width(self) -> float:
        """The width of the kernel, which is 1 unless it is a `KernelWithWidth`."""
        return 1.0

    @property
    def is_for_rows(self) -> bool:
        """Whether the width is a number or a sequence of numbers, and not a rule."""
        return True

    def spectral_measure(self, dimension: int) -> Any:
        """Return the exact spectral measure on R^dimension, of `rflib.measures`, or None if none is known.

        `RFF` and others draw from that of a kernel of your own; those of rflib's kernels are in
        `rflib.measures.exact_measures`.
        """
        return None

    def as_polynomial(self) -> Any:
        """Return the same kernel as a `Polynomial`, or None if it is none."""
        return None

    def absolute(self) -> Kernel:
        """Return a definite kernel that spans this one: of a sum of definite terms, with absolute coefficients."""
        return self

    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the distances z, if it is radial, or raise TypeError."""
        raise TypeError(f"{self!r} is not a function of the Euclidean distance.")

    def at_product(self, t: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the inner products t, if it is a function of these, or raise TypeError."""
        raise TypeError(f"{self!r} is not a function of the inner product.")

    def maclaurin(self) -> NDArray[np.floating]:
        """Return the coefficients of the powers of the inner product, as `at_product`."""
        raise TypeError(f"{self!r} is not a function of the inner product.")

    @property
    def polynomial_degree(self) -> int | None:
        """The degree of the kernel as a polynomial in the rows, or None if it is none."""
        return None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return a dictionary of the parameters, as scikit-learn's estimators do.

        ``deep`` has no effect: no parameter of a kernel has parameters of its own.
        """
        return {name: getattr(self, name) for name in parameters(type(self))}

    def set_params(self, **params: Any) -> Self:
        """Change some parameters in place and return the kernel.

        Raises
        ------
        ValueError
            If a parameter is unknown or a value is not valid. The kernel is then unchanged.
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(unknown(type(self), name, params[name]))
        changed = type(self)(**known | params)
        vars(self).clear()
        vars(self).update(vars(changed))
        return self

    def __sklearn_clone__(self) -> Self:
        return deepcopy(self)

    def for_rows(self, X: ArrayLike, weights: NDArray | None = None) -> Self:
        """Return a copy whose width is a number, found from the rows X (n, d) if it is a rule.

        Only a `KernelWithWidth` can have a rule for its width; other kernels are copied as they are.
        """
        found = object.__new__(type(self))
        vars(found).update(vars(self))
        return found

    def isotropic(self, X: Rows) -> tuple[Kernel, Rows]:
        """Return a kernel with a single width, and rows at which it has the values of this kernel at X (n, d).

        These are the kernel itself and X, unless a `KernelWithWidth` has one width for each input column.
        """
        kernel, factors = self.by_column(X.shape[1])
        return kernel, X if factors is None else in_type_of(times_columns(X, factors), X)

    def by_column(self, n_columns: int) -> tuple[Self, NDArray[np.float64] | None]:
        """Return a kernel of one width, and factors of the columns with which it has the values of this one.

        These are the kernel itself and None, unless a `KernelWithWidth` has one width for each of the n_columns
        input columns.
        """
        return self, None

    def _not_combined(self, other: object) -> NoReturn:
        """Say what there is in place of sums, products and powers of kernels.

        Raises
        ------
        TypeError
            Always.
        """
        if isinstance(other, Real):
            raise TypeError(
                f"{self!r} has no factor, constant or power. KRR chooses a ridge, which acts as a factor does, "
                "and takes off the means of the targets, as a constant does."
            )
        raise TypeError(
            "Kernels have no sum, product or power. Nystroem and the exact learners take any function of two "
            "matrices of rows, such as kernel=lambda X, Y: a(X, Y) + b(X, Y) of two kernels a and b. The sum also "
            "has the features FeatureUnion([('a', ORF(a)), ('b', ORF(b))]), as the feature_map of KRR."
        )

    __add__ = __radd__ = __mul__ = __rmul__ = __pow__ = _not_combined

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[np.floating]:
        """Return the kernel matrix between the rows of X and those of Y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows. If all rows are float32, so is the matrix; other types are converted to float64. Rows of torch,
            CuPy or another library with the array API are taken while scikit-learn's ``array_api_dispatch`` is on,
            and stay on their device.
        Y : array-like or sparse matrix of shape (m, d), optional
            More rows; by default X.

        Returns
        -------
        array of shape (n, m)
            The kernel matrix, an array of the library of the rows.

        Raises
        ------
        ValueError
            If X or Y is not a finite matrix of numbers, if their numbers of columns differ, if a kernel on the
            unit sphere gets a row of another norm, or if a kernel value overflows the type or is not a number.
        TypeError
            If rows are sparse and the kernel accepts dense rows only (``takes_sparse``).
        """
        checked = check_pairwise_arrays(X, Y, accept_sparse="csr" if self.takes_sparse else False)
        rows = tuple(map(canonical, checked))
        left, right = rows[0], None if Y is None else rows[1]
        self.check_rows(left)
        if right is not None:
            self.check_rows(right)
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = in_type_of(self._matrix(left, right), left)
        check_finite(self, matrix, *rows)
        return matrix

    def on_line(self, z: Array) -> Array:
        """Return the factor of one column at the differences z, in the shape of z, if the kernel is a product.

        Raises
        ------
        TypeError
            If the kernel is not a product over the columns (``is_product``).
        """
        raise TypeError(f"{self!r} is not a product over the columns.")

    @abstractmethod
    def _matrix(self, X: Rows, Y: Rows | None) -> NDArray[np.floating]:
        """Return the kernel matrix of checked rows, both float32 or both float64; None for Y means X."""

    def diagonal(self, X: Rows) -> Array:
        """Return k(x, x) for the rows of X (n, d), shape (n,)."""
        if self.is_stationary:
            matrix = self(X[:1, :])
            return ones((X.shape[0],), matrix) * float(matrix[0, 0])
        blocks = [self(X[first : first + _HEIGHT, :]) for first in range(0, X.shape[0], _HEIGHT)]
        xp = namespace(blocks[0])
        diagonal: Array = xp.concat([xp.linalg.diagonal(block) for block in blocks])
        return diagonal

    def check_rows(self, X: Rows) -> None:
        """Raise ValueError if the kernel needs rows of unit norm and a row of X has another norm.

        The message names the first such row and its norm.
        """
        if not self.unit_norm:
            return
        xp, norms = namespace(X), squared_norms(X) ** 0.5
        if xp.any(xp.abs(norms - 1) > UNIT_NORM_TOLERANCE):
            norms = to_numpy(norms)
            wrong = np.flatnonzero(np.abs(norms - 1) > UNIT_NORM_TOLERANCE)
            raise ValueError(
                f"{self!r} needs rows of unit norm, but row {wrong[0]} has norm {norms[wrong[0]]:.6g} "
                f"({wrong.size} of {len(norms)} rows have a norm other than 1). Divide each row by its norm "
                "first, for example with sklearn.preprocessing.normalize."
            )


class RadialKernel(Kernel):
    """Base class of the kernels that depend on the Euclidean distance alone.

    k(x, y) = at_distance(||x - y||); the function ``at_distance`` is called the kernel's profile.
    """

    is_radial: ClassVar[bool] = True
    is_rotation_invariant: ClassVar[bool] = True
    is_stationary: ClassVar[bool] = True

    @abstractmethod
    def at_distance(self, z: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the non-negative distances z, in the shape of z."""

    def _matrix(self, X: Rows, Y: Rows | None) -> NDArray[np.floating]:
        kernel, factors = self.by_column(X.shape[1])
        return kernel.at_distance(euclidean_distances(X, Y, factors))


class DotProductKernel(Kernel):
    """Base class of the kernels that depend on the inner product alone.

    k(x, y) = at_product(<x, y>) = sum_N a_N <x, y>^N, a sum of finitely many terms.
    """

    is_dot_product: ClassVar[bool] = True
    is_rotation_invariant: ClassVar[bool] = True

    @property
    def polynomial_degree(self) -> int:
        """The degree of the kernel as a polynomial in the rows."""
        return len(self.maclaurin()) - 1

    @abstractmethod
    def at_product(self, t: ArrayLike) -> NDArray[np.floating]:
        """Return the kernel at the inner products t, in the shape of t."""

    @abstractmethod
    def maclaurin(self) -> NDArray[np.floating]:
        """Return the coefficients a_0, ..., a_p of the Maclaurin series, shape (p + 1,)."""

    def diagonal(self, X: Rows) -> Array:
        """Return k(x, x) for the rows of X (n, d), shape (n,)."""
        return self.at_product(squared_norms(X))

    def _matrix(self, X: Rows, Y: Rows | None) -> NDArray[np.floating]:
        other = X if Y is None else Y
        is_numpy = namespace(X) is np
        return self.at_product(safe_sparse_dot(X, other.T, dense_output=True) if is_numpy else X @ other.T)


def radial(kernel: Kernel) -> RadialKernel:
    """Return a kernel that says that it is radial as one."""
    assert kernel.is_radial, kernel
    return cast(RadialKernel, kernel)


def check_finite(owner: object, values: Array, *sources: Rows, squared: Array | None = None) -> None:
    """Raise ValueError if values are not finite; the sums of their squares, if they are known, spare a pass.

    The message names their type and the largest absolute value in their sources.
    """
    xp = namespace(values)
    with np.errstate(all="ignore"):
        if squared is None:
            squared = np.vdot(values, values) if xp is np else values
        total = xp.sum(squared)
    if xp.isfinite(total) or xp.all(xp.isfinite(values)):
        return
    largest = max(map(largest_size, sources))
    wider = ", pass them as float64," if is_single(values) else ""
    raise ValueError(
        f"{owner!r} computed NaN or infinity in {values.dtype} from numbers as large as {largest:.3g}. "
        f"Scale the rows{wider} or change the parameters of the kernel."
    )

"""Kernels with a width: a number, the name of a rule that finds one for the rows, or a number for each column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils import check_array

from rflib.kernels.base import Kernel
from rflib.kernels.sparse_rows import Rows, times_columns

Rule = Literal["scale", "median"]
Width = float | Rule | Sequence[float] | NDArray[np.floating]

_MEDIAN_ROWS = 1000
_RESOLUTION = 1e-7  # Distances this small beside the entries are rounding errors.


class KernelWithWidth(Kernel):
    """A kernel with a width, in the units of the rows; in some kernels the parameter is one over the width.

    The parameter, such as ``sigma`` of `Gaussian`, is one of

    - a number above 0;
    - "scale" or "median", rules by which `fit` of a map or learner finds the number for its training rows X (n, d)
      and has it in its ``kernel_``. "scale" is sqrt(d var(X) / 2) with the variance of all entries, for a Gaussian
      the same as ``gamma="scale"`` in scikit-learn's RBFSampler and SVC. "median" is the median of the distances
      between the rows, of which at most 1,000 are used, drawn with a fixed seed. For the 1-norm (`Laplacian`),
      "scale" is sqrt(d) times as large, as those distances are. If all rows are equal, the widths are
      sqrt(1/2) and 1;
    - two numbers or more, one for each column (automatic relevance determination): the kernel of width 1 of rows
      whose columns are divided by these widths.

    Attributes
    ----------
    width_parameter : str
        Name of the parameter.
    is_inverse : bool
        Whether the parameter is one over the width.
    one_norm : bool
        Whether the kernel's distance is the 1-norm, not the Euclidean one.
    """

    width_parameter: ClassVar[str]
    is_inverse: ClassVar[bool] = False
    one_norm: ClassVar[bool] = False

    @property
    def _width(self) -> float | Rule | tuple[float, ...]:
        width: float | Rule | tuple[float, ...] = getattr(self, self.width_parameter)
        return width

    @property
    def is_for_rows(self) -> bool:
        """Whether the width is a number or several, not a rule."""
        return not isinstance(self._width, str)

    @property
    def single_width(self) -> float:
        """The parameter `width_parameter`.

        Raises
        ------
        ValueError
            If it is a rule, or there is a width for each column.
        """
        width = self._width
        if isinstance(width, str):
            raise ValueError(
                f"{self!r} has no number for {self.width_parameter} before it is given rows: `fit` of a map or "
                f"learner finds it, and has the kernel with the number as kernel_. To use the kernel alone, take "
                "kernel.for_rows(X) with the training rows X in its place."
            )
        if isinstance(width, tuple):
            raise ValueError(
                f"{self!r} has a width for each column, and no single one: kernel.isotropic(X) gives a kernel "
                "with one width and the rows with their columns divided by the widths."
            )
        return width

    def for_rows(self, X: ArrayLike) -> Self:
        """Return a copy in which a rule for the width is replaced by the number for the rows X (n, d).

        Raises
        ------
        ValueError
            If there is a rule, and X is not a finite matrix.
        """
        if not isinstance(self._width, str):
            return super().for_rows(X)
        rows = check_array(X, dtype=np.float64, accept_sparse="csr")
        width = RULES[self._width](rows, self.one_norm)
        return self.with_width(1 / width if self.is_inverse else width)

    def with_width(self, width: Any) -> Self:
        """Return a copy with another value of `width_parameter`."""
        return type(self)(**self.get_params() | {self.width_parameter: width})

    def isotropic(self, X: Rows) -> tuple[Kernel, Rows]:
        """Return a kernel of one width, and the rows at which it has this kernel's values at X (n, d).

        They are this kernel and X, or, where there is a width for each column, the kernel of width 1 and X divided
        by the widths.

        Raises
        ------
        ValueError
            If the width is a rule, or there are not as many widths as columns.
        """
        width = self._width
        if not isinstance(width, tuple):
            _ = self.single_width  # refuses a rule
            return self, X
        if len(width) != X.shape[1]:
            raise ValueError(
                f"{self!r} has {len(width)} widths, one for each column, but the rows have {X.shape[1]} columns."
            )
        factors = np.array(width) if self.is_inverse else 1 / np.array(width)
        return self.with_width(1.0), times_columns(X, factors).astype(X.dtype, copy=False)

    def _check_width(self) -> None:
        """Raise ValueError unless the width is as the class says; several become a tuple."""
        width: Any = self._width
        if _is_width(width) or (isinstance(width, str) and width in RULES):
            return
        several = isinstance(width, list | tuple) or (isinstance(width, np.ndarray) and width.ndim == 1)
        if several and len(width) > 1 and all(map(_is_width, width)):
            object.__setattr__(self, self.width_parameter, tuple(float(number) for number in width))
            return
        raise ValueError(
            f"{type(self).__name__}: {self.width_parameter} must be a number above 0, got {width!r}. "
            f"It may also be {' or '.join(map(repr, RULES))}, or two or more numbers, one for each column."
        )


def _is_width(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value) and float(value) > 0


def scale(X: Rows, one_norm: bool) -> float:
    """Return sqrt(d var(X) / 2); times sqrt(d) for the 1-norm."""
    d = X.shape[1]
    variance = X.multiply(X).mean() - X.mean() ** 2 if issparse(X) else X.var()
    width = np.sqrt(d * variance / 2) if variance > 0 else np.sqrt(0.5)
    return float(width * np.sqrt(d) if one_norm else width)


def median(X: Rows, one_norm: bool) -> float:
    """Return the median distance between rows; between different rows, if half of the pairs or more are equal."""
    if X.shape[0] > _MEDIAN_ROWS:
        X = X[np.sort(np.random.default_rng(0).permutation(X.shape[0])[:_MEDIAN_ROWS])]
    if not issparse(X):
        X = X - X.mean(axis=0)
    distances = (manhattan_distances if one_norm else euclidean_distances)(X)
    distances = distances[np.triu_indices(len(distances), 1)]
    different = distances[distances > _RESOLUTION * abs(X).max()]
    if not different.size:
        return 1.0
    return float(np.median(distances if 2 * different.size > distances.size else different))


RULES: dict[Rule, Callable[[Rows, bool], float]] = {"scale": scale, "median": median}

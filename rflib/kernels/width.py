"""Kernels with a width: a number, a rule that finds the number from the rows, or one number for each column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.utils import check_array

from rflib.kernels.base import Kernel
from rflib.kernels.distances import euclidean_distances
from rflib.kernels.namespaces import is_foreign, to_numpy
from rflib.kernels.sparse_rows import Rows, largest_size
from rflib.keywords import sigma_of

Rule = Literal["scale", "median"]
Width = float | Rule | Sequence[float] | NDArray[np.floating]

# Words for the width of a kernel, here and in other libraries.
_WIDTHS = (
    *("sigma", "length_scale", "lengthscale", "lengthscales", "bandwidth", "width"),
    *("ell", "l", "ls", "h"),
)
_MEDIAN_ROWS = 1000


class KernelWithWidth(Kernel):
    """Base class of the kernels with a width, which is in the units of the inputs.

    The parameter that sets the width, such as ``sigma`` of `Gaussian`, is one of

    - a number above 0;
    - "scale" or "median". These are rules by which `fit` of a map or a learner finds the number from its training
      rows X (n, d) and stores it in ``kernel_``. "scale" is sqrt(d var(X) / 2), with the variance over all
      entries; for a Gaussian it is the same as ``gamma="scale"`` in scikit-learn's RBFSampler and SVC. "median" is
      the median distance between the rows; of more than 1,000 rows, 1,000 that are drawn with a fixed seed are
      used. For the 1-norm (`Laplacian`), "scale" is sqrt(d) times as large, because 1-norm distances are. If all
      entries are equal, "scale" is sqrt(1/2); if all rows are equal, "median" is 1;
    - a sequence of two or more numbers above 0, one for each input column (automatic relevance determination). The
      kernel is then the one of width 1 on rows whose columns are divided by these widths.

    Attributes
    ----------
    width_parameter : str
        Name of the parameter.
    is_inverse : bool
        Whether the parameter is the inverse of the width.
    one_norm : bool
        Whether distances are measured by the 1-norm instead of the Euclidean norm.
    """

    is_stationary: ClassVar[bool] = True
    width_parameter: ClassVar[str]
    is_inverse: ClassVar[bool] = False
    one_norm: ClassVar[bool] = False

    @classmethod
    def _called_here(cls, name: str, value: object) -> str | None:
        ours = cls.width_parameter
        if name == "gamma":
            return f"gamma = 1 / (2 {ours}^2), so that this is {cls.__name__}({ours}={sigma_of(value)})."
        if name == "ard_num_dims":
            return (
                f"A width for each column is a sequence of widths: {cls.__name__}({ours}=[1.0] * {value!r})."
            )
        if name not in _WIDTHS:
            return None
        if cls.is_inverse:
            number = f"{1 / cast(float, value):.6g}" if _is_width(value) else f"1 / {name}"
            return f"Here it is {ours}, the inverse of the width: {cls.__name__}({ours}={number})."
        return f"Here it is {ours}: {cls.__name__}({ours}={value!r})."

    @property
    def _width(self) -> float | Rule | tuple[float, ...]:
        width: float | Rule | tuple[float, ...] = getattr(self, self.width_parameter)
        return width

    @property
    def is_for_rows(self) -> bool:
        """Whether the width is a number or a sequence of numbers, and not a rule."""
        return not isinstance(self._width, str)

    @property
    def single_width(self) -> float:
        """The value of the parameter `width_parameter`, if it is a single number.

        Raises
        ------
        ValueError
            If it is a rule or a sequence.
        """
        width = self._width
        if isinstance(width, str):
            raise ValueError(
                f"{self!r} has no number for {self.width_parameter} before it is given rows. `fit` of a map or a "
                "learner finds the number and stores the kernel with it as kernel_. To use the kernel alone, "
                "replace it by kernel.for_rows(X), where X are the training rows."
            )
        if isinstance(width, tuple):
            raise ValueError(
                f"{self!r} has one width for each column instead of a single one. kernel.isotropic(X) returns a "
                "kernel with one width, and the rows with their columns divided by the widths."
            )
        return width

    def for_rows(self, X: ArrayLike, weights: NDArray | None = None) -> Self:
        """Return a copy in which a rule for the width is replaced by the number that it finds from X (n, d).

        Rows on a device are copied from it. "scale" counts a dense row as often as its weight (n,) says.

        Raises
        ------
        ValueError
            If the width is a rule and X is not a finite matrix, or the number is not finite or above 0.
        """
        if not isinstance(self._width, str):
            return super().for_rows(X)
        if is_foreign(X):
            X = to_numpy(X)
        rows = check_array(X, dtype=np.float64, accept_sparse="csr")
        with np.errstate(over="ignore"):
            width = RULES[self._width](rows, self.one_norm, weights)
        value = 1 / width if self.is_inverse and width else width
        if not _is_width(value):
            raise ValueError(
                f"{self!r} finds {self.width_parameter} = {value:.3g} from rows with entries as large as "
                f"{largest_size(rows):.3g}, but it must be a number above 0. Scale the rows, or give a number."
            )
        return self.with_width(value)

    def with_width(self, width: Any) -> Self:
        """Return a copy with another value of `width_parameter`."""
        return type(self)(**self.get_params() | {self.width_parameter: width})

    def by_column(self, n_columns: int) -> tuple[Self, NDArray[np.float64] | None]:
        """Return a kernel of one width, and factors of the columns with which it has the values of this one.

        These are the kernel itself and None. If there is one width for each column, they are the kernel of width 1
        and the inverses of the widths.

        Raises
        ------
        ValueError
            If the width is a rule, or if the number of widths is not that of the columns.
        """
        width = self._width
        if not isinstance(width, tuple):
            _ = self.single_width  # refuses a rule
            return self, None
        if len(width) != n_columns:
            raise ValueError(
                f"{self!r} has {len(width)} widths, one for each column, but the rows have {n_columns} columns."
            )
        return self.with_width(1.0), np.array(width) if self.is_inverse else 1 / np.array(width)

    def _check_width(self) -> None:
        """Raise ValueError unless the width is one that the class allows; make a sequence of widths a tuple."""
        width: Any = self._width
        if _is_width(width) or (isinstance(width, str) and width in RULES):
            return
        several = isinstance(width, list | tuple) or (isinstance(width, np.ndarray) and width.ndim == 1)
        if several and len(width) > 1 and all(map(_is_width, width)):
            object.__setattr__(self, self.width_parameter, tuple(float(number) for number in width))
            return
        raise ValueError(
            f"{type(self).__name__}: {self.width_parameter} must be a number above 0, got {width!r}. "
            f"It may also be {' or '.join(map(repr, RULES))}, or a sequence of two or more numbers, one for each "
            "input column."
        )


def _is_width(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value) and float(value) > 0


def scale(X: Rows, one_norm: bool, weights: NDArray | None = None) -> float:
    """Return sqrt(d var(X) / 2), or sqrt(1/2) if all entries are equal, multiplied by sqrt(d) for the 1-norm."""
    d, size = X.shape[1], largest_size(X)
    unit = 2.0 ** np.floor(np.log2(size or 1.0))  # so that squares do not overflow
    entries = (X.data if issparse(X) else X.ravel()) / unit
    rows = np.ones(X.shape[0]) if weights is None else weights
    shares = np.repeat(rows, np.diff(X.indptr) if issparse(X) else d) / (d * rows.sum())
    zeros = 1 - shares.sum() if issparse(X) else 0.0
    # The mean is rounded: rows far from zero are centred before their variance is computed.
    centre = shares @ entries
    entries = entries - centre
    rest = shares @ entries - zeros * centre
    variance = shares @ (entries - rest) ** 2 + zeros * (centre + rest) ** 2
    width = unit * np.sqrt(d * variance / 2) if X.min() < X.max() else np.sqrt(0.5)
    return float(width * np.sqrt(d) if one_norm else width)


def median(X: Rows, one_norm: bool, weights: NDArray | None = None) -> float:
    """Return the median distance between rows; if at least half of the pairs are equal, leave equal pairs out."""
    if X.shape[0] > _MEDIAN_ROWS:
        X = X[np.sort(np.random.default_rng(0).permutation(X.shape[0])[:_MEDIAN_ROWS])]
    distances = (manhattan_distances if one_norm else euclidean_distances)(X)
    distances = distances[np.triu_indices(len(distances), 1)]
    different = distances[distances > 0]
    if not different.size:
        return 1.0
    return float(np.median(distances if 2 * different.size > distances.size else different))


RULES: dict[Rule, Callable[[Rows, bool, NDArray | None], float]] = {"scale": scale, "median": median}

"""LeverageRFF and SurrogateLeverageRFF: frequencies that are resampled by scores on the training rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve
from scipy.sparse import csr_array
from sklearn.utils.validation import check_X_y

from rflib.frequencies.draw import Frequencies, sample_frequencies
from rflib.kernels.base import Kernel
from rflib.kernels.sparse_rows import Rows
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import without_positive_measure
from rflib.maps.parameters import with_parameters
from rflib.maps.row_blocks import row_blocks
from rflib.maps.waves import Waves
from rflib.measures.base import Sampling
from rflib.validation import check_choice, check_integer, check_number

Variant = Literal["resampled", "reference"]
Task = Literal["auto", "classification", "regression"]
VARIANTS, TASKS = get_args(Variant), get_args(Task)
_BLOCK_ELEMENTS = 1 << 23


@with_parameters
class ScoredFourierFeatures(FourierFeatures):
    """Base class of Fourier features whose frequencies are resampled by scores, as in `LeverageRFF`."""

    pool: int | None = None
    variant: Variant = "resampled"

    measure = "exact"
    radii = "iid"
    layout = "cos_sin"
    unsupported = staticmethod(without_positive_measure)
    _needs_rows = True

    @abstractmethod
    def _scores(self, blocks: Iterator[NDArray], n: int, y: ArrayLike | None) -> NDArray[np.float64]:
        """Return the score of each column of the pool's features, which are given in blocks of the n rows."""

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self._check_parameters()
        check_choice(self, "variant", VARIANTS)
        s = self._n_frequencies()
        check_integer(self, "pool", at_least=s, or_none=True)
        size = s if self.pool is None else self.pool
        if self.variant == "reference" and (size > s or self.n_components % 2):
            raise ValueError(
                f"{type(self).__name__}: variant='reference' does not resample, so it needs an even n_components "
                f"and pool=None, got n_components={self.n_components}, pool={self.pool}."
            )
        self._construct(kernel, X, Sampling(size, self.directions, self.radii))
        pool = sample_frequencies(self.measure_, size, directions=self.directions, radii=self.radii, rng=rng)
        scores = self._scores(_feature_blocks(X, pool), X.shape[0], y)
        if self.variant == "resampled":
            q = shares(scores[:size] + scores[size:])
            chosen = rng.choice(size, size=s, p=q)
            weights = pool.weights[chosen] / (q[chosen] * s)
            self._keep_frequencies(Frequencies(pool.vectors[chosen], weights), rng)
        else:
            inverse = 1 / np.maximum(shares(scores), np.finfo(float).eps)
            order = np.argsort(inverse, kind="stable")
            vectors = np.tile(pool.vectors, (2, 1))[order]
            # sin(t) = cos(t - pi/2)
            self._keep(Waves(vectors, inverse[order] / (2 * s), 0, np.repeat([0.0, -np.pi / 2], s)))


def are_labels(y: NDArray) -> bool:
    """Return whether targets look like class labels.

    Strings, booleans and targets with two distinct values do. So do integers if the number of distinct values is
    at most half the number of rows. Other floats do not, even if all of them are whole numbers.
    """
    n_distinct, kind = len(np.unique(y)), y.dtype.kind
    return n_distinct == 2 or kind in "bOSUT" or (kind in "iu" and n_distinct <= max(1, len(y) / 2))


def _feature_blocks(X: Rows, pool: Frequencies) -> Iterator[NDArray]:
    """Yield the cosines and then the sines of all frequencies over the root of their number, by blocks of rows."""
    size = len(pool.vectors)
    columns = Waves(pool.vectors, np.full(size, 1 / size), size)
    for part in row_blocks(X.shape[0], max(1, _BLOCK_ELEMENTS // size)):
        block = np.empty((part.stop - part.start, 2 * size), X.dtype)
        columns.fill(X[part], block)
        yield block.astype(np.float64, copy=False)


@with_parameters
class LeverageRFF(ScoredFourierFeatures):
    """Approximate a positive definite kernel with frequencies resampled by their ridge leverage scores.

    A pool of l frequencies is drawn, and s = n_components / 2 of them are drawn again with probabilities q in
    proportion to their scores on the training rows. They have the weights (1/l) / (q s) (equation 9 of liu2020),
    so that the estimate is unbiased. The score of a frequency is the sum of those of its cosine and its sine:
    diag(G (G + n ridge I)^-1) with G = Z^T Z for the features Z of the pool.

    Parameters
    ----------
    kernel, n_components, directions, random_state
        As for `FourierFeatures`, whose attributes it has, too. The kernel must be positive definite, and the
        directions are those of the pool, all but "distance" and "frame".
    pool : int or None, default=None
        Number l of frequencies that are scored, at least s. None means s, as in the experiments of liu2020.
    ridge : float, default=1e-3
        Regularisation lambda of the scores, above 0.
    variant : {"resampled", "reference"}, default="resampled"
        "resampled" is the algorithm as printed. "reference" is what the authors' code does, which does not
        resample. Its cosines and sines have probabilities q of their own over all 2s columns, which are multiplied
        by sqrt(1/q) in addition to 1/sqrt(s) and sorted by this factor; the first s columns are used as cosines
        and the others as sines. The result does not estimate the kernel: its scale is about 2s times too large,
        which in ridge regression acts like a weaker ridge.

    See Also
    --------
    SurrogateLeverageRFF : Scores that use the targets.
    RFF : Frequencies that are not scored.

    References
    ----------
    - Li, Ton, Oglic, Sejdinovic: Towards a unified analysis of random Fourier features, ICML 2019.
    - Liu, Huang, Chen, Yang, Suykens: Random Fourier features via fast surrogate leverage weighted sampling, AAAI
      2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import LeverageRFF
    >>> X = load_iris().data
    >>> LeverageRFF(Gaussian("median"), 64, pool=128, random_state=0).fit_transform(X).shape
    (150, 64)
    """

    ridge: float = 1e-3

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_number(self, "ridge", above=0)
        super()._draw(kernel, X, y, rng)

    def _scores(self, blocks: Iterator[NDArray], n: int, y: ArrayLike | None) -> NDArray[np.float64]:
        gram = sum((Z.T @ Z for Z in blocks), start=np.zeros(()))
        solved = solve(gram + n * self.ridge * np.eye(len(gram)), gram, assume_a="pos")
        return np.maximum(solved.diagonal(), 0)


@with_parameters
class SurrogateLeverageRFF(ScoredFourierFeatures):
    """Approximate a positive definite kernel with frequencies resampled by scores that use the targets.

    This is the SLS-RFF of liu2020: the frequencies are resampled as in `LeverageRFF`, but by the surrogate
    leverage scores, which cost less to compute. That of a column z of the pool is the sum of (y^T z)^2 over the
    targets y (equation 15). ``fit`` needs y.

    Parameters
    ----------
    kernel, n_components, pool, variant, directions, random_state
        As for `LeverageRFF`.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the targets are class labels or numbers. "auto" treats these as labels: strings, booleans, targets
        with two distinct values, and integers whose number of distinct values is at most half the number of rows.
        All other targets are numbers. Set the task if integers are counts or amounts, or if floats are the labels
        of three or more classes.

    See Also
    --------
    LeverageRFF : Scores that do not use the targets.

    Notes
    -----
    Two class labels become the targets -1 and +1 in equation 15, as printed. With more classes, each class has a
    target that is +1 for its rows and -1 for all others, and the scores are summed over the classes. Targets that
    are numbers are centred.

    References
    ----------
    Liu, Huang, Chen, Yang, Suykens: Random Fourier features via fast surrogate leverage weighted sampling, AAAI
    2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rflib.kernels import Gaussian
    >>> from rflib.maps import SurrogateLeverageRFF
    >>> X, y = load_iris(return_X_y=True)
    >>> SurrogateLeverageRFF(Gaussian("median"), 64, pool=128, random_state=0).fit_transform(X, y).shape
    (150, 64)
    """

    task: Task = "auto"

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_choice(self, "task", TASKS)
        if y is None:
            raise ValueError(
                "SurrogateLeverageRFF requires y to be passed, but the target y is None. It needs the targets to "
                "score the frequencies."
            )
        super()._draw(kernel, X, check_X_y(X, y, accept_sparse=True)[1], rng)

    def _scores(self, blocks: Iterator[NDArray], n: int, y: ArrayLike | None) -> NDArray[np.float64]:
        targets = np.asarray(y)
        labels = are_labels(targets) if self.task == "auto" else self.task == "classification"
        if not labels and targets.dtype.kind not in "biuf":
            raise ValueError(
                f"SurrogateLeverageRFF: task='regression' needs targets that are numbers, got {targets.dtype}."
            )
        if labels:
            columns = csr_array((np.ones(n), np.unique(targets, return_inverse=True)[1], np.arange(n + 1)))
        else:
            columns = (targets - targets.mean())[:, None]
        moments, used = np.zeros(()), 0
        for Z in blocks:
            moments = moments + (columns[used : used + len(Z)].T @ Z).T
            used += len(Z)
        if labels:  # the sum over the rows of a class, less that over all others
            moments = 2 * moments - moments.sum(axis=1, keepdims=True)
            moments = moments[:, -1:] if moments.shape[1] == 2 else moments
        return np.asarray((moments**2).sum(axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores divided by their sum."""
    total = scores.sum()
    if not (np.isfinite(total) and total > 0):
        raise ValueError(
            "No frequency has a positive score: are all targets zero, or all of them equal, or are all rows "
            "equal? Check y and X."
        )
    return scores / total

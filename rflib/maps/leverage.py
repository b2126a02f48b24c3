"""LeverageRFF and SurrogateLeverageRFF: frequencies that are resampled by scores on the training rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_X_y

from rflib.frequencies.draw import Frequencies, sample_frequencies
from rflib.frequencies.weighting import leverage_scores, resample, shares, surrogate_scores
from rflib.kernels.base import Kernel
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import Seed
from rflib.maps.cosine_features import cosine_features
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import without_positive_measure
from rflib.maps.parameters import with_parameters
from rflib.maps.row_blocks import row_blocks
from rflib.maps.waves import Waves
from rflib.measures.base import Sampling
from rflib.validation import check_choice, check_flag, check_integer, check_number

VARIANTS = ("resampled", "reference")
TASKS = ("auto", "classification", "regression")
_BLOCK_ELEMENTS = 1 << 23


class ScoredFourierFeatures(FourierFeatures):
    """Base class of Fourier features whose frequencies have scores on the training rows.

    A pool of l frequencies is drawn and each is scored. The score of a frequency is the sum of the scores of its
    two columns, the cosine and the sine.

    With the variant "resampled", which is the algorithm as printed in liu2020, s = n_components / 2 frequencies
    are drawn from the pool with probabilities q proportional to the scores. They have the weights (1/l) / (q s)
    (equation 9 of liu2020), so that the estimate is unbiased.

    The variant "reference" is what the authors' code does. It does not resample: l is s. Cosines and sines have
    probabilities q of their own, over all 2s columns. The columns are multiplied by sqrt(1/q) in addition to
    1/sqrt(s), and sorted by this factor; the first s columns are used as cosines and the others as sines. The
    result does not estimate the kernel: its scale is about 2s times too large, which in ridge regression acts like
    a weaker ridge.
    """

    measure = "exact"
    radii = "iid"
    layout = "cos_sin"
    unsupported = staticmethod(without_positive_measure)
    _needs_rows = True

    pool: int | None
    variant: str

    @abstractmethod
    def _scores(
        self, blocks: Iterator[NDArray[np.float64]], n: int, targets: Targets | None
    ) -> NDArray[np.float64]:
        """Return the score of each column of the pool's features, which are given in blocks of the n rows."""

    def _targets(self, y: ArrayLike | None) -> Targets | None:
        """Return the targets in the form in which the scores use them, or None if they do not."""
        return None

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self._check_parameters()
        s = self._n_frequencies()
        size = self._pool_size(s)
        self._construct(kernel, X, Sampling(size, self.directions, self.radii))
        pool = sample_frequencies(self.measure_, size, directions=self.directions, radii=self.radii, rng=rng)
        targets = self._targets(y)
        width = max(size, targets.n_columns if targets else 0)
        scores = self._scores(_feature_blocks(X, pool, max(1, _BLOCK_ELEMENTS // width)), X.shape[0], targets)
        if self.variant == "resampled":
            self._keep_frequencies(resample(pool, scores[:size] + scores[size:], s, rng), rng)
        else:
            self._keep_reference(pool, scores)

    def _pool_size(self, s: int) -> int:
        check_choice(self, "variant", VARIANTS)
        check_integer(self, "pool", at_least=s, or_none=True)
        size = s if self.pool is None else self.pool
        if self.variant == "reference" and (size > s or self.n_components % 2):
            raise ValueError(
                f"{type(self).__name__}: variant='reference' does not resample, so it needs an even n_components "
                f"and pool=None, got n_components={self.n_components}, pool={self.pool}."
            )
        return size

    def _keep_reference(self, pool: Frequencies, scores: NDArray[np.float64]) -> None:
        """Keep s cosines and s sines, each with a frequency and a weight."""
        s = len(pool.weights)
        inverse = 1 / np.maximum(shares(scores), np.finfo(float).eps)
        order = np.argsort(inverse, kind="stable")
        frequencies, weights = np.tile(pool.vectors, (2, 1))[order], inverse[order] / s
        # sin(t) = cos(t - pi/2)
        self._keep(Waves(frequencies, weights / 2, 0, np.repeat([0, -np.pi / 2], s)))


class Targets:
    """Targets as columns of numbers.

    A column holds +1 for the rows of a class and -1 for all other rows; two classes have a single column. Targets
    that are numbers have one column, which is centred.
    """

    def __init__(self, y: NDArray, *, labels: bool) -> None:
        self._told_from_rest: NDArray | None = None
        self._values: NDArray
        if labels:
            classes, self._values = np.unique(y, return_inverse=True)
            self._told_from_rest = np.arange(len(classes))[-1 if len(classes) <= 2 else 0 :]
        else:
            self._values = (y - y.mean()).astype(np.float64)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return 1 if self._told_from_rest is None else len(self._told_from_rest)

    def columns(self, rows: slice) -> NDArray[np.float64]:
        """Return the columns for a slice of the rows, shape (n_rows, n_columns)."""
        values = self._values[rows, None]
        return values if self._told_from_rest is None else np.where(values == self._told_from_rest, 1.0, -1.0)


def are_labels(y: NDArray) -> bool:
    """Return whether targets look like class labels.

    Strings, booleans and targets with two distinct values do. So do integers if the number of distinct values is
    at most half the number of rows. Other floats do not, even if all of them are whole numbers.
    """
    n_distinct = len(np.unique(y))
    return (
        n_distinct == 2
        or y.dtype.kind in "bOSUT"
        or (y.dtype.kind in "iu" and n_distinct <= max(1, len(y) / 2))
    )


def _feature_blocks(X: Rows, pool: Frequencies, rows: int) -> Iterator[NDArray[np.float64]]:
    """Yield the cosines and then the sines of all frequencies over the root of their number, by blocks of rows."""
    size = len(pool.vectors)
    amplitudes = np.full(size, np.sqrt(1 / size))
    for part in row_blocks(X.shape[0], rows):
        block = cosine_features(X[part], pool.vectors, np.zeros(size), amplitudes, n_pairs=size)
        yield block.astype(np.float64, copy=False)


@with_parameters
class LeverageRFF(ScoredFourierFeatures):
    """Approximate a positive definite kernel with frequencies resampled by their ridge leverage scores.

    A pool of l frequencies is drawn. From it, s = n_components / 2 frequencies are drawn with probabilities
    proportional to their ridge leverage scores on the training rows, and weighted so that the estimate is
    unbiased. This is the leverage-RFF of liu2020 (equation 9).

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Positive definite kernel to approximate; None means Gaussian("scale").
    n_components : int, default=100
        Number of columns D = 2s.
    pool : int or None, default=None
        Number l of frequencies that are scored, at least s. None means s, as in the experiments of liu2020.
    ridge : float, default=1e-3
        Regularisation lambda of the scores, above 0.
    variant : {"resampled", "reference"}, default="resampled"
        "resampled" is the algorithm as printed. "reference" is what the authors' code does, which does not
        resample and does not estimate the kernel: its columns are divided by
        the roots of their probabilities and sorted by this factor.
    directions : {"iid", "orthogonal", "halton", "sobol"}, default="iid"
        How the directions of the pool are drawn; see `rflib.frequencies.directions`.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the random draws. An integer gives the same features on every machine.

    Attributes
    ----------
    frequencies_, weights_, phases_, measure_, centre_, radius_
        As for `FourierFeatures`.

    References
    ----------
    - Li, Ton, Oglic, Sejdinovic: Towards a unified analysis of random Fourier features, ICML 2019.
    - Liu, Huang, Chen, Yang, Suykens: Random Fourier features via fast surrogate leverage weighted sampling, AAAI
      2020.
    """

    kernel: KernelLike = None
    n_components: int = 100
    _: KW_ONLY
    pool: int | None = None
    ridge: float = 1e-3
    variant: str = "resampled"
    directions: str = "iid"
    random_state: Seed = None

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_number(self, "ridge", above=0)
        super()._draw(kernel, X, y, rng)

    def _scores(
        self, blocks: Iterator[NDArray[np.float64]], n: int, targets: Targets | None
    ) -> NDArray[np.float64]:
        return leverage_scores(sum((Z.T @ Z for Z in blocks), start=np.zeros(())), n, self.ridge)


@with_parameters
class SurrogateLeverageRFF(ScoredFourierFeatures):
    """Approximate a positive definite kernel with frequencies resampled by scores that use the targets.

    This is the SLS-RFF of liu2020: the frequencies are resampled as in `LeverageRFF`, but by the surrogate
    leverage scores of equation 15, which cost less to compute. ``fit`` needs y.

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Positive definite kernel to approximate; None means Gaussian("scale").
    n_components : int, default=100
        Number of columns D.
    pool : int or None, default=None
        Number l of frequencies that are scored, at least s = n_components / 2. None means s, as in the experiments
        of liu2020.
    add_n : bool, default=False
        Whether the scores contain the term n I of equation 12, which equation 15 leaves out.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the targets are class labels or numbers. "auto" treats these as labels: strings, booleans, targets
        with two distinct values, and integers whose number of distinct values is at most half the number of rows.
        All other targets are numbers. Set the task if integers are counts or amounts, or if floats are the labels
        of three or more classes.
    variant : {"resampled", "reference"}, default="resampled"
        "resampled" is the algorithm as printed, "reference" what the authors' code does; see `LeverageRFF`.
    directions : {"iid", "orthogonal", "halton", "sobol"}, default="iid"
        How the directions of the pool are drawn; see `rflib.frequencies.directions`.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the random draws. An integer gives the same features on every machine.

    Attributes
    ----------
    frequencies_, weights_, phases_, measure_, centre_, radius_
        As for `FourierFeatures`.

    Notes
    -----
    Two class labels become the targets -1 and +1 in equation 15, as printed. With more classes, each class has a
    target that is +1 for its rows and -1 for all others, and the scores are summed over the classes. Targets that
    are numbers are centred.

    References
    ----------
    Liu, Huang, Chen, Yang, Suykens: Random Fourier features via fast surrogate leverage weighted sampling, AAAI
    2020.
    """

    kernel: KernelLike = None
    n_components: int = 100
    _: KW_ONLY
    pool: int | None = None
    add_n: bool = False
    task: str = "auto"
    variant: str = "resampled"
    directions: str = "iid"
    random_state: Seed = None

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_flag(self, "add_n")
        check_choice(self, "task", TASKS)
        if y is None:
            raise ValueError(
                "SurrogateLeverageRFF requires y to be passed, but the target y is None. It needs the targets to "
                "score the frequencies."
            )
        super()._draw(kernel, X, check_X_y(X, y, accept_sparse=True)[1], rng)

    def _targets(self, y: ArrayLike | None) -> Targets:
        targets = np.asarray(y)
        labels = are_labels(targets) if self.task == "auto" else self.task == "classification"
        if not labels and targets.dtype.kind not in "biuf":
            raise ValueError(
                f"SurrogateLeverageRFF: task='regression' needs targets that are numbers, got {targets.dtype}."
            )
        return Targets(targets, labels=labels)

    def _scores(
        self, blocks: Iterator[NDArray[np.float64]], n: int, targets: Targets | None
    ) -> NDArray[np.float64]:
        assert targets is not None
        moments = squares = np.zeros(())
        used = 0
        for Z in blocks:
            moments = moments + Z.T @ targets.columns(slice(used, used + len(Z)))
            squares = squares + np.einsum("ij,ij->j", Z, Z)
            used += len(Z)
        return surrogate_scores(moments, squares, n, add_n=self.add_n)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

"""LeverageRFF and SurrogateLeverageRFF: frequencies resampled by scores that look at the data (liu2020)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_X_y

from rflib.frequencies.draw import Frequencies, sample_frequencies
from rflib.frequencies.weighting import leverage_scores, resample, shares, surrogate_scores
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows
from rflib.maps.base import Seed
from rflib.maps.cosine_features import cosine_features
from rflib.maps.fourier import FourierFeatures
from rflib.maps.kernel_requirements import without_positive_measure
from rflib.maps.row_blocks import row_blocks
from rflib.measures.base import Sampling
from rflib.validation import check_choice, check_flag, check_integer, check_number

VARIANTS = ("resampled", "reference")
TASKS = ("auto", "classification", "regression")
_BLOCK_ELEMENTS = 1 << 23


class ScoredFourierFeatures(FourierFeatures):
    """Fourier features whose frequencies are weighed by a score of their columns on the training rows.

    A pool of l frequencies is drawn, and scored; a frequency's score is the sum of its cosine's and its sine's.

    variant "resampled" (as printed): n_components / 2 frequencies are drawn from the pool with probabilities q
    proportional to the scores, with weights (1/l) / (q s) (eq. 9). Unbiased.

    variant "reference" (as in the authors' procedure): no resampling; scores of cosine and sine apart, q over
    all 2s columns; columns multiplied by sqrt(1/q) on top of 1/sqrt(s), sorted by that weight, the first s
    used as cosines and the rest as sines. Not an estimate of the kernel: its scale is about 2s times too large,
    which in ridge regression acts as a weaker ridge.
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
        """Return the score of each column of the pool's features, which come in blocks of the n rows."""

    def _targets(self, y: ArrayLike | None) -> Targets | None:
        """Return what the scores need of the targets."""
        return None

    def _draw(self, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        s = self._n_frequencies()
        size = self._pool_size(s)
        self._construct(X, Sampling(size, self.directions, self.radii))
        pool = sample_frequencies(self.measure_, size, directions=self.directions, radii=self.radii, rng=rng)
        targets = self._targets(y)
        width = max(size, targets.n_columns if targets else 0)
        scores = self._scores(_feature_blocks(X, pool, max(1, _BLOCK_ELEMENTS // width)), X.shape[0], targets)
        if self.variant == "resampled":
            self._keep(resample(pool, scores[:size] + scores[size:], s, rng), rng)
        else:
            self._keep_reference(pool, scores)
        self._keep_exact(np.zeros(X.shape[1]), ())

    def _pool_size(self, s: int) -> int:
        check_choice(self, "variant", VARIANTS)
        check_integer(self, "pool", at_least=s, or_none=True)
        size = s if self.pool is None else self.pool
        if self.variant == "reference" and (size > s or self.n_components % 2):
            raise ValueError(
                f"{type(self).__name__}: the variant 'reference' needs an even n_components and no pool (it does "
                f"not resample), got n_components={self.n_components}, pool={self.pool}."
            )
        return size

    def _keep_reference(self, pool: Frequencies, scores: NDArray[np.float64]) -> None:
        """Keep 2s single columns: frequency, phase 0 or -pi/2, and weight."""
        s = len(pool.weights)
        inverse = 1 / np.maximum(shares(scores), np.finfo(float).eps)
        order = np.argsort(inverse, kind="stable")
        self.frequencies_ = np.tile(pool.vectors, (2, 1))[order]
        self.weights_ = inverse[order] / s
        self.phases_ = np.repeat([0.0, -np.pi / 2], s)
        self.signature_ = np.ones(2 * s)

    def _columns(self, X: Rows) -> NDArray[np.floating]:
        if self.variant == "resampled":
            return super()._columns(X)
        return cosine_features(X, self.frequencies_, self.phases_, np.sqrt(self.weights_), n_pairs=0)


class Targets:
    """Targets as columns: ±1 for a class against the rest (two classes have one column), or centred numbers."""

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
        """Number of columns."""
        return 1 if self._told_from_rest is None else len(self._told_from_rest)

    def columns(self, rows: slice) -> NDArray[np.float64]:
        """Return the columns of some rows, shape (n_rows, n_columns)."""
        values = self._values[rows, None]
        return values if self._told_from_rest is None else np.where(values == self._told_from_rest, 1.0, -1.0)


def are_labels(y: NDArray) -> bool:
    """Whether targets look like class labels.

    Strings, booleans and two distinct values of any type do; so do integers with no more distinct values than half
    the rows. Other floats do not, even if all are whole numbers.
    """
    n_distinct = len(np.unique(y))
    return (
        n_distinct == 2
        or y.dtype.kind in "bOSUT"
        or (y.dtype.kind in "iu" and n_distinct <= max(1, len(y) / 2))
    )


def _feature_blocks(X: Rows, pool: Frequencies, rows: int) -> Iterator[NDArray[np.float64]]:
    """Cosines, then sines, of all frequencies over the root of their number, for blocks of rows."""
    size = len(pool.vectors)
    amplitudes = np.full(size, np.sqrt(1 / size))
    for part in row_blocks(X.shape[0], rows):
        block = cosine_features(X[part], pool.vectors, np.zeros(size), amplitudes, n_pairs=size)
        yield block.astype(np.float64, copy=False)


class LeverageRFF(ScoredFourierFeatures):
    """Fourier features resampled by their ridge leverage scores (Li et al. 2019; liu2020's leverage-RFF).

    Parameters
    ----------
    kernel : Kernel, callable or None
        Positive definite kernel; None is Gaussian(sigma=1).
    n_components : int
        Number of columns D = 2s.
    pool : int or None
        Number l of frequencies that are scored, at least s; None is s, as in liu2020's experiments.
    ridge : float
        Regularisation lambda of the scores.
    variant : {"resampled", "reference"}
        As printed, or as in the authors' procedure; see `ScoredFourierFeatures`.
    directions : {"iid", "orthogonal", "halton", "sobol"}
        Directions of the pool.
    random_state : int, Generator, SeedSequence, RandomState or None
        Seed.
    """

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        pool: int | None = None,
        ridge: float = 1e-3,
        variant: str = "resampled",
        directions: str = "iid",
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.pool = pool
        self.ridge = ridge
        self.variant = variant
        self.directions = directions
        self.random_state = random_state

    def _draw(self, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_number(self, "ridge", above=0)
        super()._draw(X, y, rng)

    def _scores(
        self, blocks: Iterator[NDArray[np.float64]], n: int, targets: Targets | None
    ) -> NDArray[np.float64]:
        return leverage_scores(sum((Z.T @ Z for Z in blocks), start=np.zeros(())), n, self.ridge)


class SurrogateLeverageRFF(ScoredFourierFeatures):
    """Fourier features resampled by surrogate leverage scores (liu2020: SLS-RFF), which need the targets.

    Parameters
    ----------
    kernel, n_components, pool, variant, directions, random_state
        As for `LeverageRFF`.
    add_n : bool
        Whether the scores have the term n I of eq. 12; eq. 15 leaves it out.
    task : {"auto", "classification", "regression"}
        Whether the targets are class labels or numbers. "auto" takes for labels: strings, booleans, two distinct
        values of any type, and integers with no more distinct values than half the rows. All other targets are
        numbers. Set it where integers are counts or amounts, or floats are labels of three or more classes.

    Notes
    -----
    Two class labels are taken as -1 and +1 in eq. 15, as printed; of several classes each is told from the rest
    by such a target, and their scores add up. Numbers are centred.
    """

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        pool: int | None = None,
        add_n: bool = False,
        task: str = "auto",
        variant: str = "resampled",
        directions: str = "iid",
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.pool = pool
        self.add_n = add_n
        self.task = task
        self.variant = variant
        self.directions = directions
        self.random_state = random_state

    def _draw(self, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        check_flag(self, "add_n")
        check_choice(self, "task", TASKS)
        if y is None:
            raise ValueError(
                "SurrogateLeverageRFF requires y to be passed, but the target y is None: it scores the "
                "frequencies by the targets."
            )
        super()._draw(X, check_X_y(X, y, accept_sparse=True)[1], rng)

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

    def __sklearn_tags__(self):  # type: ignore[no-untyped-def]
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

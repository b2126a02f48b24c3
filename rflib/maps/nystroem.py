"""Nystroem: the kernel's own columns at rows drawn at random, the usual alternative to random features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.radial_function import KernelLike
from rflib.maps.base import RandomFeatureMap, Seed

_RANK_TOLERANCE = 1e-12


class Nystroem(RandomFeatureMap):
    """Nystroem approximation of any kernel, definite or not: K_hat = C W^+ C^T with D landmark rows.

    With W = U diag(l) U^T the features are C U |l|^(-1/2) and the signature is the sign of l. For a positive
    definite kernel it equals scikit-learn's Nystroem with the same landmarks, up to a rotation of the columns.

    Parameters
    ----------
    kernel : Kernel, callable or None
        Any kernel; None is Gaussian(sigma=1).
    n_components : int
        Number of landmarks and columns D; with fewer training rows all of them are used, with a warning.
    random_state : int, Generator, SeedSequence, RandomState or None
        Seed.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_components_, n_features_in_)
        The rows that were drawn.
    normalization_ : ndarray of shape (n_components_, n_components_)
        U |l|^(-1/2); zero for eigenvalues that are zero to rounding.
    """

    _state: ClassVar[tuple[str, ...]] = ("landmarks_",)

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def _draw(self, X: NDArray, y: ArrayLike | None, rng: Generator) -> None:
        if self.n_components > len(X):
            warnings.warn(
                f"Nystroem: there are only {len(X)} rows for n_components = {self.n_components} landmarks; "
                f"n_components_ is {len(X)}.",
                stacklevel=3,
            )
        # In double precision also for single rows: small eigenvalues would blow up the rounding of the kernel.
        self.landmarks_ = X[rng.permutation(len(X))[: self.n_components]].astype(np.float64)
        self._normalise()

    def restore(self, state: Mapping[str, NDArray]) -> Self:
        """Become the fitted map that `state` was taken from; the normalisation is computed again."""
        super().restore(state)
        self._normalise()
        return self

    def _normalise(self) -> None:
        values, vectors = np.linalg.eigh(self.kernel_(self.landmarks_))
        size = np.abs(values)
        kept = size > _RANK_TOLERANCE * size.max()
        self.normalization_ = vectors * np.where(kept, 1 / np.sqrt(np.where(kept, size, 1)), 0)
        self.signature_ = np.where(values < 0, -1.0, 1.0)

    def _columns(self, X: NDArray) -> NDArray[np.floating]:
        return (self.kernel_(X, self.landmarks_) @ self.normalization_).astype(X.dtype, copy=False)
